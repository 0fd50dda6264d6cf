"""Kill workers of Ray at random moments while they prove a run: it ends, with the proofs of an undisturbed one.

Then the command line proves one by the same cluster.
`python tests/support/killed_workers.py KILLS SEED FOLDER NAME` prints what it saw as JSON; NAME is that of an example's
step. A process of its own: Ray starts threads.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from tensor_proofs import planned
from tensor_runs import Folder, run_of, values_of

from circuitize.api.runs.cluster import HERE, cluster
from circuitize.api.runs.spelling import PYTHON
from circuitize.circuits.saved import save
from circuitize.cli import main as cli
from circuitize.provers.tensor.runs.checking import check
from circuitize.provers.tensor.runs.dividing import prover_bytes
from circuitize.provers.tensor.runs.files import read_manifest

PROOFS, PER_PROOF = 13, 3
"""So many that the dataset gets a new root."""


def workers() -> Iterator[int]:
    """Processes that Ray started for this one, and that do a task now."""
    parents, names = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                names[int(entry.name)] = (entry / "cmdline").read_bytes().strip(b"\0")
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError, ValueError):
                continue  # It ended meanwhile.
    for found, name in names.items():
        above = found
        while above not in (os.getpid(), 0, 1):
            above = parents.get(above, 0)
        if above == os.getpid() and name.startswith(b"ray::") and b"prove_here" in name:
            yield found


class Killer(threading.Thread):
    """Ends one worker after another, until there were so many or it is told to stop."""

    def __init__(self, kills: int, random: np.random.Generator) -> None:
        super().__init__(daemon=True)
        self.left, self.random, self.stopped = kills, random, threading.Event()

    def run(self) -> None:
        while self.left and not self.stopped.wait(float(self.random.uniform(0.05, 0.6))):
            found = sorted(workers())
            if found:
                os.kill(found[int(self.random.integers(len(found)))], signal.SIGKILL)
                self.left -= 1


def contents(folder: Folder) -> dict[str, bytes]:
    return {str(path.relative_to(folder.path)): path.read_bytes() for path in folder.path.rglob("*") if path.is_file()}


def command_line(root: Path) -> Any:
    """What `prove-run --ray` prints of a run by the same cluster, which this process has joined."""
    save(planned("iris.py:step")[0], root / "step.arrow", examples=True)
    command = ["prove-run", root / "step.arrow", "--steps", "8", "--seed", "aa", "-o", root / "run", "--ray", "--json"]
    with redirect_stdout(StringIO()) as printed:
        assert cli([str(word) for word in command]) == 0
    return json.loads(printed.getvalue())


def main(kills: int, seed: int, root: Path, name: str) -> None:
    run = run_of(name, PROOFS * PER_PROOF, PER_PROOF)
    data = values_of(run, name)[1]
    secrets.token_bytes = lambda nbytes=None: bytes(range(nbytes or 32))
    here = Folder(root / "here")
    here.prove(run, name, data)
    expected, random = contents(here), np.random.default_rng(seed)
    left, runs, begun = kills, 0, time.perf_counter()
    said: list[str] = []
    with cluster(HERE, PYTHON) as machines:
        while left:
            apart, killer = Folder(root / f"apart {runs}"), Killer(left, random)
            killer.start()
            place = machines.place(run, data, prover_bytes(run), said.append, lambda _: None)
            apart.prove(run, name, data, place=place)
            killer.stopped.set()
            killer.join()
            left, runs = killer.left, runs + 1
            assert contents(apart) == expected
            check(run, apart.path, read_manifest(apart.path))
            shutil.rmtree(apart.path)
            apart.kept.unlink()
        reported = command_line(root)
    seconds = round(time.perf_counter() - begun, 1)
    print(
        json.dumps(
            {
                "kills": kills,
                "runs": runs,
                "renewals": run.renewals,
                "remarks": said,
                "seconds": seconds,
                "reported": reported,
            }
        )
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4])

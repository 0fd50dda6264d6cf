"""Kill a training between any two of its writes, again and again: what it leaves is what nothing interrupted leaves.

`python tests/support/killed_trainings.py KILLS SEED FOLDER` prints what it saw as JSON. A process of its own: an
attempt is a fork of it, which no thread may have been started in.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from pathlib import Path

import numpy as np
from killed_attempts import attempt
from trained_programs import data
from trained_programs import step as trained_step

from circuitize.api.training.train import train
from circuitize.provers.tensor.runs.state import State

STEPS, EVERY = 12, 3
PRIVATE = "run.kept.npz"
"""Drawn anew by each training: its secret."""


def left(folder: Path) -> dict[str, str]:
    """A hash of each file of a training but for its secret and what follows from that."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and name not in (PRIVATE, "training.json"):
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def main(kills: int, seed: int, work: Path) -> None:
    program, random = trained_step(), np.random.default_rng(seed)

    def go(folder: Path) -> None:
        train(program, folder, dataset=data(), seed="5eed", steps=STEPS, every=EVERY, executor="both")

    assert attempt(lambda: go(work / "whole"), None) == 0
    wanted = left(work / "whole")
    roots = {name: json.loads((work / "whole" / "training.json").read_text())[name] for name in ("roots", "final")}
    killed = resumed = 0
    folder = work / "killed"
    while killed < kills:
        for _ in range(int(random.integers(1, 4))):
            killed += attempt(lambda: go(folder), int(random.integers(0, 60))) != 0
            resumed += any(folder.glob("checkpoints-integer/*.safetensors"))
        secret = State.read(folder / PRIVATE).secret if (folder / PRIVATE).exists() else None
        assert attempt(lambda: go(folder), None) == 0
        assert left(folder) == wanted
        assert secret is None or State.read(folder / PRIVATE).secret == secret
        said = json.loads((folder / "training.json").read_text())
        assert said["steps"] == STEPS and said["roots"].keys() == roots["roots"].keys() == said["final"].keys()
        shutil.rmtree(folder)
    print(json.dumps({"kills": killed, "resumed": resumed}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))

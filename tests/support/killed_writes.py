"""Kill a prover of runs between any two of its writes, again and again: every proof that it ever wrote is one proof.

`python tests/support/killed_writes.py KILLS SEED FOLDER` prints what it saw as JSON. A process of its own: an attempt
is a fork of it, which no thread may have been started in.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
from killed_attempts import REFUSED, attempt
from tensor_proofs import planned
from tensor_runs import Folder, run_of, values_of

import circuitize
from circuitize.api.circuits import ProvableCircuit
from circuitize.backends.tensor.groups import DATA
from circuitize.provers.tensor.plan import OPENINGS
from circuitize.provers.tensor.runs import budget
from circuitize.provers.tensor.runs.continuing import earlier
from circuitize.provers.tensor.runs.files import FORMATS, StepProof, read_manifest
from circuitize.provers.tensor.runs.setting import Run


@dataclass
class Seen:
    """All that is ever found in the folders of runs."""

    files: dict[Path, bytes] = field(default_factory=dict)
    parts: list[tuple[Path, bytes]] = field(default_factory=list)

    def look(self, folder: Path) -> None:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                content = path.read_bytes()
                if path.suffix == ".part":
                    self.parts.append((path.parent / path.name[1:].rsplit(".", 2)[0], content))
                    path.unlink()
                else:
                    assert self.files.setdefault(path, content) == content, f"two contents of {path}"

    def settle(self) -> None:
        """What was written in part is a beginning of what was written in the end."""
        assert all(self.files[path].startswith(content) for path, content in self.parts)


def rate(step: int) -> dict[str, Fraction]:
    return {"learning_rate": Fraction(1, 8 + step)}


def other_rate(step: int) -> dict[str, Fraction]:
    return {"learning_rate": Fraction(1, 9 + step)}


def openings(folder: Folder, run: Run, counts: Counter[bytes], budgets: dict[bytes, int]) -> None:
    """Count by which proofs each root is opened, and what it is made for."""
    manifest = read_manifest(folder.path)
    current = dict(manifest.roots)
    for name, root in current.items():
        counts[root] += 1
        budgets.setdefault(root, run.openings if name == DATA else OPENINGS)
    assert (folder.path / FORMATS).exists()
    for step in run.beginnings:
        found: StepProof = folder.step(step)
        data = found.roots["input", DATA]
        if data != current[DATA]:
            counts[current[DATA]] += 1
            counts[data] += 1
            budgets[data] = run.made_for
            current[DATA] = data
        counts.update(found.roots.values())
        budgets.update({root: OPENINGS for (_, name), root in found.roots.items() if name != DATA})


def train(folder: Path, random: np.random.Generator, left: int, totals: Counter[str]) -> int:
    """A run, and one that follows it, each killed at its writes; how many kills are left."""
    seen = Seen()
    first, second = Folder(folder / "first" / "run"), Folder(folder / "second" / "run")
    runs = [run_of(steps=3, scalars=rate)]
    runs.append(run_of(steps=3, scalars=rate, first=4, begun=runs[0].made_for))
    for run in runs:
        run.require_plans()
    works: Mapping[str, Callable[[Run], object]] = {
        "first": lambda run: first.prove(run),
        "second": lambda run: second.prove(run, after=earlier(first.path, first.kept)),
    }
    for (name, work), run, own in zip(works.items(), runs, (first, second), strict=True):
        while True:
            if own.kept.exists() and random.random() < 0.2:
                changed = replace(run, scalars=other_rate)
                vars(changed).update({key: vars(run)[key] for key in ("_chunks", "formats_plan")})
                status = attempt(lambda work=work, changed=changed: work(changed), None)  # type: ignore[misc]
                assert os.waitstatus_to_exitcode(status) == REFUSED, "other scalars were not refused"
                totals["refused"] += 1
            if name == "second" and own.kept.exists() and random.random() < 0.1:
                shutil.rmtree(own.path, ignore_errors=True)
                own.kept.unlink()
                totals["begun again"] += 1
            dies = int(random.integers(0, 24)) if left > 0 else None
            status = attempt(lambda work=work, run=run: work(run), dies)  # type: ignore[misc]
            seen.look(own.path)
            if os.WIFSIGNALED(status):
                assert os.WTERMSIG(status) == signal.SIGKILL
                left -= 1
                totals["kills"] += 1
                continue
            assert os.waitstatus_to_exitcode(status) == 0, f"the {name} run ended with {status}"
            break
    seen.settle()
    counts: Counter[bytes] = Counter()
    budgets: dict[bytes, int] = {}
    for own, run in ((first, runs[0]), (second, runs[1])):
        openings(own, run, counts, budgets)
    assert all(count <= budgets[root] for root, count in counts.items())
    totals["runs"] += 2
    totals["renewals"] += runs[1].renewals
    totals["in part"] += len(seen.parts)
    return left


def join(folder: Path, circuit: ProvableCircuit, random: np.random.Generator, left: int, totals: Counter[str]) -> int:
    """One root joined until it may be opened no more, each attempt killed; how many kills are left."""
    kept, proofs = folder / "kept.openings", set[bytes]()

    def make() -> None:
        made = circuit.prove()
        made.save_openings(kept)
        made.save(folder / "0")

    assert os.waitstatus_to_exitcode(attempt(make, None)) == 0
    for number in range(1, 100):
        again = folder / str(number)
        dies = int(random.integers(0, 16))
        status = attempt(lambda again=again: circuit.prove(openings_from=kept).save(again), dies)  # type: ignore[misc]
        proofs |= {path.read_bytes() for path in folder.rglob("*proof.tensor*") if path.stat().st_size}
        if os.WIFSIGNALED(status):
            left -= 1
            totals["kills"] += 1
        elif os.waitstatus_to_exitcode(status) == REFUSED:
            break
    assert len(proofs) <= OPENINGS, f"{len(proofs)} proofs open one root"
    totals["joined"] += len(proofs) - 1
    return left


def main(kills: int, seed: int, folder: Path) -> None:
    budget.SHARING = 2
    random, left, totals = np.random.default_rng(seed), kills, Counter[str]()
    values_of(run_of())
    circuit = circuitize.compile(planned("iris.py:step")[0], circuitize.tensor_proof)
    assert circuit.sizes
    while left > 0:
        left = train(folder / str(left), random, left, totals)
        left = join(folder / f"joined {left}", circuit, random, left, totals)
    print(json.dumps(totals))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))

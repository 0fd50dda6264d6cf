"""Runs in zero knowledge that are attacked: the iris step, few proofs of which share a root of the dataset."""

from __future__ import annotations

import atexit
import hashlib
import itertools
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from tensor_proofs import planned
from tensor_runs import RATE, SEED, Folder, values_of

from circuitize.backends.tensor.groups import DATA, INPUT
from circuitize.circuits.files import write_whole
from circuitize.circuits.program import IntegerProgram
from circuitize.provers.tensor import proof as proof_files
from circuitize.provers.tensor.runs import budget, files, state
from circuitize.provers.tensor.runs.continuing import earlier
from circuitize.provers.tensor.runs.evaluation import TEST
from circuitize.provers.tensor.runs.files import FORMATS, read_manifest, renewal_path
from circuitize.provers.tensor.runs.proving import prove_run
from circuitize.provers.tensor.runs.setting import Run
from circuitize.provers.tensor.runs.state import kept_beside

STEPS, SIZE = 5, 24
SHARED = 2
"""So many proofs share one root of the dataset: it gets another before steps 3 and 5."""
IN_DATA = (INPUT, DATA)


def iris() -> IntegerProgram:
    return planned("iris.py:step")[0]


def run_of(steps: int = STEPS, kind: type[Run] = Run, **more: Any) -> Run:
    settled: dict[str, Any] = {"seed": SEED, "scalars": lambda step: {"learning_rate": RATE}, **more}
    return kind(settled.pop("program", iris()), SIZE, steps, **settled)


def proved(run: Run, folder: Folder, **more: Any) -> None:
    held, data = values_of(run)
    prove_run(run, held, data, folder.path, folder.kept, **more)


def after(folder: Folder, steps: int = 3, **more: Any) -> tuple[Run, Any]:
    """A run that goes on from the one in a folder, and what it goes on from."""
    found = earlier(folder.path, folder.kept)
    return run_of(steps, first=found.next, begun=found.openings(iris()), **more), found


def follow(folder: Folder, to: Folder, steps: int = 3, **more: Any) -> None:
    run, found = after(folder, steps, **more)
    prove_run(run, found, values_of(run)[1], to.path, to.kept)


@cache
def honest() -> Folder:
    """A run of five steps; do not change it."""
    path = Path(mkdtemp(prefix="circuitize-tests-"))
    atexit.register(shutil.rmtree, path)
    folder = Folder(path / "run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budget, "SHARING", SHARED)
        proved(run_of(), folder)
    return folder


def copied(to: Path) -> Folder:
    """The honest run at a place of its own, with what its prover keeps."""
    shutil.copy(honest().kept, kept_beside(to / "run"))
    return Folder(Path(shutil.copytree(honest().path, to / "run")))


class Killed(BaseException):
    """The process is gone: nothing is written, and nothing is removed, from here on."""


@contextmanager
def killed_after(writes: int) -> Iterator[None]:
    """Before the next write after so many. What a process of before left behind stays."""
    counted = itertools.count()
    dead = False
    real, unlink = write_whole, Path.unlink

    def write(*given: Any, **more: Any) -> None:
        nonlocal dead
        if dead or next(counted) == writes:
            dead = True
            raise Killed
        real(*given, **more)

    def remove(path: Path, missing_ok: bool = False) -> None:
        if dead:
            raise Killed
        unlink(path, missing_ok=missing_ok)

    with pytest.MonkeyPatch.context() as patch:
        for module in (files, state, proof_files):
            patch.setattr(module, "write_whole", write)
        patch.setattr(Path, "unlink", remove)
        yield


def kept_by(found: files.StepProof) -> dict[str, bytes]:
    """The roots of what is held that a proof opens."""
    return {name: root for (_, name), root in found.roots.items() if name != DATA}


class Reader:
    """Who keeps all proofs that were ever in a folder, by the roots that they open."""

    def __init__(self) -> None:
        self.opened: dict[tuple[str, bytes], set[str]] = defaultdict(set)
        self.seen: dict[Path, set[bytes]] = defaultdict(set)

    def look(self, *folders: Folder) -> None:
        for folder in folders:
            if not (folder.path / files.MANIFEST).exists():
                continue
            roots = read_manifest(folder.path).roots
            for path in folder.path.rglob("*.proof"):
                self.seen[path].add(path.read_bytes())
            self._note(folder.path / FORMATS, {name: root for name, root in roots.items() if name != TEST})
            data = roots[DATA]
            for path in sorted((folder.path / files.STEPS).glob("*.proof")):
                step = files.read_step(path)
                for (_, name), root in step.roots.items():
                    self.opened[name, root].add(hashlib.sha256(step.proof.messages).hexdigest())
                if step.roots[IN_DATA] != data:
                    renewal = renewal_path(folder.path, step.step)
                    self._note(renewal, {DATA: data})
                    self._note(renewal, {DATA: step.roots[IN_DATA]})
                    data = step.roots[IN_DATA]
            judged = folder.path / files.EVALUATION
            if judged.exists():
                self.seen[judged].add(judged.read_bytes())
                self._note(judged, {TEST: roots[TEST]} | kept_by(files.read_step(judged)))
            for path in (folder.path / files.RENEWALS).glob("*.proof"):
                # Of a step that is not proved yet.
                if not (folder.path / files.STEPS / path.name).exists():
                    self._note(path, {DATA: data})

    def _note(self, path: Path, roots: Mapping[str, bytes]) -> None:
        if path.exists():
            for name, root in roots.items():
                self.opened[name, root].add(hashlib.sha256(path.read_bytes()).hexdigest())

    def most(self) -> dict[str, int]:
        """The most proofs that open one root, by group."""
        found: dict[str, int] = defaultdict(int)
        for (name, _), proofs in self.opened.items():
            found[name] = max(found[name], len(proofs))
        return found

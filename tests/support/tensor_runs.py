"""Small runs for tests: the iris step on real data, proved once, copied to be changed."""

from __future__ import annotations

import atexit
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tensor_proofs import both, example_inputs, planned

from circuitize.backends.tensor.dataset import batch_ports, whole
from circuitize.backends.tensor.groups import INPUT, OUTPUT
from circuitize.circuits.scan import Told
from circuitize.circuits.values import raw, to_integers
from circuitize.frontends.datasets import Split, digits, iris
from circuitize.provers.tensor.runs.checking import Checked, Refused, check
from circuitize.provers.tensor.runs.chunk import BATCH
from circuitize.provers.tensor.runs.continuing import Earlier
from circuitize.provers.tensor.runs.files import MANIFEST, StepProof, read_manifest, read_step, step_path
from circuitize.provers.tensor.runs.proving import Proving, prove_run
from circuitize.provers.tensor.runs.setting import Run
from circuitize.provers.tensor.runs.state import kept_beside
from circuitize.sims import integer

STEPS = 6
SEED = bytes(range(32))
RATE = Fraction(1, 8)
PROOF = "the proof does not show it"
"""What is said of a step whose proof is refused, before the reason."""

IN, OUT = (INPUT, "parameters"), (OUTPUT, "parameters")


def run_of(
    name: str = "iris.py:step", steps: int = STEPS, per_proof: int = 1, kind: type[Run] = Run, **more: Any
) -> Run:
    settled = {"seed": SEED, "scalars": lambda step: {"learning_rate": RATE}, "told": Told.ALL, **more}
    run = kind(planned(name)[0], len(_split(name).train_inputs), steps, per_proof=per_proof, **settled)
    if 1 <= run.first <= run.last:
        vars(run).update(_plans(name, run.steps, per_proof, run.zero_knowledge, run.openings, run.told, run.first > 1))
    return run


@cache
def _plans(
    name: str, steps: int, per_proof: int, hides: bool, openings: int, told: Told, continued: bool
) -> dict[str, Any]:
    """The plans of a run follow from its program, the size of its dataset, its steps, and openings of roots."""
    program, size = planned(name)[0], len(_split(name).train_inputs)
    shape: dict[str, Any] = {"zero_knowledge": hides, "begun": openings, "told": told, "first": 1 + continued}
    run = Run(program, size, steps, SEED, lambda step: {}, per_proof, **shape)
    assert run.chunks and run.openings == openings
    return {"_chunks": {chunk.count: chunk for chunk in run.chunks}, "formats_plan": run.formats_plan}


@cache
def _split(name: str) -> Split:
    return iris(0) if name.startswith("iris") else digits(0)


def values_of(run: Run, name: str = "iris.py:step") -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """What is held at the beginning, and the dataset."""
    split = _split(name)
    given = {"inputs": split.train_inputs[: run.size], "targets": split.train_targets[: run.size]}
    data = {
        port.name: to_integers(whole(port, run.size), given[port.name], "data") for port in batch_ports(run.program)
    }
    inputs = example_inputs(run.program)
    return {port.name: inputs[port.name] for port in run.program.inputs if port.held}, data


@dataclass(frozen=True)
class Folder:
    """The files of a run, to be proved, read, changed, and judged by both verifiers, who agree."""

    path: Path

    @property
    def kept(self) -> Path:
        """What the prover alone keeps, so that it can go on."""
        return kept_beside(self.path)

    def prove(
        self,
        run: Run,
        name: str = "iris.py:step",
        data: Mapping[str, Any] | None = None,
        after: Earlier | None = None,
        **more: Any,
    ) -> Proving:
        held, usual = values_of(run, name)
        return prove_run(run, after or held, usual if data is None else data, self.path, self.kept, **more)

    def judged(self, run: Run | None = None) -> Checked:
        return check(run or run_of(), self.path, read_manifest(self.path), judge=both)

    def verdict(self, run: Run | None = None) -> str:
        """Why the run is refused."""
        try:
            self.judged(run)
        except Refused as error:
            assert "\n" not in str(error)
            return str(error)
        raise AssertionError("expected a refusal, found none")

    @property
    def roots(self) -> Mapping[str, bytes]:
        """What the manifest says that the run begins with."""
        return read_manifest(self.path).roots

    def restate(self, **changed: object) -> None:
        """Write the manifest with changes."""
        content = {**json.loads((self.path / MANIFEST).read_text()), **changed}
        (self.path / MANIFEST).write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")

    def step_path(self, step: int) -> Path:
        return step_path(self.path, step)

    def step(self, step: int) -> StepProof:
        return read_step(self.step_path(step))

    def put(self, at: int, found: StepProof, **changed: Any) -> None:
        """Write a step's file with changes, under the number of a step."""
        self.step_path(at).write_bytes(replace(found, **changed).encode())


@cache
def honest(which: str = "first") -> Folder:
    """A run of six steps in zero knowledge; do not change it. Others differ in the secrets of their commitments."""
    path = Path(mkdtemp(prefix="circuitize-tests-"))
    atexit.register(shutil.rmtree, path)
    folder = Folder(path / which)
    folder.prove(run_of())
    return folder


def copied(to: Path) -> Folder:
    return Folder(Path(shutil.copytree(honest().path, to / "run")))


def batches_of(run: Run, data: Mapping[str, Any], step: int) -> dict[str, Any]:
    """The inputs of one step that are not held."""
    one = replace(run, per_proof=1, steps=run.steps)
    (rows,) = one.rows(step)[BATCH]
    scalars = {name: values[0] for name, values in one.scalars_of(step).items()}
    return {name: np.ascontiguousarray(tensor[rows]) for name, tensor in data.items()} | scalars


def chunk_inputs(run: Run, held: Mapping[str, Any], data: Mapping[str, Any], step: int) -> dict[str, Any]:
    """All inputs of the program of the proof that begins at a step."""
    rows = run.rows(step)[BATCH]
    batches = {name: tensor[rows] for name, tensor in data.items()}
    return run.chunk(step).scan.inputs({**held, **run.scalars_of(step), **batches})


def trained(run: Run, name: str = "iris.py:step") -> tuple[dict[str, NDArray[np.int64]], list[int]]:
    """What the integer executor makes of the run: values held at the end, and losses."""
    held, data = values_of(run, name)
    values, losses = dict(held), []
    for step in range(1, run.steps + 1):
        made = integer.run(run.program, raw({**values, **batches_of(run, data, step)}))
        losses.append(int(made["loss"]))
        values = {key: made[key] for key in values}
    return values, losses


def interrupt_after(run: Run, folder: Folder, step: int, after: Earlier | None = None) -> None:
    def stop(done: int) -> None:
        if done == step:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        folder.prove(run, after=after, progress=stop)

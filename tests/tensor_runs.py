"""Small runs for tests: the iris step on real data, proved once, copied to be changed."""

from __future__ import annotations

import atexit
import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
from tensor_proofs import both, example_inputs, planned

from circuitize.circuits.program import to_integers
from circuitize.frontends.datasets import Split, digits, iris
from circuitize.provers.tensor.dataset import batch_ports, whole
from circuitize.provers.tensor.groups import INPUT, OUTPUT
from circuitize.provers.tensor.runs.checking import Checked, Refused, check
from circuitize.provers.tensor.runs.files import MANIFEST, StepProof, read_manifest, read_step, step_path
from circuitize.provers.tensor.runs.proving import Proving, prove_run
from circuitize.provers.tensor.runs.setting import Run

STEPS = 6
SEED = bytes(range(32))
RATE = Fraction(1, 8)
PROOF = "the proof does not show it"
"""What is said of a step whose proof is refused, before the reason."""

IN, OUT = (INPUT, "parameters"), (OUTPUT, "parameters")


def run_of(name: str = "iris.py:step", steps: int = STEPS, per_proof: int = 1, **more: Any) -> Run:
    program, _ = planned(name)
    settled = {"seed": SEED, "scalars": lambda step: {"learning_rate": RATE}, **more}
    return Run(program, len(_split(name).train_inputs), steps, per_proof=per_proof, **settled)


def _split(name: str) -> Split:
    return iris(0) if name.startswith("iris") else digits(0)


def values_of(run: Run, name: str = "iris.py:step") -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """What is held at the beginning, and the dataset."""
    split = _split(name)
    given = {"inputs": split.train_inputs, "targets": split.train_targets}
    data = {
        port.name: to_integers(whole(port, run.size), given[port.name], "data") for port in batch_ports(run.program)
    }
    inputs = example_inputs(run.program)
    return {port.name: inputs[port.name] for port in run.program.inputs if port.held}, data


def prove_into(folder: Path, run: Run, name: str = "iris.py:step", **changed: Any) -> Proving:
    held, data = values_of(run, name)
    return prove_run(run, {**held, **changed}, data, folder, folder.with_name(f"{folder.name}.kept.npz"))


@cache
def honest(which: str = "first") -> Path:
    """A folder with a run of six steps; do not change it. Others differ in the secrets of their commitments."""
    folder = Path(mkdtemp(prefix="circuitize-tests-"))
    atexit.register(shutil.rmtree, folder)
    prove_into(folder / which, run_of())
    return folder / which


def copied(to: Path, which: str = "first") -> Path:
    return Path(shutil.copytree(honest(which), to / "run"))


def verdict(folder: Path, run: Run | None = None) -> str:
    """Why a run is refused."""
    try:
        judged(folder, run)
    except Refused as error:
        assert "\n" not in str(error)
        return str(error)
    raise AssertionError("expected a refusal, found none")


def judged(folder: Path, run: Run | None = None) -> Checked:
    """The run of a folder, checked by both verifiers, who agree."""
    return check(run or run_of(), folder, read_manifest(folder), judge=both)


def step_of(folder: Path, step: int) -> StepProof:
    return read_step(step_path(folder, step))


def put(folder: Path, at: int, found: StepProof, **changed: Any) -> None:
    """Write a step's file with changes, under the number of a step."""
    step_path(folder, at).write_bytes(replace(found, **changed).encode())


def manifest_with(folder: Path, **changed: object) -> None:
    """Write a run's manifest with changes."""
    content = {**json.loads((folder / MANIFEST).read_text()), **changed}
    (folder / MANIFEST).write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")


def batches_of(run: Run, data: Mapping[str, Any], step: int) -> dict[str, Any]:
    """The inputs of one step that are not held."""
    one = replace(run, per_proof=1, steps=run.steps)
    rows = one.rows(step)["1"]
    return {name: np.ascontiguousarray(tensor[rows]) for name, tensor in data.items()} | one.scalars_of(step)

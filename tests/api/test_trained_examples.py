"""Examples trained as a user trains them: what they reach, killed again and again, and proved afterwards."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from example_modules import example
from faulty import drawn, machine

from circuitize.api.disputes.dispute import dispute
from circuitize.api.exact import Exact, exact
from circuitize.api.runs.proving import prove_run
from circuitize.api.runs.verifying import verify_run
from circuitize.api.training.chunks import Layout
from circuitize.api.training.train import train
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.phases import Phases
from circuitize.frontends.datasets import digits

pytestmark = [pytest.mark.deep, pytest.mark.slow]

SCRIPT = Path(__file__).resolve().parents[1] / "support" / "killed_examples.py"
SEED = b"\x5e\xed"


@cache
def step_of(file: str, name: str = "step") -> Exact:
    return exact(getattr(example(file), name)(), Phases())


@pytest.mark.parametrize(("file", "steps"), [("digits", 1780), ("cnn", 400), ("transformer", 400)])
def test_killed_twenty_times_at_any_moment(file: str, steps: int, tmp_path: Path) -> None:
    words: list[str | Path] = [sys.executable, SCRIPT, f"{file}.py:step", "RECIPE", str(steps), "20", "1", tmp_path]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["kills"] == 20 and found["files"] > 20


REACHED = {
    ("digits", "step", "evaluate"): (150, 0.94, 0.02),
    ("cnn", "step", "evaluate"): (20, 0.96, 0.02),
    ("transformer", "step", "evaluate"): (20, 0.94, 0.02),
    ("transformer", "spherical_step", "spherical_evaluate"): (20, 0.95, 0.02),
}
"""Epochs of the recipe; the accuracy on held-out digits that is reached at least; and how far float64 is from it."""


@pytest.mark.parametrize(("file", "name", "judge"), REACHED)
def test_held_out_digits_as_in_the_benchmarks(file: str, name: str, judge: str, tmp_path: Path) -> None:
    epochs, least, apart = REACHED[file, name, judge]
    module = example(file)
    more: dict[str, Any] = {"evaluate": getattr(module, judge)(), "schedule": module.RECIPE, "initial_seed": "00"}
    more["model"] = module.MODELS[name] if hasattr(module, "MODELS") else module.MODEL
    made = train(
        step_of(file, name), tmp_path / "t", seed=SEED, epochs=epochs, dataset=digits(0), executor="both", **more
    )
    assert made.last["accuracy"] >= least and abs(made.last["accuracy"] - made.last["accuracy_float64"]) <= apart


@pytest.mark.proof
@pytest.mark.parametrize(("file", "steps", "per_proof"), [("cnn", 128, 64), ("transformer", 32, 16)])
def test_a_run_proves_the_training_by_its_roots(file: str, steps: int, per_proof: int, tmp_path: Path) -> None:
    step = step_of(file)
    course: dict[str, Any] = {"seed": SEED, "steps": steps, "schedule": example(file).RECIPE}
    made = train(step, tmp_path / "t", dataset=digits(0), per_proof=per_proof, **course)
    taken: dict[str, Any] = {
        "dataset": made.folder / "data.npz",
        "inputs": made.folder / "initial.npz",
        "raw_inputs": True,
    }
    proved = prove_run(step.integer, made.folder / "run", per_proof=per_proof, **course, **taken)
    assert proved.roots == made.roots and made.final.items() <= proved.final.items()
    expected = {**made.roots, **{f"final.{name}": root for name, root in made.final.items()}}
    assert verify_run(step.integer, made.folder / "run", expect=expected, **course)


@pytest.mark.proof
@pytest.mark.parametrize("kind", ["operation", "input", "kept"])
@pytest.mark.parametrize("file", ["digits", "cnn", "transformer"])
def test_a_bit_that_changed_is_found(file: str, kind: str, tmp_path: Path) -> None:
    """Drawn until it changes what is held."""
    step, random = step_of(file), np.random.default_rng([5, *kind.encode()])
    given: dict[str, Any] = {"seed": SEED, "steps": 178, "dataset": digits(0), "schedule": example(file).RECIPE}
    train(step, tmp_path / "a", roots=False, **given)
    for attempt in range(20):
        folder, fault = tmp_path / str(attempt), drawn(kind, step.integer, 178, random)
        try:
            with machine(fault, step.integer):
                train(step, folder, roots=False, record=True, **given)
        except CircuitizeError:
            continue
        found = dispute(folder, tmp_path / "a")
        if not found:
            break
    part, place = Layout(step.integer).parts[fault.part], found.places["A"]
    assert (found.step, found.right) == (fault.step, ("B",)) and found.proof is not None
    assert (place.kind, place.port, place.edge, place.element) == (kind, part.name, part.edge, fault.element)
    assert place.claimed is not None and place.right is not None and place.claimed ^ place.right == 1 << fault.bit

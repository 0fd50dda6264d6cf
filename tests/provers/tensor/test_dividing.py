"""How many steps a proof has where nobody says: what limits them, and what a verifier believes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from example_programs import example
from scan_programs import reading_a_dataset
from tensor_runs import SEED

import circuitize as cz
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.scan import Told
from circuitize.provers.tensor import flow
from circuitize.provers.tensor.runs import dividing
from circuitize.provers.tensor.runs.dividing import (
    MOST_WEIGHTS,
    Limit,
    divided,
    is_heavy,
    is_heavy_to_judge,
    prover_bytes,
)
from circuitize.provers.tensor.runs.evaluation import Evaluation
from circuitize.provers.tensor.runs.setting import Run

PLENTY = 10**15


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights that are no product count as those that are kept one by one, of which programs have few."""
    monkeypatch.setattr(flow, "MOST_PRODUCTS", 1)


def of(name: str, steps: int, per_proof: int = 1) -> Run:
    """A run that no schedule is given for, on so many examples that a program's batch is among them."""
    step = example(name).integer if name else reading_a_dataset()
    return Run(step, 2000, steps, SEED, lambda _: {}, per_proof, stated=frozenset({"learning_rate"}), told=Told.NONE)


def test_few_steps_are_one_proof_if_memory_allows() -> None:
    run = of("iris.py:step", 7)
    made = divided(run, PLENTY)
    assert (made.per_proof, made.limit) == (7, Limit.STEPS)
    assert made.prover_bytes == prover_bytes(replace(run, per_proof=7))
    assert divided(of("iris.py:step", 1), 1).per_proof == 1


def test_memory_divides_them() -> None:
    run = of("iris.py:step", 60)
    least, most = (prover_bytes(replace(run, per_proof=each)) for each in (1, 60))
    made = divided(run, (least + most) // 2)
    assert made.limit is Limit.MEMORY and 1 < made.per_proof < 60
    assert made.prover_bytes <= (least + most) // 2
    # A power of two, since an axis is padded to one.
    assert made.per_proof.bit_count() == 1
    # One step is proved whatever it needs.
    assert (divided(run, 1).per_proof, divided(run, 1).limit) == (1, Limit.MEMORY)


@pytest.mark.usefixtures("one_by_one")
def test_weights_of_their_own_divide_them(monkeypatch: pytest.MonkeyPatch) -> None:
    run = of("", 32)
    assert divided(run, PLENTY).limit is Limit.STEPS
    monkeypatch.setattr(dividing, "MOST_WEIGHTS", 400)
    made = divided(run, PLENTY)
    assert made.limit is Limit.WEIGHTS and 1 < made.per_proof < 32
    assert not is_heavy(replace(run, per_proof=made.per_proof)) and is_heavy(replace(run, per_proof=32))
    # One step is proved however many it has; steps without such weights are not divided by them.
    monkeypatch.setattr(dividing, "MOST_WEIGHTS", 0)
    assert divided(of("", 2), PLENTY).per_proof == 1
    assert not is_heavy(of("iris.py:step", 7, 7))


@pytest.mark.usefixtures("one_by_one")
def test_an_end_that_is_judged_has_weights_too(monkeypatch: pytest.MonkeyPatch) -> None:
    model = cz.sequential(cz.image(4, 4), cz.conv2d(1, 2, 3), cz.flatten(), cz.dense(8, 3))
    batch = {"inputs": np.zeros((2, 16)), "targets": np.zeros((2, 3))}
    judge = cz.quantize(cz.evaluation(model, 2, examples=[{**model.initial(0), **batch}]))
    few, many = (replace(of("iris.py:step", 7), evaluation=Evaluation(judge, size)) for size in (2, 60))
    assert not is_heavy_to_judge(many)
    monkeypatch.setattr(dividing, "MOST_WEIGHTS", 400)
    assert is_heavy_to_judge(many) and not is_heavy_to_judge(few) and not is_heavy_to_judge(of("iris.py:step", 7))


@pytest.mark.usefixtures("one_by_one")
def test_many_weights_take_a_plan_no_longer() -> None:
    """What proofs of 1,024 steps send is counted without the weights: half a second in place of half a minute."""
    run = of("cnn.py:step", 1024, 1024)
    assert run.chunk(1).plan.claimed.dense > MOST_WEIGHTS and is_heavy(run)


@pytest.mark.usefixtures("one_by_one")
def test_a_verifier_believes_no_proofs_that_take_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, folder, random = reading_a_dataset(), tmp_path / "run", np.random.default_rng(3)
    given: dict[str, Any] = {"dataset": {"x": random.integers(-8, 8, (5, 3, 2))}, "inputs": {"w": np.full((3, 2), -8)}}
    cz.prove_run(program, folder, steps=2, seed=SEED, per_proof=2, **given)
    assert cz.verify_run(program, folder)
    monkeypatch.setattr(dividing, "MOST_WEIGHTS", 10)
    with pytest.raises(CircuitizeError, match="found a claim of 2, which takes long to check; give per_proof=2 if"):
        cz.verify_run(program, folder)
    assert cz.verify_run(program, folder, per_proof=2)

"""Steps of a training whose base is frozen: proofs that share its roots, joined by those of the adapters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import circuitize as cz
from circuitize.api.exact import Exact, exact
from circuitize.backends.tensor.groups import groups as groups_of
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.phases import Phases
from circuitize.frontends.training import with_examples
from circuitize.provers.tensor.runs.requirements import require_step

BATCH, STEPS = 2, 2
RATE = 2.0**-6
OPTIMIZERS = [pytest.param(cz.SGD(), id="SGD", marks=pytest.mark.deep), pytest.param(cz.Adam(), id="Adam")]
"""Adam chains what SGD does, and its moments."""


def step_of(optimizer: cz.SGD | cz.Adam) -> Exact:
    model = cz.lora(cz.sequential(cz.dense(4, 6), cz.relu(), cz.dense(6, 3)), 2)
    measures, given = cz.Format.between(0.0, 1.0, 8), np.random.default_rng(0).integers(0, 256, (BATCH, 4)) / 256
    precision = cz.Precision(margin=8.0)
    step = cz.training_step(model, cz.cross_entropy, optimizer, BATCH, inputs=measures, precision=precision)
    batch: dict[str, Any] = {"inputs": given, "targets": np.eye(3)[:BATCH]}
    example = {**cz.start(step, model, 0), **batch, **optimizer.values(1, RATE)}
    # At first `up` is zero, and so is the gradient of `down`: calibration sees adapters that have moved too.
    moved = {
        name: np.random.default_rng(1).normal(0.0, 0.1, np.shape(value)) if name.endswith(".up") else value
        for name, value in example.items()
    }
    return exact(with_examples(step, example, moved), Phases())


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_steps_of_adapters_are_chained_by_their_roots(optimizer: cz.SGD | cz.Adam, tmp_path: Path) -> None:
    """What a verifier expects of a step is what the step before gave; of the base, the roots that it accepted."""
    step = step_of(optimizer)
    weights = cz.commit_weights(step, tmp_path / "weights")
    circuit, accepted = weights.proving(step), cz.accept_weights(step, weights.folder)
    held, roots, earlier = dict(step.integer.examples[0]), dict[str, str](), None
    for number in range(1, STEPS + 1):
        groups = [one.name for one in groups_of(step.integer) if one.side == "output"]
        inputs = {**held, **optimizer.values(number, RATE)}
        proof = circuit.prove(inputs, openings_from=earlier, join=groups if earlier else ())
        verdict = cz.verifier(step, expect=roots, weights=accepted).check(proof)
        assert verdict.valid, verdict.reason
        earlier = tmp_path / f"{number}.json"
        proof.save_openings(earlier)
        held |= {name: values for name, values in proof.outputs.items() if name != "loss"}
        roots = {f"input:{name}": hex(proof.statement.roots["output", name]) for name in groups}
    again = circuit.prove()
    assert not cz.verifier(step, expect=roots, weights=accepted).check(again).valid


def test_a_run_takes_no_frozen_inputs() -> None:
    with pytest.raises(CircuitizeError, match=r"frozen apart.*one by one"):
        require_step(step_of(cz.SGD()).integer)

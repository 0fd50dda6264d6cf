"""Zero-knowledge tensor proofs are made by no plan, secret or values that would make them tell something."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tensor_proofs import example_inputs, planned

import circuitize as cz
from circuitize import _native
from circuitize.backends.tensor.frozen import MOST_OPENINGS
from circuitize.circuits.errors import CircuitizeError
from circuitize.provers.tensor.plan import plan
from circuitize.provers.tensor.prover import prove, prove_values
from circuitize.provers.tensor.roots import encoded

STEP = "iris.py:step"
SAME = bytes([7] * 32)


@pytest.mark.parametrize("openings", [0, -1, MOST_OPENINGS + 1, 1 << 60])
def test_a_root_is_for_a_number_of_openings_that_has_random_words(openings: int) -> None:
    program, made = planned(STEP)
    with pytest.raises(CircuitizeError, match="openings"):
        plan(program, openings=openings)
    if openings >= 0:
        with pytest.raises(ValueError, match="openings"):
            _ = replace(made, openings=(openings,) * len(made.groups)).native
        with pytest.raises(ValueError, match="openings"):
            _native.tensor_commit(8, [((4,), 0, np.arange(4))], SAME, encoded(made.lists[0], openings), openings)


def test_each_number_of_openings_has_roots_of_its_own() -> None:
    program, _ = planned(STEP)
    inputs = example_inputs(program)
    salts = {key: bytes([number] * 32) for number, key in enumerate(plan(program).groups)}
    made = [plan(program, openings=openings) for openings in (1, 4)] + [plan(program)]
    roots = [
        prove(program, inputs, made=one, salts=salts, not_zero_knowledge=not one.hidden).statement.roots for one in made
    ]
    assert all(len({own[key] for own in roots}) == 3 for key in roots[0])


def test_one_root_does_not_stand_twice_in_a_statement() -> None:
    """Parameters that do not change, under one secret: each query to one would open the other too."""
    program, _ = planned(STEP)
    inputs = {**example_inputs(program), "learning_rate": np.zeros((), np.int64)}
    made = plan(program, openings=4)
    keys = [key for key in made.groups if key[1] == "parameters"]
    with pytest.raises(CircuitizeError, match="two groups have one root"):
        prove(program, inputs, made=made, salts=dict.fromkeys(keys, SAME))
    assert prove(program, inputs, made=made).statement.roots.keys() == set(made.groups)


def test_no_proof_of_false_values_leaves_the_prover() -> None:
    program, _ = planned(STEP)
    made = plan(program, openings=4)
    trace = made.trace(example_inputs(program))
    for base, recipe in enumerate(base.recipe for base in made.bases):
        if recipe is None or made.bases[base].shape == ():
            continue
        values = [np.array(x) for x in made.values(trace)]
        if type(made.bases[base]).__name__ == "Column":
            values[base].reshape(-1)[0] += 1
            with pytest.raises(CircuitizeError, match="would tell of them"):
                prove_values(program, made, trace, values)


def test_openings_are_written_once(tmp_path: Path) -> None:
    program, _ = planned(STEP)
    circuit = cz.compile(program, cz.tensor_proof)
    proof = circuit.prove()
    proof.save_openings(tmp_path / "openings.json")
    with pytest.raises(CircuitizeError, match="save these openings once"):
        proof.save_openings(tmp_path / "again.json")
    assert not (tmp_path / "again.json").exists()
    plain = circuit.prove(not_zero_knowledge=True)
    for name in ("one", "two"):
        plain.save_openings(tmp_path / name)

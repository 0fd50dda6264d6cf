"""Training steps whose inputs are known to be in format, and what their proofs say without that knowledge."""

from __future__ import annotations

import numpy as np
import pytest
from tensor_forgery import answer
from tensor_proofs import entering, example_inputs, planned, refusals, refused

from circuitize.backends.tensor.groups import format_program, group, input_groups
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.port import Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.provers.tensor.plan import Plan, plan
from circuitize.provers.tensor.prover import prove

STEP = "iris.py:step"
KEPT = frozenset({"parameters", "data"})


@pytest.fixture(scope="module")
def assuming() -> tuple[IntegerProgram, Plan]:
    program, _ = planned(STEP)
    return program, plan(program, assumed=KEPT)


def test_the_groups_of_a_step_follow_from_roles() -> None:
    program, _ = planned(STEP)
    assert input_groups(program) == ("parameters", "data")
    assert {group(port) for port in program.outputs if port.visibility is Visibility.COMMITTED} == {"parameters"}
    line = refused(lambda: plan(program, assumed={"optimizer"}))
    assert "'optimizer'" in line and "parameters" in line
    with pytest.raises(CircuitizeError, match="data"):
        format_program(program, {"dta"})


def test_a_step_may_assume_what_another_proof_shows(assuming: tuple[IntegerProgram, Plan]) -> None:
    """One proof shows that the roots are in format, the other assumes it: fewer lookups, the same roots and outputs."""
    program, made = assuming
    inputs = example_inputs(program)
    formats = format_program(program, KEPT)
    shown = plan(formats)
    first = prove(formats, {name: inputs[name] for name in shown.inputs}, not_zero_knowledge=True, made=shown)
    assert refusals(formats, first.statement, first.proof, shown) == (None, None)
    second = prove(program, inputs, not_zero_knowledge=True, made=made, salts=first.secrets)
    known = entering(first.statement)
    assert refusals(program, second.statement, second.proof, made, trusted=known) == (None, None)
    for wrong in ({}, {"data": known["data"]}, {**known, "parameters": known["data"]}):
        assert "assumes" in str(refusals(program, second.statement, second.proof, made, trusted=wrong)[0])
    assert all(second.statement.roots[key] == root for key, root in first.statement.roots.items())
    _, whole = planned(STEP)
    assert made.looked_up < whole.looked_up and made.committed < whole.committed


def test_a_proof_that_assumes_is_no_proof_without(assuming: tuple[IntegerProgram, Plan]) -> None:
    program, made = assuming
    found = prove(program, example_inputs(program), not_zero_knowledge=True, made=made)
    _, whole = planned(STEP)
    assert all(refusals(program, found.statement, found.proof, whole))
    other = plan(program, assumed={"parameters"})
    assert all(refusals(program, found.statement, found.proof, other, trusted=entering(found.statement)))
    assert len({made.digest, whole.digest, other.digest}) == 3


def test_a_value_outside_of_its_format_is_found_by_the_proof_of_formats(assuming: tuple[IntegerProgram, Plan]) -> None:
    """A pixel one past its format: the step that assumes formats has a proof, the formats have none."""
    program, made = assuming
    inputs = example_inputs(program)
    format = next(port.format for port in program.inputs if port.name == "inputs")
    assert format is not None
    inputs["inputs"] = np.array(inputs["inputs"])
    inputs["inputs"].reshape(-1)[0] = format.high + 1
    assert answer(program, made, made.trace(inputs)) is None
    formats = format_program(program, KEPT)
    shown = plan(formats)
    assert answer(formats, shown, shown.trace({name: inputs[name] for name in shown.inputs}))
    _, whole = planned(STEP)
    assert answer(program, whole, whole.trace(inputs))

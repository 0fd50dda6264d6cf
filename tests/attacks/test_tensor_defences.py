"""Each range and equation of a tensor proof is needed: without it a forgery passes, with it both verifiers refuse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from r1cs_programs import single
from tensor_forgery import answer, at_first, column, forged_trace, signed, to, without_lookup
from tensor_proofs import committed_inputs

from circuitize.backends.tensor.forms import PRIME
from circuitize.circuits import integers
from circuitize.circuits.port import Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.plan import Plan, plan

Integers = NDArray[np.int64]


def accepted_without(program: IntegerProgram, made: Plan, trace: object, values: list[Integers]) -> int:
    """In how many ways one lookup can be taken out so that the forgery passes; with all of them it does not."""
    assert answer(program, made, trace, values)  # type: ignore[arg-type]
    weak = [without_lookup(made, index) for index in range(len(made.lookups))]
    return sum(answer(program, one, trace, values) is None for one in weak)  # type: ignore[arg-type]


def test_without_the_range_of_the_remainder_quotients_are_free() -> None:
    program = committed_inputs(single(integers.Shift(4), Fixed((2,), 0, -128, 127)))
    made = plan(program)
    wire = made.arrow.rows[0][2][0]
    trace = forged_trace(made, {"in0": np.array([5, -7])}, wire, at_first(1))
    assert accepted_without(program, made, trace, made.values(trace)) == 1


def test_without_the_range_of_the_quotient_it_wraps_around() -> None:
    program = committed_inputs(single(integers.Shift(4), Fixed((2,), 0, -128, 127)))
    made = plan(program)
    trace = made.trace({"in0": np.array([5, -7])})
    values = made.values(trace)
    forged = at_first(-signed(pow(16, -1, PRIME)))(trace[made.arrow.rows[0][2][0]])
    q = column(made, "integer.shift")
    changed = [forged if i == q else v for i, v in enumerate(values)]
    assert answer(program, made, trace, changed)
    free = replace(program, outputs=tuple(replace(p, visibility=Visibility.COMMITTED) for p in program.outputs))
    made = plan(free, 4)
    q = column(made, "integer.shift")
    values = made.values(trace)
    changed = [forged if i == q else v for i, v in enumerate(values)]
    assert accepted_without(free, made, trace, changed) == 1


def test_without_the_range_of_the_distance_signs_are_free() -> None:
    program = committed_inputs(single(integers.ReLU(), Fixed((2,), 0, -128, 127)))
    made = plan(program, 7)
    honest = made.trace({"in0": np.array([5, -7])})
    sign = column(made, "sign")
    flipped = np.array([1, 1])
    product = next(i for i, base in enumerate(made.bases) if type(base).__name__ == "Product")
    source = np.array([5, -7])
    wire = made.arrow.rows[0][2][0]
    trace = [source * (1 - flipped) if i == wire else v for i, v in enumerate(honest)]
    changed = made.values(trace)
    changed[sign], changed[product] = flipped, (1 - flipped) * source
    assert accepted_without(program, made, trace, changed) == 1


def test_without_the_range_of_the_sign_it_is_no_bit() -> None:
    """x - 2 s x - s = d has a solution s = (x - d) / (2 x + 1) for every distance d."""
    program = committed_inputs(single(integers.ReLU(), Fixed((1,), 0, -128, 127)))
    hidden = replace(program, outputs=tuple(replace(p, visibility=Visibility.COMMITTED) for p in program.outputs))
    made = plan(hidden, 7)
    honest = made.trace({"in0": np.array([5])})
    s = (5 - 7) * pow(11, -1, PRIME) % PRIME
    wire = made.arrow.rows[0][2][0]
    trace = [np.array([signed(5 - 5 * s)]) if i == wire else v for i, v in enumerate(honest)]
    changed = made.values(trace)
    changed[column(made, "sign")] = np.array([signed(s)])
    changed[next(i for i, b in enumerate(made.bases) if type(b).__name__ == "Product")] = np.array([signed(5 - 5 * s)])
    assert accepted_without(hidden, made, trace, changed) == 1


def test_without_the_equation_outputs_are_free() -> None:
    program = committed_inputs(single(integers.Add(), Fixed((2,), 0, 0, 15), Fixed((2,), 0, 0, 15)))
    made = plan(program)
    trace = list(made.trace({"in0": np.array([1, 2]), "in1": np.array([3, 4])}))
    trace[made.arrow.rows[0][2][0]] = np.array([9, 9])
    assert answer(program, made, trace)
    assert answer(program, replace(made, zeros=()), trace) is None


def test_without_the_format_proof_inputs_are_free() -> None:
    program = committed_inputs(single(integers.Add(), Fixed((2,), 0, 0, 15), Fixed((2,), 0, 0, 15)))
    made = plan(program)
    trace = made.trace({"in0": np.array([16, 2]), "in1": np.array([3, 4])})
    assert accepted_without(program, made, trace, made.values(trace)) == 1


@pytest.mark.parametrize("value", [-1, 16])
def test_without_the_formats_of_the_statement_public_inputs_are_free(value: int) -> None:
    """What is public is looked up nowhere: whoever verifies reads it."""
    sources = Fixed((2,), 0, 0, 15), Fixed((2,), 0, 0, 15)
    program = committed_inputs(single(integers.Add(), *sources)).with_visibility(in0=Visibility.PUBLIC)
    made = plan(program)
    trace = made.trace({"in0": np.array([value, 2]), "in1": np.array([3, 4])})
    assert answer(program, made, trace) == "expected input in0 in [0, 15], found a value outside"


def test_division_has_one_quotient() -> None:
    program = committed_inputs(single(integers.Divide(), Fixed((2,), 0, -128, 127), Fixed((2,), 0, 1, 9)))
    made = plan(program)
    inputs = {"in0": np.array([17, -17]), "in1": np.array([5, 5])}
    for amount in (1, -1, -signed(pow(5, -1, PRIME))):
        assert answer(program, made, forged_trace(made, inputs, made.arrow.rows[0][2][0], at_first(amount)))


def test_the_lowest_index_wins_a_tie() -> None:
    program = committed_inputs(single(integers.ArgMaxOneHot(0), Fixed((4,), 0, -3, 3)))
    made = plan(program)
    inputs = {"in0": np.array([1, 3, 3, 0])}
    wire = made.arrow.outputs.tolist()[0]
    for choice in ([0, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0]):
        assert answer(program, made, forged_trace(made, inputs, wire, to(np.array(choice))))

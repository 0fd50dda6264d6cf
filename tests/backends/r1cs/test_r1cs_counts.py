"""Constraint counts that are promised, and estimates against what is emitted."""

from __future__ import annotations

import numpy as np
import pytest
from r1cs_programs import chain, program, single

from circuitize.backends.r1cs.checker import failing_rows
from circuitize.backends.r1cs.cost import estimate
from circuitize.backends.r1cs.emit import emit
from circuitize.backends.r1cs.witness import random_salts, witness
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.operation import Provenance
from circuitize.circuits.port import Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed, signed
from circuitize.sims import integer


def dense(inputs: int, outputs: int) -> IntegerProgram:
    """A dense layer with ReLU: 16-bit inputs and weights, shift by 8, quotient checked to be of 16 bits."""
    builder = Builder()
    builder.provenance = Provenance("dense")
    formats = [signed((1, inputs), 16, 8), signed((inputs, outputs), 16, 8), signed((1, outputs), 32, 16)]
    x, weights, bias = builder.inputs(formats)
    sums = builder.add(integers.Add(), builder.add(integers.Contract("bi,ij->bj"), x, weights), bias)
    scaled = builder.add(integers.Check(-(1 << 15), (1 << 15) - 1), builder.add(integers.Shift(8), sums))
    return program(builder.build([builder.add(integers.ReLU(), scaled)]))


@pytest.mark.parametrize(("inputs", "outputs", "most"), [(784, 128, 20_448), (20, 10, 290)])
def test_dense_layers_take_no_more_rows_than_promised(inputs: int, outputs: int, most: int) -> None:
    """Six sums of 40 bits (where a sum may be and how far off it may be) stand in one element of 253."""
    sizes = estimate(dense(inputs, outputs))
    ranges = 16 * (inputs + inputs * outputs) + 32 * outputs
    assert sizes["input_range_constraints"] == ranges
    assert sizes["constraints"] - ranges == most == inputs * -(-outputs // 6) + outputs * (8 + 16 + 1)
    assert sizes["parts"]["dense"]["constraints"] == most


def test_dense_layers_have_witnesses() -> None:
    given = dense(20, 10)
    random = np.random.default_rng(5)
    emission = emit(given)
    inputs = {p.name: random.integers(-400, 400, p.format.shape) for p in given.inputs if p.format}
    found = witness(emission.plan, integer.trace(given, inputs))
    assert not len(failing_rows(emission.system, found))


def fixed(low: int, high: int, *shape: int) -> Fixed:
    return Fixed(shape, 0, low, high)


@pytest.mark.parametrize(
    ("given", "rows"),
    [
        (chain(fixed(0, 16), integers.Scale(2, 0)), 6 + 1),
        (chain(fixed(0, 0), integers.Scale(2, 0)), 1 + 1),
        (chain(fixed(-128, 127), integers.Shift(3)), 8 + 1),
        (chain(fixed(-128, 127), integers.IsNegative()), 8 + 1),
        (chain(fixed(-128, 127), integers.ReLU()), 8 + 1),
        (chain(fixed(-100, 127), integers.ReLU()), 8 + 8 + 1),
        (chain(fixed(-128, 127), integers.Scale(3, 0), integers.Shift(3), integers.Check(-32, 31)), 8 + 9 + 1),
        (chain(fixed(0, 255), integers.Scale(-1, 0), integers.IsNegative()), 8 + 3 + 1),
        (single(integers.Multiply(), fixed(0, 255, 5), fixed(0, 255, 5)), 5 * (8 + 8 + 1)),
        (single(integers.Lookup(0, np.arange(4096) ** 2 % 1009, 0), fixed(0, 4095)), 12 + 1 + 57 + 57 + 63 + 1),
        (single(integers.Divide(), fixed(0, 255), fixed(1, 16)), 8 + 4 + 8 + 1 + 4 + 4 + 1),
        (single(integers.SquareRoot(), fixed(0, 255)), 8 + 4 + 1 + 5 + 5 + 1),
    ],
)
def test_rows_of_small_circuits(given: IntegerProgram, rows: int) -> None:
    assert emit(given).system.constraints == rows


def test_structural_zeros_and_constants_emit_nothing() -> None:
    builder = Builder()
    x = builder.input(fixed(0, 1, 4))
    padded = builder.add(integers.Reindex(integers.View.pad((4,), (2,), (2,))), x)
    weights = builder.add(integers.Constant.of(np.arange(8)))
    outer = builder.add(integers.Contract("i,j->ij"), padded, padded)
    weighted = builder.add(integers.Contract("i,i->"), padded, weights)
    sizes = estimate(program(builder.build([outer, weighted])))
    assert sizes["roles"]["product"]["constraints"] == 16
    assert sizes["constraints"] == 4 + 16 + (64 + 1)


def committed(given: IntegerProgram) -> IntegerProgram:
    return given.with_visibility(**{port.name: Visibility.COMMITTED for port in (*given.inputs, *given.outputs)})


def test_commitments_are_counted_and_bound() -> None:
    given = committed(chain(signed((50,), 18, 14), integers.Scale(3, 0), integers.Shift(1)))
    emission, sizes = emit(given), estimate(given)
    assert sizes["constraints"] == emission.system.constraints
    assert sizes["nonzeros"] == emission.system.nonzeros
    assert [public.committed for public in emission.publics] == [True, True]
    random = np.random.default_rng(6)
    trace = integer.trace(given, {"in0": random.integers(-(1 << 17), 1 << 17, 50)})
    found = witness(emission.plan, trace, random_salts(emission.plan))
    assert not len(failing_rows(emission.system, found))
    for wire in random.integers(1, emission.system.wires, 30).tolist():
        mutated = found.copy()
        mutated[wire] = emission.system.field.from_integers([7])[0]
        assert len(failing_rows(emission.system, mutated))


def test_programs_that_bind_nothing_are_refused() -> None:
    given = chain(fixed(0, 3), integers.Scale(2, 0))
    for name in ("in0", "out0"):
        with pytest.raises(CircuitizeError, match="public or committed"):
            emit(given.with_visibility(**{name: Visibility.PRIVATE}))
        with pytest.raises(CircuitizeError, match="public or committed"):
            estimate(given.with_visibility(**{name: Visibility.PRIVATE}))

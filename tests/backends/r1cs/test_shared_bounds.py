"""Bounds that other range checks say cost nothing, and indices of greatest elements: all assignments, listed."""

from __future__ import annotations

import numpy as np
import pytest
from agreement import check_agreement
from enumeration import check_all_assignments
from r1cs_programs import chain, program, single

from circuitize.backends.r1cs.emit import emit
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed


def fixed(low: int, high: int, *shape: int) -> Fixed:
    return Fixed(shape, 0, low, high)


def partly_checked() -> IntegerProgram:
    """Two elements in [0, 2]; the second is checked to be at most 1."""
    builder = Builder()
    x = builder.input(fixed(0, 2, 2))
    second = builder.add(integers.Reindex(integers.View.slice((2,), (1,), (2,))), x)
    return program(builder.build([builder.add(integers.Check(0, 1), second), x]))


def checked_twice(first: int, second: int) -> IntegerProgram:
    """One input in [0, 6] that two checks read."""
    builder = Builder()
    x = builder.input(fixed(0, 6))
    return program(builder.build([builder.add(integers.Check(0, high), x) for high in (first, second)]))


BOUNDS = [
    (chain(fixed(-1, 1), integers.ReLU()), 5, 19),
    (chain(fixed(-4, 1), integers.ReLU()), 3 + 1 + 1, 29),
    (chain(fixed(-3, 2), integers.Clamp(-1, 5)), 3 + 3 + 1 + 1, 29),
    (chain(fixed(0, 5), integers.Scale(3, 0), integers.Shift(1)), 3 + 4 + 1, 37),
    (chain(fixed(-2, 0), integers.Scale(-3, 0), integers.Shift(1)), 2 + 3 + 1, 29),
    (chain(fixed(0, 6), integers.Check(0, 4)), 3 + 3 + 1, 29),
    (checked_twice(4, 5), 3 + 3 + 3 + 2, 23),
    (checked_twice(5, 4), 3 + 3 + 3 + 2, 23),
    (partly_checked(), 4 + 1 + 1 + 3, 11),
]


@pytest.mark.parametrize(("given", "rows", "prime"), BOUNDS)
def test_bounds_that_follow_cost_nothing(given: IntegerProgram, rows: int, prime: int) -> None:
    check_all_assignments(given, prime)
    assert emit(given).system.constraints == rows


@pytest.mark.parametrize(
    ("operation", "source", "prime"),
    [
        (integers.ArgMax(0), fixed(-1, 1, 2), 23),
        (integers.ArgMax(0), fixed(0, 2, 3), 13),
        (integers.ArgMax(0), fixed(0, 3, 2), 17),
        (integers.ArgMax(0), fixed(3, 3, 3), 11),
        (integers.ArgMaxOneHot(0), fixed(0, 1, 3), 23),
        (integers.ArgMaxOneHot(1), fixed(0, 1, 2, 2), 13),
        (integers.ArgMaxOneHot(0), fixed(0, 1, 1, 2), 13),
    ],
    ids=str,
)
def test_the_first_of_the_greatest(operation: integers.IntegerOperation, source: Fixed, prime: int) -> None:
    check_all_assignments(single(operation, source), prime)


def test_greatest_elements_of_any_integers() -> None:
    """Differences of two numbers of 62 bits: what the definition, by subtraction, refuses."""
    top = (1 << 62) - 1
    given = single(integers.ArgMax(0), fixed(-top, top, 3))
    vectors = [[-top, top, top], [top, -top, top], [-top, -top, -top], [-top, 1 - top, top], [0, 1, 0]]
    found = check_agreement(given, [{"in0": np.array(vector)} for vector in vectors])
    assert found.vectors == 5 and not found.undefined

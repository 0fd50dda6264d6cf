"""Intervals of integer operations are sound and tight, nothing passes 2^62, and misuse is refused in one clear line."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import integers_cases
import numpy as np
import pytest
from every_case import every_case
from operations.integer import TOP, fixed
from operations.integers.arithmetic import TABLE
from operations.integers.layout import views

from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import OverflowRisk, TypingError
from circuitize.circuits.integers import IntegerOperation, View
from circuitize.circuits.types import Array, Fixed


def every_value(source: Fixed) -> Iterator[np.ndarray[Any, Any]]:
    for elements in itertools.product(range(source.low, source.high + 1), repeat=source.size):
        yield np.array(elements, np.int64).reshape(source.shape)


def attained(operation: IntegerOperation, sources: Sequence[Fixed]) -> tuple[int, int]:
    """The least and the greatest element over all values of the sources."""
    low, high = TOP, -TOP
    for values in itertools.product(*(list(every_value(source)) for source in sources)):
        (found,) = operation.run(*values)
        low, high = min(low, int(found.min())), max(high, int(found.max()))
    return low, high


EXHAUSTIVE = {kind.name: described.tried() for kind, described in integers_cases.described().items()}


def test_every_operation_is_tried_exhaustively() -> None:
    own = {kind.name for kind in integers.operation_classes() if kind.__module__.startswith("circuitize.")}
    assert set(EXHAUSTIVE) == own


@pytest.mark.parametrize("name", sorted(EXHAUSTIVE))
def test_intervals_are_exactly_what_is_attained(name: str) -> None:
    for operation, sources in EXHAUSTIVE[name]:
        (target,) = operation.target_types(*sources)
        assert (target.low, target.high) == attained(operation, sources), (operation, sources)


@pytest.mark.parametrize(
    "operation, sources",
    [
        (integers.Add(), lambda h: [fixed((2,), 0, h), fixed((2,), 0, 1)]),
        (integers.Subtract(), lambda h: [fixed((2,), -h, 0), fixed((2,), 0, 1)]),
        (integers.Scale(1, 1), lambda h: [fixed((2,), -h - 1, 0)]),
        (integers.Scale(-1, 0), lambda h: [fixed((2,), -h - 1, 0)]),
        (integers.Multiply(), lambda h: [fixed((2,), h + 1, h + 1), fixed((2,), -1, 0)]),
        (integers.Sum(View.broadcast((1 << 20,), (0,))), lambda h: [fixed((1 << 20,), 0, (h + 1) >> 20)]),
        (integers.Contract("i,i->"), lambda h: [fixed((1 << 20,), 0, (h + 1) >> 20), fixed((1 << 20,), -1, 0)]),
        (integers.ScatterAdd(0, 2), lambda h: [fixed((1 << 20,), 0, (h + 1) >> 20), fixed((1 << 20,), 0, 1)]),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_overflow_is_refused_exactly_from_two_to_the_62(
    operation: IntegerOperation, sources: Callable[[int], list[Fixed]]
) -> None:
    step = 1 << 20 if isinstance(operation, integers.Sum | integers.Contract | integers.ScatterAdd) else 1
    operation.target_types(*sources(TOP - step))
    with pytest.raises(OverflowRisk, match=r"expected magnitudes below 2\^62.*use fewer fraction bits"):
        operation.target_types(*sources(TOP))


def test_a_constant_may_not_pass_the_limit() -> None:
    integers.Constant.splat(-TOP).target_types()
    for amount in (1 << 62, -(1 << 62), -(1 << 63), (1 << 63) - 1):
        with pytest.raises(OverflowRisk):
            integers.Constant.splat(amount).target_types()
    for amount in (1 << 63, 1 << 64, -(1 << 80)):
        with pytest.raises(OverflowRisk):
            integers.Constant.splat(amount)
    with pytest.raises(TypingError, match="float64"):
        integers.Constant.of([0.5])


def test_overflow_names_the_operation_and_the_source_line() -> None:
    from circuitize.circuits.operation import Provenance

    builder = Builder()
    builder.provenance = Provenance("layer 2", "model.py", 7)
    wire = builder.input(fixed((2,), -TOP, TOP))
    with pytest.raises(OverflowRisk, match=r"integer\.add .*layer 2 \(model\.py:7\)"):
        builder.add(integers.Add(), wire, wire)


X, Y, HALF = fixed((2, 3), -4, 5), fixed((3, 2), -4, 5), fixed((2, 3), -4, 5, 1)
REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: integers.Add().target_types(X, Y), "equal shapes"),
    (lambda: integers.Add().target_types(X, HALF), "equal fraction bits, found 0 and 1; align"),
    (lambda: integers.Add().target_types(X), "expected 2 sources, found 1"),
    (lambda: integers.Add().target_types(X, Array((2, 3))), "expected integer arrays, found real"),
    (lambda: integers.Concatenate(0).target_types(), "at least 1 sources, found 0"),
    (lambda: integers.Subtract().target_types(X, HALF), "equal fraction bits"),
    (lambda: integers.Maximum().target_types(X, Y), "equal shapes"),
    (lambda: integers.Multiply().target_types(X, Y), "equal shapes"),
    (lambda: integers.Divide().target_types(X, X), r"divisor of at least 1, found the interval \[-4, 5\]; Check it"),
    (lambda: integers.Divide().target_types(X, fixed((2, 3), 0, 5)), "divisor of at least 1"),
    (lambda: integers.Divide().target_types(X, fixed((3,), 1, 5)), "equal shapes"),
    (lambda: integers.SquareRoot().target_types(X), "nonnegative values"),
    (lambda: integers.SquareRoot().target_types(fixed((2,), 0, 5, 3)), "even number of fraction bits, found 3"),
    (lambda: integers.Lookup(-4, TABLE, 0).target_types(X), r"values in \[-4, 3\], found the interval \[-4, 5\]"),
    (lambda: integers.Lookup(0, np.zeros((1 << 16) + 1, np.int64), 0), "1 to 65536 entries"),
    (lambda: integers.Lookup(0, np.zeros(0, np.int64), 0), "1 to 65536 entries"),
    (lambda: integers.Shift(-1), "0 to 62 bits, found -1"),
    (lambda: integers.Shift(63), "0 to 62 bits"),
    (lambda: integers.Scale(1 << 62, 0), r"below 2\^62"),
    (lambda: integers.Check(1, 0), "low <= high"),
    (lambda: integers.Clamp(1, 0), "low <= high"),
    (lambda: integers.Reindex(View((3, 2))).target_types(X), r"source of shape \[3, 2\], found \[2, 3\]"),
    (lambda: integers.Sum(View.broadcast((2, 3, 4), (2,))).target_types(X), r"shape \[2, 3, 4\]"),
    (lambda: integers.Contract("ij,jk"), "equation of two operands"),
    (lambda: integers.Contract("ii,ij->j"), "distinct letters"),
    (lambda: integers.Contract("ij,jk->ix"), "target's letters in an operand"),
    (lambda: integers.Contract("ij,jk->ik").target_types(X, X), "one extent for 'j'.*found 3 and 2"),
    (lambda: integers.Contract("i,ij->j").target_types(X, X), "1 axes for 'i'"),
    (lambda: integers.Concatenate(2).target_types(X), "axis from 0 to 1"),
    (lambda: integers.Concatenate(0).target_types(X, Y), "equal but for axis 0"),
    (lambda: integers.Select().target_types(X, X, X), r"condition in \[0, 1\]"),
    (lambda: integers.Select().target_types(fixed((3, 2), 0, 1), X, X), r"condition of shape \[2, 3\]"),
    (lambda: integers.Select().target_types(fixed((2, 3), 0, 1, 1), X, X), "without fraction bits"),
    (lambda: integers.ArgMax(2).target_types(X), "axis from 0 to 1"),
    (lambda: integers.ArgMaxOneHot(-1).target_types(X), "axis from 0 to 1"),
    (lambda: integers.Gather(0).target_types(X, fixed((2,), 0, 1, 2)), "indices without fraction bits"),
    (lambda: integers.Gather(2).target_types(X, fixed((2,), 0, 1)), "axis from 0 to 1"),
    (lambda: integers.ScatterAdd(0, 4).target_types(X, fixed((3,), 0, 1)), r"updates with axes \[3\] from axis 0"),
    (lambda: integers.ScatterAdd(1, 4).target_types(X, fixed((3, 1), 0, 1)), r"updates with axes \[3, 1\]"),
    (lambda: integers.ScatterAdd(0, 0).target_types(X, fixed((2,), 0, 1)), "at least one element"),
    (lambda: integers.Constant(np.zeros((2, 2), np.int64), (4,), 0), r"amounts of shape \[4\]"),
]


@every_case(REFUSED)
def test_misuse_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(TypingError, match=message) as error:
        make()
    assert "\n" not in str(error.value)


def test_equal_constants_and_tables_are_equal() -> None:
    ones = integers.Constant.of(np.ones((2, 3), int), 4)
    assert ones == integers.Constant.splat(1, (2, 3), 4) and hash(ones) == hash(integers.Constant.splat(1, (2, 3), 4))
    assert ones != integers.Constant.splat(1, (3, 2), 4) and ones != integers.Constant.splat(1, (2, 3), 5)
    assert integers.Constant.of([1, 2]) == integers.Constant.of(np.array([1, 2], np.int8))
    assert integers.Constant.of([1, 2]) != integers.Constant.of([2, 1])
    assert integers.Lookup(0, TABLE, 2) == integers.Lookup(0, TABLE.copy(), 2) != integers.Lookup(1, TABLE, 2)
    assert len({integers.Lookup(0, TABLE, 2), integers.Lookup(0, TABLE.copy(), 2)}) == 1


def test_constants_are_frozen_and_splats_are_small() -> None:
    array = np.array([1, 2])
    constant = integers.Constant.of(array)
    array[0] = 9
    assert constant.constant.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        constant.amounts[0] = 3
    huge = integers.Constant.splat(3, (1 << 20, 1 << 20))
    assert huge.amounts.size == 1 and huge.target_types()[0].size == 1 << 40 and huge.constant.strides == (0, 0)


def test_constant_like_keeps_the_type_or_declines() -> None:
    two = integers.Constant.of([1, 2])
    made = two.constant_like(np.array([-3, 4]), fixed((2,), -3, 4, 6))
    assert made == integers.Constant.of([-3, 4], 6)
    assert two.constant_like(np.array([-3, 4]), fixed((2,), -3, 5, 6)) is None


def test_identities_are_the_identity() -> None:
    """Wherever an operation says it is the identity, it has its source's type and value."""
    seen = set()
    for case in integers_cases.cases():
        if len(case.sources) == 1 and case.operation.is_identity(case.sources[0]):
            values = case.draw(np.random.default_rng(4))
            assert case.operation.target_types(*case.sources) == case.sources
            np.testing.assert_array_equal(case.operation.run(*values)[0], values[0])
            seen.add(case.operation.name.removeprefix("integer."))
    assert seen == {"scale", "shift", "relu", "check", "concatenate", "clamp", "wrap", "reindex", "sum"}


def test_view_parameters_make_equal_operations() -> None:
    for view in views():
        again = View(view.source_shape, view.steps)
        assert integers.Reindex(view) == integers.Reindex(again) and hash(integers.Sum(view)) == hash(
            integers.Sum(again)
        )

"""Lowering of real operations: the integers mean the operation, exactly or within the stated units of the last bit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import tiers
from arrays_cases import cases
from every_case import every_case
from operations.real import Case, Source

from circuitize.circuits import arrays
from circuitize.circuits.arrays.curves.exponential import exponential_table
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import Undefined
from circuitize.circuits.hypergraph import Arrow, evaluate
from circuitize.circuits.lowering import Lowering, Precision
from circuitize.circuits.types import Fixed

PRECISION = Precision()


def lowered(case: Case, result: Fixed) -> Arrow:
    builder = Builder()
    sources = builder.inputs([source.fixed for source in case.sources])
    return builder.build(case.operation.lower(Lowering(builder, PRECISION, result), *sources))


def calibrated(case: Case, reals: list[list[np.ndarray]]) -> Fixed:
    magnitude = max(float(np.abs(evaluate(case.arrow, values)[0]).max()) for values in reals)
    (exponent,) = PRECISION.exponents(np.array([magnitude])).tolist()
    return PRECISION.format(case.target.shape, exponent, nonnegative=False)


def draw(case: Case) -> list[list[np.ndarray]]:
    random = np.random.default_rng(8)
    return [case.awkward(random) for _ in range(8)]


ALL = [case for case in cases() if not isinstance(case.operation, arrays.Composite)]
SIMPLE = tiers.of_each(ALL)


@every_case(SIMPLE)
def test_lowering_agrees_with_the_float_meaning(case: Case) -> None:
    drawn = draw(case)
    reals = [case.reals(integers) for integers in drawn]
    result = calibrated(case, reals)
    arrow = lowered(case, result)
    (found,) = arrow.target
    assert isinstance(found, Fixed)
    assert found.shape == case.target.shape
    if case.operation.rounding is arrays.Rounding.VALUE and result.fraction_bits == found.fraction_bits:
        assert result.low <= found.low and found.high <= result.high
    for integers, values in zip(drawn, reals, strict=True):
        (target,) = evaluate(arrow, integers)
        (expected,) = evaluate(case.arrow, values)
        assert target.dtype == np.int64
        assert target.shape == found.shape
        assert found.low <= target.min() and target.max() <= found.high, "the interval is true"
        units = np.abs(target - np.ldexp(expected, found.fraction_bits)).max()
        assert units <= bound(case, values, found.fraction_bits) + 2.0**-20


def bound(case: Case, values: list[np.ndarray], fraction_bits: int) -> float:
    """In units of the last bit, from the exact result, halves of whose last bit go either way."""
    if isinstance(case.operation, arrays.Scale) and case.units:
        numerator, k = PRECISION.coefficient(case.operation.factor)
        error = abs(Fraction(case.operation.factor) - numerator * Fraction(2) ** -k)
        return float(error * Fraction(2) ** fraction_bits) * float(np.abs(values[0]).max()) + 0.5
    return (case.units or 0) + 0.5 * (case.operation.rounding is arrays.Rounding.VALUE)


@every_case(c for c in ALL if c.operation.rounding is not arrays.Rounding.VALUE and not c.units)
def test_linear_operations_and_products_round_nothing(case: Case) -> None:
    """Exactly the float value, which these small operands let float64 hold without an error."""
    integers = draw(case)[0]
    arrow = lowered(case, Fixed(case.target.shape, 12, -1, 1))  # the calibrated format is none of their business
    (found,) = arrow.target
    assert isinstance(found, Fixed)
    (expected,) = evaluate(case.arrow, case.reals(integers))
    np.testing.assert_array_equal(np.ldexp(evaluate(arrow, integers)[0].astype(float), -found.fraction_bits), expected)


@pytest.mark.parametrize("fraction_bits", [4, 12, 20])
@pytest.mark.parametrize(
    ("low", "high", "of_bits"), [(-8.0, 3.0, 12), (-12.0, 0.0, 16), (-2.0, 2.0, 26), (0.0, 4.0, 28), (-40.0, -9.0, 14)]
)
def test_exp_is_within_one_unit_over_its_whole_interval(
    low: float, high: float, of_bits: int, fraction_bits: int
) -> None:
    source = Source((4096,), low, high, of_bits)
    grid = np.linspace(source.fixed.low, source.fixed.high, 4096).astype(np.int64)
    result = Fixed((4096,), fraction_bits, 0, 1 << (fraction_bits + 6))
    (found,) = evaluate(lowered(Case(arrays.Exp(), (source,)), result), [grid])
    exact = np.ldexp(np.exp(source.real(grid)), fraction_bits)
    assert np.abs(found - exact).max() <= arrays.Exp().proved_error(source.fixed, result) <= 1
    off = np.abs(found - np.rint(exact))
    assert off.max() <= 1
    assert off.mean() < 0.1


def test_exp_is_undefined_exactly_outside_its_format() -> None:
    source = Source((1,), -8.0, 8.0, 12)
    result = Fixed((1,), 12, 0, (1 << 14) - 1)  # below 4
    arrow = lowered(Case(arrays.Exp(), (source,)), result)
    greatest = int(np.floor(np.log(4) * 4096)) - 2
    assert evaluate(arrow, [np.array([greatest])])[0] <= result.high
    for x in (greatest + 4, 3 * 4096, 8 * 4096):
        with pytest.raises(Undefined):
            evaluate(arrow, [np.array([x])])


def test_exponential_tables_are_correctly_rounded() -> None:
    table = exponential_table(-64, 63, 5, 20, 1 << 62)
    np.testing.assert_array_equal(table, np.rint(np.exp(np.arange(-64, 64) / 32) * 2**20))
    assert exponential_table(100, 101, 0, 10, 12345).tolist() == [12345, 12345]
    assert exponential_table(0, 1, 0, 0, 2).tolist() == [1, 2]


def test_reciprocal_is_undefined_at_zero_and_outside_its_format() -> None:
    case = Case(arrays.Reciprocal(), (Source((1,), -4.0, 4.0, 10),))
    result = Fixed((1,), 12, -(1 << 13), (1 << 13) - 1)  # below 2 in magnitude
    arrow = lowered(case, result)
    for x, expected in ((1024, 4096), (-1024, -4096), (513, 8176), (3 * 1024, 1365), (-4096, -1024)):
        assert evaluate(arrow, [np.array([x])])[0].tolist() == [expected]
    for x in (0, 1, -1, 500, -500, 512):
        with pytest.raises(Undefined):
            evaluate(arrow, [np.array([x])])


def test_reciprocal_rounds_halves_away_from_zero() -> None:
    arrow = lowered(Case(arrays.Reciprocal(), (Source((2,), -16.0, 16.0, 0),)), Fixed((2,), 3, -8, 8))
    assert evaluate(arrow, [np.array([16, -16])])[0].tolist() == [1, -1]


def test_constants_take_no_more_fraction_bits_than_they_need() -> None:
    for value, expected in ((1.0, 0), (0.75, 2), (0.1, 12), (0.0, 0)):
        constant = arrays.Constant.splat(value, (3,))
        (target,) = lowered(Case(constant, ()), Fixed((3,), 12, -(1 << 14), 1 << 14)).target
        assert isinstance(target, Fixed)
        assert target.fraction_bits == expected


def test_boolean_conditions_are_selected_on_without_a_comparison() -> None:
    flag, value = Source((2,), 0.0, 1.0, 0), Source((2,))
    assert lowered(Case(arrays.Select(), (flag, value, value)), value.fixed).edge_count == 1

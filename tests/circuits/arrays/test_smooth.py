"""Smooth functions in integers: within their proved error over whole intervals, every integer of them tried."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import arrays_cases
import numpy as np
import pytest
from lowered_operations import lowered
from operations.real import Source

from circuitize.circuits import arrays
from circuitize.circuits.arrays.curves.approximation import Curve, planned
from circuitize.circuits.arrays.curves.error_function import exact_error_function
from circuitize.circuits.arrays.curves.series import Series
from circuitize.circuits.arrays.curves.smooth import Smooth
from circuitize.circuits.errors import CircuitizeError, Undefined
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.types import Fixed

SMOOTH = {
    case.operation: described.reference(case.operation)
    for described in arrays_cases.described().values()
    for case in described.cases
    if isinstance(case.operation, Smooth)
}


def deep(*values: object) -> Any:
    return pytest.param(*values, marks=pytest.mark.deep)


@pytest.mark.parametrize("operation", SMOOTH, ids=lambda o: o.name)
@pytest.mark.parametrize(
    ("ends", "of_bits", "fraction_bits"), [(8, 12, 12), (2, 10, 20), deep(7, 12, 18), deep(0.5, 16, 8)]
)
def test_every_integer_of_the_interval(operation: Smooth, ends: float, of_bits: int, fraction_bits: int) -> None:
    """All of up to 2^16: within 1 unit of correct rounding, within the proved error of the exact value."""
    high = int(ends * 2**of_bits)
    values = np.arange(-high, high)
    source = Source((len(values),), -ends, ends, of_bits)
    bound = 1 << (fraction_bits + 5)
    result = Fixed((len(values),), fraction_bits, -bound, bound)
    (found,) = evaluate(lowered(operation, result, source), [values])
    exact = np.ldexp(SMOOTH[operation](source.real(values)), fraction_bits)
    proved = operation.proved_error(source.fixed, result)
    assert proved < 1
    assert np.abs(found - exact).max() <= proved + 2.0 ** (fraction_bits - 50)
    assert np.abs(found - np.floor(exact + 0.5)).max() <= 1
    if proved == 0.5:
        assert np.array_equal(found, np.floor(exact + 0.5))


@pytest.mark.parametrize(("operation", "function"), [(arrays.Sin(), np.sin), (arrays.Cos(), np.cos)])
@pytest.mark.parametrize(
    ("ends", "of_bits", "fraction_bits"), [(3.5, 12, 12), deep(1.5, 10, 20), deep(50, 8, 12), (500, 6, 16)]
)
def test_every_angle_of_the_interval(
    operation: arrays.Sin | arrays.Cos,
    function: Callable[[np.ndarray], np.ndarray],
    ends: float,
    of_bits: int,
    fraction_bits: int,
) -> None:
    """All of them, with many turns too: within 1 unit of correct rounding."""
    high = int(ends * 2**of_bits)
    values = np.arange(-high, high)
    source = Source((len(values),), -ends, ends, of_bits)
    result = Fixed((len(values),), fraction_bits, -(2 << fraction_bits), 2 << fraction_bits)
    (found,) = evaluate(lowered(operation, result, source), [values])
    exact = np.ldexp(function(source.real(values)), fraction_bits)
    assert np.abs(found - np.rint(exact)).max() <= 1
    assert np.abs(found - exact).max() <= operation.proved_error(source.fixed, result) < 1


@pytest.mark.parametrize(
    ("operation", "function", "low", "high", "of_bits"),
    [
        (arrays.Exp2(), np.exp2, -12.0, 4.0, 12),
        (arrays.Exp2(), np.exp2, -1.0, 1.0, 10),
        (arrays.Log2(), np.log2, 2.0**-12, 15.0, 12),
        (arrays.Log2(), np.log2, 0.5, 2.0, 10),
    ],
)
@pytest.mark.parametrize("fraction_bits", [deep(6), 12, deep(18)])
def test_base_two(
    operation: arrays.Exp | arrays.Log,
    function: Callable[[np.ndarray], np.ndarray],
    low: float,
    high: float,
    of_bits: int,
    fraction_bits: int,
) -> None:
    """Every integer of the interval: within the proved error; whole powers are exact."""
    values = np.arange(int(low * 2**of_bits), int(high * 2**of_bits) + 1)
    source = Source((len(values),), low, high, of_bits)
    bound = 16 << fraction_bits
    result = Fixed((len(values),), fraction_bits, -bound, bound)
    (found,) = evaluate(lowered(operation, result, source), [values])
    exact = np.ldexp(function(source.real(values)), fraction_bits)
    assert np.abs(found - np.floor(exact + 0.5)).max() <= 1
    assert np.abs(found - exact).max() <= operation.proved_error(source.fixed, result) < 1
    whole = exact == np.rint(exact)
    if isinstance(operation, arrays.Exp2) and len(values) > 1 << 12:
        whole &= False
    np.testing.assert_array_equal(found[whole], exact[whole])


def test_the_proved_error_is_not_idle() -> None:
    """Constant terms changed by half a unit of the result are noticed by the bound."""
    plan = planned(arrays.Erf(), -12000, 12000, 12, 12)
    assert plan.degree and 0.05 < plan.error < 0.5
    raised = np.arange(24001)
    segment = raised >> plan.shift
    distance = np.ldexp(raised - (segment << plan.shift) - (1 << plan.shift - 1), -12)
    for moved in (0, 8):
        tables = [table + moved * (k == 0) for k, table in enumerate(plan.tables)]
        terms = [np.ldexp(t[segment], -b) for t, b in zip(tables, plan.bits, strict=True)]
        polynomial = sum(term * distance**k for k, term in enumerate(terms))
        off = np.abs(polynomial - SMOOTH[arrays.Erf()]((raised - 12000) / 4096)).max() * 4096
        assert (off <= plan.error) == (moved == 0)


@dataclass(frozen=True)
class Jump(Curve):
    """A step that is too steep for any table."""

    def taylor(self, centre: Decimal, order: int) -> Series:
        return Series.of(centre, 1, order=order)

    def disc(self, centre: float) -> tuple[float, float]:
        return 1e-9, 1.0


def test_what_moves_too_fast_is_refused() -> None:
    with pytest.raises(CircuitizeError, match=r"moves too fast on \[-2, 2\]; ask for fewer fraction bits"):
        planned(Jump(), -(1 << 20), 1 << 20, 19, 12)


def test_error_function_to_forty_digits() -> None:
    assert abs(exact_error_function(Decimal(1)) - Decimal("0.84270079294971486934122063508260925929606699796630")) < (
        Decimal("1e-40")
    )
    assert exact_error_function(Decimal(-1)) + exact_error_function(Decimal(1)) == 0


def test_series_are_those_of_calculus() -> None:
    x = Series.of(Decimal(2), 1, order=6)
    assert [float(t) for t in x.exp().terms] == pytest.approx([math.exp(2) / math.factorial(k) for k in range(7)])
    quotient = (x * x * x + 1) / (x + 1)  # x^2 - x + 1
    assert [float(t) for t in quotient.terms] == pytest.approx([3, 3, 1, 0, 0, 0, 0], abs=1e-40)
    assert (x * x).derivative().terms[:3] == (Decimal(4), Decimal(2), Decimal(0))
    assert (x * x).derivative().integral(Decimal(4)).terms == (x * x).terms


@pytest.mark.parametrize(("of_bits", "fraction_bits"), [(10, 12), (20, 12), (4, 20), (30, 14)])
def test_reciprocal_roots_are_correctly_rounded(of_bits: int, fraction_bits: int) -> None:
    values = np.unique(np.concatenate([np.arange(1, 2000), 2 ** np.arange(30), 3 * 4 ** np.arange(14) - 1]))
    values = values[values >= 2.0 ** (of_bits - 16)]
    source = Source((len(values),), 2.0**-of_bits, 2.0 ** (30 - of_bits), of_bits)
    result = Fixed((len(values),), fraction_bits, 0, 1 << 36)
    arrow = lowered(arrays.ReciprocalSquareRoot(), result, source)
    (found,) = evaluate(arrow, [values])
    kept = arrow.target[0]
    assert isinstance(kept, Fixed)
    assert kept.fraction_bits == min(fraction_bits, (61 - of_bits) // 2 - 1)
    for q, z in zip(values.tolist(), found.tolist(), strict=True):
        # z - 1/2 <= 2^kept / sqrt(x) < z + 1/2, in whole numbers
        square = Fraction(4) ** kept.fraction_bits * 2**of_bits / q
        assert (2 * z - 1) ** 2 <= 4 * square < (2 * z + 1) ** 2


def test_reciprocal_roots_are_undefined_outside() -> None:
    arrow = lowered(arrays.ReciprocalSquareRoot(), Fixed((1,), 12, 0, 4 << 12), Source((1,), -4.0, 4.0, 12))
    for q in (0, -1, -4096, 255):  # 1 / sqrt(255 / 4096) is 4.008
        with pytest.raises(Undefined):
            evaluate(arrow, [np.array([q])])
    assert evaluate(arrow, [np.array([256])])[0].tolist() == [4 << 12]

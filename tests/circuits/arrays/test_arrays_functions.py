"""Logarithm, roots, quotients and saturating functions in integers: within their bounds on whole intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from lowered_operations import lowered
from operations.real import Integers, Source

from circuitize.circuits import arrays
from circuitize.circuits.arrays.curves.logarithm import logarithms, reductions
from circuitize.circuits.errors import TypingError, Undefined
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.types import Fixed


def grid(source: Source) -> Integers:
    """Even steps over the interval, and both ends of it and around 0 one by one."""
    low, high = source.fixed.low, source.fixed.high
    (count,) = source.shape
    near = np.concatenate([low + np.arange(50), high - np.arange(50), np.clip(np.arange(-50, 50), low, high)])
    return np.concatenate([np.linspace(low, high, count - len(near)).astype(np.int64), near])


@pytest.mark.parametrize("fraction_bits", [4, 12, 20, 26])
@pytest.mark.parametrize(
    ("low", "high", "of_bits"),
    [(2.0**-12, 16.0, 12), (2.0**-16, 1.0, 16), (1.0, 11.0, 12), (2.0**-30, 2.0, 30), (2.0**-8, 2.0**32, 8)],
)
def test_log_is_within_one_unit(low: float, high: float, of_bits: int, fraction_bits: int) -> None:
    source = Source((4096,), low, high, of_bits)
    values = grid(source)
    result = Fixed((4096,), fraction_bits, -(1 << (fraction_bits + 6)), 1 << (fraction_bits + 6))
    (found,) = evaluate(lowered(arrays.Log(), result, source), [values])
    exact = np.ldexp(np.log(source.real(values)), fraction_bits)
    assert np.abs(found - exact).max() <= arrays.Log().proved_error(source.fixed, result) < 1
    off = np.abs(found - np.rint(exact))
    assert off.max() <= 1
    assert off.mean() < 0.1


def test_log_of_one_is_nearly_zero_and_its_mistakes_small_around_it() -> None:
    source = Source((4096,), 2.0**-12, 16.0, 12)
    values = 4096 + np.arange(-2048, 2048)
    (found,) = evaluate(lowered(arrays.Log(), Fixed((4096,), 24, -(1 << 30), 1 << 30), source), [values])
    assert np.abs(found - np.rint(np.ldexp(np.log(values / 4096), 24))).max() <= 1


def test_log_is_undefined_at_zero_below_and_outside_its_format() -> None:
    arrow = lowered(arrays.Log(), Fixed((1,), 12, -(1 << 14), 1 << 14), Source((1,), -8.0, 200.0, 10))
    for x in (0, -1, -5000, 1, 18):  # e^-4 is 18.8 units
        with pytest.raises(Undefined):
            evaluate(arrow, [np.array([x])])
    assert evaluate(arrow, [np.array([1024])])[0].tolist() == [0]


def test_tables_of_logarithms_are_correctly_rounded() -> None:
    np.testing.assert_array_equal(logarithms(3, 66, 5, 20), np.rint(np.log(np.arange(3, 67) / 32) * 2**20))
    inverses, logs = reductions(4, 24)
    np.testing.assert_array_equal(inverses, np.rint(2**7 / (1 + (np.arange(16) + 0.5) / 16)))
    np.testing.assert_array_equal(logs, np.rint(-np.log(inverses / 2**7) * 2**24))


@pytest.mark.parametrize("fraction_bits", [4, pytest.param(12, marks=pytest.mark.deep), 20])
@pytest.mark.parametrize(
    ("low", "high", "of_bits"), [(-20.0, 20.0, 12), (-300.0, 1.0, 16), (-0.25, 0.25, 24), (0.0, 30.0, 10)]
)
@pytest.mark.parametrize(
    ("operation", "function"),
    [(arrays.Sigmoid(), lambda x: 1 / (1 + np.exp(-x))), (arrays.Tanh(), np.tanh)],
    ids=["sigmoid", "tanh"],
)
def test_saturating_functions_are_within_one_unit(
    operation: arrays.RealOperation,
    function: Callable[..., np.ndarray],
    low: float,
    high: float,
    of_bits: int,
    fraction_bits: int,
) -> None:
    source = Source((4096,), low, high, of_bits)
    values = grid(source)
    result = Fixed((4096,), fraction_bits, -(1 << fraction_bits), 1 << fraction_bits)
    (found,) = evaluate(lowered(operation, result, source), [values])
    off = np.abs(found - np.rint(np.ldexp(function(source.real(values)), fraction_bits)))
    assert off.max() <= 1
    assert off.mean() < 0.1


@pytest.mark.parametrize(("x_bits", "y_bits", "fraction_bits"), [(10, 8, 12), (20, 4, 3), (0, 12, 6), (4, 16, 0)])
def test_quotients_are_correctly_rounded_halves_up(x_bits: int, y_bits: int, fraction_bits: int) -> None:
    random = np.random.default_rng(0)
    x, y = random.integers(-500, 501, 2000), random.integers(1, 41, 2000) * random.choice([-1, 1], 2000)
    sources = (
        Source((2000,), -500 * 2.0**-x_bits, 500 * 2.0**-x_bits, x_bits),
        Source((2000,), -40 * 2.0**-y_bits, 40 * 2.0**-y_bits, y_bits),
    )
    arrow = lowered(arrays.Divide(), Fixed((2000,), fraction_bits, -(1 << 40), 1 << 40), *sources)
    (found,) = evaluate(arrow, [x, y])
    for quotient, n, d in zip(found.tolist(), x.tolist(), y.tolist(), strict=True):
        exact = Fraction(n, d) * Fraction(2) ** (y_bits - x_bits + fraction_bits)
        assert quotient == math.floor(exact + Fraction(1, 2))


def test_quotients_are_undefined_at_zero_and_outside_their_format() -> None:
    sources = Source((1,), -4.0, 4.0, 8), Source((1,), -4.0, 4.0, 8)
    arrow = lowered(arrays.Divide(), Fixed((1,), 8, -(1 << 9), (1 << 9) - 1), *sources)  # below 2
    assert evaluate(arrow, [np.array([256]), np.array([-512])])[0].tolist() == [-128]
    for x, y in ((256, 0), (0, 0), (512, 256), (-1024, 1)):
        with pytest.raises(Undefined):
            evaluate(arrow, [np.array([x]), np.array([y])])


@pytest.mark.parametrize(("of_bits", "fraction_bits"), [(10, 12), (24, 12), (25, 12), (30, 8)])
def test_square_roots_are_correctly_rounded(of_bits: int, fraction_bits: int) -> None:
    source = Source((4096,), 0.0, 4.0, of_bits)
    values = grid(source)
    (found,) = evaluate(lowered(arrays.SquareRoot(), Fixed((4096,), fraction_bits, 0, 1 << 30), source), [values])
    for root, x in zip(found.tolist(), values.tolist(), strict=True):
        scaled = Fraction(x) * Fraction(4) ** fraction_bits / 2**of_bits
        below = math.isqrt(math.floor(4 * scaled))  # twice the root, as an integer
        assert root == (below + 1) // 2


def test_square_roots_of_negative_numbers_are_undefined() -> None:
    arrow = lowered(arrays.SquareRoot(), Fixed((1,), 12, 0, 1 << 14), Source((1,), -4.0, 4.0, 8))
    with pytest.raises(Undefined):
        evaluate(arrow, [np.array([-1])])


def test_indices_have_no_fraction_bits() -> None:
    with pytest.raises(TypingError, match="indices without fraction bits"):
        lowered(arrays.Gather(0), Fixed((2,), 12, 0, 1), Source((3,)), Source((2,), 0.0, 2.0, 4))


def test_indices_outside_are_undefined_in_integers_too() -> None:
    arrow = lowered(arrays.Gather(0), Fixed((1,), 12, 0, 1), Source((3,)), Source((1,), -8.0, 8.0, 0))
    for index in (-1, 3):
        with pytest.raises(Undefined):
            evaluate(arrow, [np.arange(3), np.array([index])])


def test_wide_operands_take_two_tables() -> None:
    for operation, source in (
        (arrays.Log(), Source((1,), 2.0**-12, 16.0, 12)),
        (arrays.Exp(), Source((1,), -8.0, 4.0, 12)),
    ):
        arrow = lowered(operation, Fixed((1,), 12, -(1 << 16), 1 << 16), source)
        names = [edge.operation.name for edge in arrow.edges()]
        assert names.count("integer.lookup") == 2

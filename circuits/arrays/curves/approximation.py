"""Functions of one number in integers, as one table or as polynomials on segments, chosen by cost; their error is
proved.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits import integers
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.integers.term import Integer

from .exponential import TABLE_BITS
from .series import CONTEXT, Series, exactly

ORDER = 12
"""The number of terms of a Taylor series that are computed; the rest is bounded by Cauchy's estimate."""
DEGREES = (3, 2, 1)
SAMPLES = 33
WIDEST = 56
"""The most bits of a product; a wider operand is rounded first."""


class Curve(ABC):
    """A real function that is analytic around every real number. Subclasses of Curve are hashable, because plans are
    kept by curve.
    """

    @abstractmethod
    def taylor(self, centre: Decimal, order: int) -> Series:
        """Return the curve's Taylor series at a centre, with at least 30 right digits."""

    @abstractmethod
    def disc(self, centre: float) -> tuple[float, float]:
        """Return (R, M) such that in the complex disc of radius R around the centre the curve is analytic and at most
        M.
        """


@dataclass(frozen=True, eq=False)
class Approximation:
    """An approximation of a curve on the integers low to high, in units of 2^-of_bits, by polynomials with
    `fraction_bits` result bits.

    Segment i of an approximation holds the 2^shift integers from low + i * 2^shift on. With r the distance to the
    middle of segment i, the polynomial of an approximation is the sum of tables[k][i] * 2^-bits[k] * r^k. The field
    `error` of an approximation bounds the polynomial's distance from the curve, in units of the last bit of the result;
    it includes the error of coefficients and of every rounding but the last: |found - exact| <= error + 1/2. An
    approximation by a single table with one entry per integer has error 0: it is correctly rounded.
    """

    low: int
    high: int
    of_bits: int
    fraction_bits: int
    shift: int
    tables: tuple[NDArray[np.int64], ...]
    bits: tuple[int, ...]
    error: float

    @property
    def degree(self) -> int:
        """Return the degree of the polynomials, or 0 if the approximation is one table of values."""
        return len(self.tables) - 1


def approximate(x: Integer, curve: Curve, fraction_bits: int) -> Integer:
    """Return the curve's value at a term, before the last rounding: `planned` says how far the value is from the exact
    one.
    """
    found = x.type
    return write(x, planned(curve, found.low, found.high, found.fraction_bits, fraction_bits))


@lru_cache(maxsize=256)
@exactly
def planned(curve: Curve, low: int, high: int, of_bits: int, fraction_bits: int) -> Approximation:
    """Return the cheapest approximation of a curve with an error of at most half a unit; one table of values if 2^12
    entries are enough.

    Before its coefficients are rounded, an approximating polynomial may be off by 2^-(fraction_bits + 3). Taylor's
    remainder on a segment of radius p is at most the sum of |a[k]| p^k over the terms that the polynomial lacks; from
    term `ORDER` on, the sum is bounded by Cauchy's estimate |a[k]| <= M / R^k for a curve that is at most M on a disc
    of radius R. Each coefficient of a polynomial, and each product that is rounded on the way, adds an error of
    2^-(fraction_bits + 5).
    """
    if high - low < 1 << TABLE_BITS:
        values = [curve.taylor(_real(low + i, of_bits), 0).terms[0] for i in range(high - low + 1)]
        return Approximation(
            low, high, of_bits, fraction_bits, 0, (_table(values, fraction_bits),), (fraction_bits,), 0
        )
    goal = 2.0 ** -(fraction_bits + 3)
    found: list[tuple[float, int, int]] = []
    steps = [low + (high - low) * i // (SAMPLES - 1) for i in range(SAMPLES)]
    samples = [curve.taylor(_real(x, of_bits), ORDER) for x in steps]
    for degree in DEGREES:
        greatest = max(float(abs(sample.terms[degree + 1])) for sample in samples)
        radius = (goal / max(greatest, 1e-30)) ** (1 / (degree + 1))
        shift = math.ceil(math.log2(min(2 * radius * 2.0**of_bits, 2.0 * (high - low))))
        while shift > 0 and (price := _price(degree, (high - low >> shift) + 1)) < min(found, default=(math.inf,))[0]:
            if _remainder(curve, _centres(curve, low, high, of_bits, shift), shift - 1 - of_bits, degree) <= goal:
                found.append((price, degree, shift))
                break
            shift -= 1
    if not found:
        raise CircuitizeError(
            f"expected a function that 2^{TABLE_BITS} segments approximate to {fraction_bits} fraction bits, found one "
            f"that moves too fast on [{low * 2.0**-of_bits:g}, {high * 2.0**-of_bits:g}]; ask for fewer fraction bits"
        )
    _, degree, shift = min(found)
    centres = _centres(curve, low, high, of_bits, shift)
    radius_bits = shift - 1 - of_bits
    bits = tuple(max(fraction_bits + 4 + k * radius_bits, 0) for k in range(degree + 1))
    tables = tuple(_table([series.terms[k] for _, series in centres], bits[k]) for k in range(degree + 1))
    units = 2.0**fraction_bits
    error = units * _remainder(curve, centres, radius_bits, degree)
    error += sum(units * 2.0 ** (k * radius_bits - bits[k] - 1) for k in range(degree + 1)) + (degree - 1) / 32
    return Approximation(low, high, of_bits, fraction_bits, shift, tables, bits, error)


def write(x: Integer, plan: Approximation) -> Integer:
    """Add the integer edges of an approximation, without the last rounding; return the value."""
    if not plan.degree:
        return integers.Lookup(plan.low, plan.tables[0], plan.fraction_bits)(x)
    size = 1 << plan.shift
    raised = x.offset(-plan.low)
    segment = integers.Shift(plan.shift)(raised)
    start = integers.Scale(size, plan.shift)(segment)
    rest = integers.Check(0, size - 1)(raised - start)  # Always inside; the types alone cannot see it.
    distance = rest.offset(-(size >> 1))
    segment = integers.Scale(1, -segment.fraction_bits)(segment)
    total = integers.Lookup(0, plan.tables[-1], plan.bits[-1])(segment)
    for k in range(plan.degree - 1, -1, -1):
        if total.type.width + plan.shift > WIDEST:
            total = total.shift_to(plan.bits[k + 1])
        total = total * distance + integers.Lookup(0, plan.tables[k], plan.bits[k])(segment)
    return total


def _price(degree: int, entries: int) -> float:
    """Return roughly how many constraints one element of an approximation costs: with r^2 segments, 4 r for the index,
    r for each table, 24 for a product.

    Compared with a table, a product takes fewer constraints in a proof, and more logic in hardware.
    """
    if entries > 1 << TABLE_BITS:
        return math.inf
    return (5 + degree) * math.sqrt(1 << (entries - 1).bit_length()) + 24 * degree


def _real(units: int, of_bits: int) -> Decimal:
    return CONTEXT.multiply(Decimal(units), CONTEXT.power(Decimal(2), Decimal(-of_bits)))


@lru_cache(maxsize=64)
def _centres(curve: Curve, low: int, high: int, of_bits: int, shift: int) -> tuple[tuple[Decimal, Series], ...]:
    """Return the middle of each segment, and the curve's Taylor series around that middle."""
    units = [low + (i << shift) + (1 << shift - 1) for i in range((high - low >> shift) + 1)]
    middles = [_real(middle, of_bits) for middle in units]
    return tuple((middle, curve.taylor(middle, ORDER)) for middle in middles)


def _remainder(curve: Curve, centres: tuple[tuple[Decimal, Series], ...], radius_bits: int, degree: int) -> float:
    """Return the greatest distance of the polynomials from the curve, on discs of radius 2^radius_bits."""
    radius, greatest = 2.0**radius_bits, 0.0
    for middle, series in centres:
        reach, most = curve.disc(float(middle))
        if 2 * radius > reach:
            return math.inf
        known = sum(abs(float(a)) * radius**k for k, a in enumerate(series.terms) if k > degree)
        unknown = most * (radius / reach) ** (ORDER + 1) / (1 - radius / reach)
        greatest = max(greatest, known + unknown)
    return greatest * (1 + 2.0**-30)


def _table(values: list[Decimal], fraction_bits: int) -> NDArray[np.int64]:
    unit = Decimal(1 << fraction_bits)
    rounded = [int(CONTEXT.multiply(value, unit).to_integral_value(context=CONTEXT)) for value in values]
    table = np.array(rounded, np.int64)
    table.setflags(write=False)
    return table

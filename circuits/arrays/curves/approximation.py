"""Functions of one number in integers, as one table or as polynomials on segments, chosen by cost; their error is
proved.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
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
    cuts: dict[int, _Segments] = {}
    for degree in DEGREES:
        omitted = [float(abs(sample.terms[degree + 1])) for sample in samples]
        steepest = steps[omitted.index(max(omitted))]
        radius = (goal / max(*omitted, 1e-30)) ** (1 / (degree + 1))
        shift = math.ceil(math.log2(min(2 * radius * 2.0**of_bits, 2.0 * (high - low))))
        while shift > 0 and (price := _price(degree, (high - low >> shift) + 1)) < min(found, default=(math.inf,))[0]:
            segments = cuts.setdefault(shift, _Segments(curve, low, high, of_bits, shift))
            # Most cuts that are too coarse are so where the first omitted term is greatest.
            places = (steepest - low >> shift, *range(len(segments)))
            if all(segments.remainder(place, degree) <= goal for place in places):
                found.append((price, degree, shift))
                break
            shift -= 1
    if not found:
        raise CircuitizeError(
            f"expected a function that 2^{TABLE_BITS} segments approximate to {fraction_bits} fraction bits, found one "
            f"that moves too fast on [{low * 2.0**-of_bits:g}, {high * 2.0**-of_bits:g}]; ask for fewer fraction bits"
        )
    _, degree, shift = min(found)
    segments = cuts[shift]
    radius_bits = shift - 1 - of_bits
    bits = tuple(max(fraction_bits + 4 + k * radius_bits, 0) for k in range(degree + 1))
    series = [segments.series(place) for place in range(len(segments))]
    tables = tuple(_table([one.terms[k] for one in series], bits[k]) for k in range(degree + 1))
    units = 2.0**fraction_bits
    error = units * max(segments.remainder(place, degree) for place in range(len(segments)))
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

    A product in fact takes fewer than 24 constraints in a proof, and more logic than that in hardware.
    """
    if entries > 1 << TABLE_BITS:
        return math.inf
    return (5 + degree) * math.sqrt(1 << (entries - 1).bit_length()) + 24 * degree


def _real(units: int, of_bits: int) -> Decimal:
    return CONTEXT.multiply(Decimal(units), CONTEXT.power(Decimal(2), Decimal(-of_bits)))


@dataclass(eq=False)
class _Segments:
    """The segments of 2^shift integers from `low` to `high`, with a Taylor series around the middle of each segment.

    The Taylor series of a segment is computed when it is first needed, in some tenths of a millisecond, and kept.
    """

    curve: Curve
    low: int
    high: int
    of_bits: int
    shift: int
    known: dict[int, Series] = field(default_factory=dict)

    def __len__(self) -> int:
        return (self.high - self.low >> self.shift) + 1

    def middle(self, place: int) -> Decimal:
        """Return the real number in the middle of a segment."""
        return _real(self.low + (place << self.shift) + (1 << self.shift - 1), self.of_bits)

    def series(self, place: int) -> Series:
        """Return the Taylor series of the curve around the middle of a segment."""
        if place not in self.known:
            self.known[place] = self.curve.taylor(self.middle(place), ORDER)
        return self.known[place]

    def remainder(self, place: int, degree: int) -> float:
        """Return a bound of the distance between a segment's polynomial and the curve on the disc around the segment;
        infinity if no bound is known.
        """
        radius = 2.0 ** (self.shift - 1 - self.of_bits)
        reach, most = self.curve.disc(float(self.middle(place)))
        if 2 * radius > reach:
            return math.inf
        omitted = sum(abs(float(a)) * radius**k for k, a in enumerate(self.series(place).terms) if k > degree)
        unknown = most * (radius / reach) ** (ORDER + 1) / (1 - radius / reach)
        return (omitted + unknown) * (1 + 2.0**-30)


def _table(values: list[Decimal], fraction_bits: int) -> NDArray[np.int64]:
    unit = Decimal(1 << fraction_bits)
    rounded = [int(CONTEXT.multiply(value, unit).to_integral_value(context=CONTEXT)) for value in values]
    table = np.array(rounded, np.int64)
    table.setflags(write=False)
    return table

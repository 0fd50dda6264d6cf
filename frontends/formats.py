"""Fixed-point formats without a shape: fraction bits and an interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from numbers import Rational

import numpy as np
from numpy.typing import ArrayLike, NDArray

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.types import Fixed, Shape

from .operands import named
from .provenance import refused


@dataclass(frozen=True, slots=True)
class Format:
    """The integers q in [low, high], each of which stands for q * 2^-fraction_bits."""

    fraction_bits: int
    low: int
    high: int

    def __post_init__(self) -> None:
        """Raise TypingError, with the user's line, unless the bits of a format are whole numbers and its bounds an
        interval.
        """
        for word, number in (("fraction_bits", self.fraction_bits), ("low", self.low), ("high", self.high)):
            _require_whole(word, number)
        if self.low > self.high:
            raise refused(f"expected low <= high, found the interval [{self.low}, {self.high}]; exchange them")

    @classmethod
    def signed(cls, bits: int, fraction_bits: int) -> Format:
        """Return the two's complement format of `bits` bits, sign included."""
        if _require_whole("bits", bits) < 1:
            raise refused(f"expected at least 1 bit, the sign, found {bits}; give more bits")
        return cls(fraction_bits, -(1 << (bits - 1)), (1 << (bits - 1)) - 1)

    @classmethod
    def between(cls, low: float, high: float, fraction_bits: int) -> Format:
        """Return the format of the multiples of 2^-fraction_bits from `low` to `high`, both included.

        Raise CircuitizeError unless the bounds `low` and `high` of a format are multiples of 2^-fraction_bits.
        """
        _require_whole("fraction_bits", fraction_bits)
        for word, bound in (("low", low), ("high", high)):
            if not isinstance(bound, (int, float, np.number)) or not math.isfinite(bound):
                raise refused(f"expected a finite number for {word}, found {named(bound)}; write 0.0 or 1.0")
        ends = [bound * 2.0**fraction_bits for bound in (low, high)]
        if not all(end.is_integer() for end in ends):
            raise CircuitizeError(
                f"expected bounds that are multiples of 2^-{fraction_bits}, found [{low}, {high}]; round them outward"
            )
        return cls(fraction_bits, int(ends[0]), int(ends[1]))

    def of(self, shape: Shape) -> Fixed:
        """Return the wire type of this format and the given shape."""
        return Fixed(shape, self.fraction_bits, self.low, self.high)

    def rounded(self, value: Fraction, name: str = "a number") -> float:
        """Return the multiple of 2^-fraction_bits nearest to an exact number, ties to even.

        Raise CircuitizeError, which calls the number by `name`, if the format does not hold that multiple.
        """
        units = _units(value, self.fraction_bits)
        if not self.low <= units <= self.high:
            ends = [float(end * Fraction(2) ** -self.fraction_bits) for end in (self.low, self.high)]
            raise CircuitizeError(
                f"expected {name} in {ends}, found {float(value):g}; choose another number, or widen the format"
            )
        return math.ldexp(units, -self.fraction_bits)

    def nearest(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return for each value the nearest real number of the format, ties to even, where values beyond the ends of
        the format give these ends.
        """
        rounded = np.rint(np.ldexp(np.asarray(values, np.float64), self.fraction_bits))
        nearest: NDArray[np.float64] = np.ldexp(np.clip(rounded, self.low, self.high), -self.fraction_bits)
        return nearest


@lru_cache(maxsize=256)
def _units(value: Fraction, fraction_bits: int) -> int:
    """Return how many units of 2^-fraction_bits are nearest to a number, ties to even. The last few answers are kept,
    since a training rounds the same rates at each of its steps.
    """
    return round(value * Fraction(2) ** fraction_bits)


def _require_whole(word: str, number: object) -> int:
    if not isinstance(number, (int, np.integer)) or isinstance(number, bool):
        raise refused(f"expected a whole number for {word} of a format, found {named(number)}; write 8")
    return int(number)


WEIGHTS = Format.signed(18, 14)
"""Weights and biases: 18 bits, 14 of them fraction, so [-8, 8)."""

DATA = Format.between(0.0, 1.0, 4)
"""Data in sixteenths from 0 to 1, both included."""

ONE_HOT = Format.between(0.0, 1.0, 0)
"""The format of indicators: 0 or 1."""


def labels(count: int) -> Format:
    """Return the format of whole numbers from 0 to count - 1."""
    return Format(0, 0, count - 1)


LEARNING_RATE = Format.between(0.0, 1.0, 16)
"""Learning rates up to 1, 16 fraction bits."""


def exact_rate(value: object) -> Fraction:
    """Return a learning rate as an exact fraction. Raise CircuitizeError for a learning rate that is no finite
    number.
    """
    if isinstance(value, Rational | float | np.floating) and math.isfinite(value):
        return Fraction(value if isinstance(value, Rational) else float(value))
    raise CircuitizeError(f"expected a finite number as the learning rate, found {value!r}; write 0.1")

"""The natural logarithm: in integers, the operand is normalised, and a table reduces its mantissa."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits import integers
from circuitize.circuits.array_module import array_module
from circuitize.circuits.integers.term import Integer
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Values
from circuitize.circuits.requirement import require
from circuitize.circuits.types import Array, Fixed

from .. import expect
from ..language import RealOperation, Rounding
from ..term import Real
from .exponential import TABLE_BITS
from .into_format import into_format

CONTEXT = Context(prec=50, rounding=ROUND_HALF_UP)
FINEST = 27
"""The most fraction bits of a logarithm that are computed: a result with more has zeros there."""
WIDEST = 32
"""Bits of the mantissa that are kept; an error of 2^-31 in the result is below a tenth of a unit."""
GUARD = 10
"""Fraction bits that are kept beyond the result's while terms are added up."""


@dataclass(frozen=True)
class Log(RealOperation):
    """The natural logarithm of each element. Log is undefined at 0 and below; a lowered Log is also undefined where its
    result leaves the calibrated format.

    Log is lowered to within 1 unit of the last bit of the correctly rounded result (of at most 27 fraction bits); the
    result is correctly rounded if the operand's interval has at most 2^12 integers. An operand of Log with more than
    2^12 integers is normalised to a mantissa m in [1, 2) and an exponent; with c from a table, near 1 / m, and u = m *
    c - 1, log m = -log c + u - u^2 / 2 (Tang, "Table-driven implementation of the logarithm function in IEEE
    floating-point arithmetic", 1990).
    """

    name = "real.log"
    rounding = Rounding.VALUE
    binary: ClassVar[bool] = False
    """Whether the base of the logarithm is 2."""

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 1),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        (x,) = values
        require("logarithm", x > 0, x, "a number above 0", "keep it positive")
        module = array_module(x)
        return (module.asarray(module.log2(x) if self.binary else module.log(x)),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        (x,) = sources
        return [dz / x]

    def proved_error(self, operand: Fixed, result: Fixed) -> float:
        """Return the greatest distance between the lowered logarithm and the exact value, in units of the result's last
        bit.

        The bound on the logarithm's error takes u <= 5/8 * 2^-index, since half a part of [1, 2) and half a bit of c
        are 2^-(index + 1) and 2^-(index + 3); it adds the cube left out and what follows it, the mantissa's bits left
        out, and half of the last kept bit for -log c, u (whose slope is at most 1 + u), half of u^2, the powers of two
        and their offset.
        """
        low, fraction_bits = max(operand.low, 1), min(result.fraction_bits, FINEST)
        if operand.high - low < 1 << TABLE_BITS:
            return 0.5
        width = operand.high.bit_length()
        most = 0.625 * 2.0 ** -_index(min(width, WIDEST) - 1, fraction_bits)
        left_out = most**3 / (3 * (1 - most)) + (2.0 ** (1 - WIDEST) if width > WIDEST else 0.0)
        zeros, half = width - low.bit_length(), 2.0 ** -(fraction_bits + GUARD + 1)
        reduced = left_out + (1 + (1 + most) + 0.5) * half
        error = (reduced + half) / math.log(2) + 2 * half if self.binary else reduced + (zeros + 1) * half
        return (0.5 + error * 2.0**fraction_bits) * 2.0 ** (result.fraction_bits - fraction_bits)

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        (x,) = sources
        found, fraction_bits = x.type, min(lowering.result.fraction_bits, FINEST)
        if found.low < 1:
            x = integers.Check(1, max(found.high, 1))(x)
            found = x.type
        if found.high - found.low < 1 << TABLE_BITS:
            table = logarithms(found.low, found.high, found.fraction_bits, fraction_bits, self.binary)
            return into_format(lowering, integers.Lookup(found.low, table, fraction_bits)(x))
        width, kept = found.high.bit_length(), fraction_bits + GUARD
        excess, zeros = _normalized(x, width)
        if width > WIDEST:
            excess = integers.Shift(width - WIDEST)(excess)
        reduced = _log_of_mantissa(excess, min(width, WIDEST) - 1, fraction_bits)
        if self.binary:
            # One over log 2, to so many bits that its own error is below 2^-(kept + 1).
            inverse = _rounded(CONTEXT.divide(Decimal(1), CONTEXT.ln(Decimal(2))), kept)
            reduced = integers.Scale(inverse, kept)(reduced.shift_to(kept)).shift_to(kept)
            powers = (-zeros).offset(width - 1 - found.fraction_bits)
        else:
            powers = integers.Scale(-_ln2(1, kept), kept)(zeros)
            powers = powers.offset(_ln2(width - 1 - found.fraction_bits, kept))
        return into_format(lowering, powers + reduced)


@dataclass(frozen=True)
class Log2(Log):
    """The logarithm to base 2, lowered as `Log` is. The derivative of Log2 is dz / (x log 2)."""

    name = "real.log2"
    binary = True

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        (x,) = sources
        return [1 / math.log(2) * (dz / x)]


def _normalized(x: Integer, width: int) -> tuple[Integer, Integer]:
    """Return (m - 2^(width - 1), z) without fraction bits, such that the integer m = x * 2^z has its highest bit at
    place width - 1.

    The exponent z is found by a binary search for the highest bit. The Check operations in the search for the mantissa
    always hold, although the types alone do not show it.
    """
    most = width - x.type.low.bit_length()
    x = integers.Scale(1, -x.fraction_bits)(x)
    zeros = x.splat(0, 0)
    for power in range(most.bit_length() - 1, -1, -1):
        bits = 1 << power
        least = 1 << (width - bits)
        short = integers.IsNegative()(x.offset(-least))
        shorter = integers.Check(0, least - 1)(short * x)
        x = x + integers.Scale((1 << bits) - 1, 0)(shorter)
        zeros = zeros + integers.Scale(bits, 0)(short)
    half = 1 << (width - 1)
    return integers.Check(0, half - 1)(x.offset(-half)), zeros


def _log_of_mantissa(excess: Integer, bits: int, fraction_bits: int) -> Integer:
    """Return log(1 + excess * 2^-bits) for an excess in [0, 2^bits), to within a quarter of 2^-fraction_bits.

    In the logarithm of a mantissa, u is at most 2^-index, so u^3 / 3, the first term of the series that is left out, is
    at most an eighth of a unit.
    """
    kept = fraction_bits + GUARD
    index = _index(bits, fraction_bits)
    place = integers.Shift(bits - index)(excess)
    inverses, logs = reductions(index, kept)
    inverse = integers.Lookup(0, inverses, index + 3)(place)
    mantissa = integers.Scale(1, bits - excess.fraction_bits)(excess).offset(1 << bits)
    u = (mantissa * inverse).offset(-(1 << (bits + index + 3))).shift_to(kept)
    bound = 1 << (u.fraction_bits - index)
    u = integers.Check(-bound, bound)(u)  # always holds
    half = integers.Scale(1, 1)((u * u).shift_to(kept))
    return u + integers.Lookup(0, logs, kept)(place) - half


def _index(bits: int, fraction_bits: int) -> int:
    """Return how many bits of the mantissa choose a table's entry."""
    return min(-(-fraction_bits // 3) + 1, bits)


def _ln2(count: int, fraction_bits: int) -> int:
    """Return count * log 2 in units of 2^-fraction_bits, rounded."""
    return _rounded(CONTEXT.multiply(Decimal(count), CONTEXT.ln(Decimal(2))), fraction_bits)


def _rounded(value: Decimal, fraction_bits: int) -> int:
    return int(CONTEXT.multiply(value, Decimal(1 << fraction_bits)).to_integral_value(context=CONTEXT))


@lru_cache(maxsize=64)
def logarithms(low: int, high: int, of_bits: int, fraction_bits: int, binary: bool = False) -> NDArray[np.int64]:
    """Return log(q * 2^-of_bits) * 2^fraction_bits, rounded half up, for q from low >= 1 to high; to base 2 if
    `binary`.
    """
    unit, base = CONTEXT.power(Decimal(2), Decimal(-of_bits)), CONTEXT.ln(Decimal(2))

    def logarithm(q: int) -> Decimal:
        natural = CONTEXT.ln(CONTEXT.multiply(Decimal(low + q), unit))
        return CONTEXT.divide(natural, base) if binary else natural

    return _table(logarithm, high - low + 1, fraction_bits)


@lru_cache(maxsize=64)
def reductions(index: int, fraction_bits: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return tables of c and -log c for each of 2^index equal parts of [1, 2): c with index + 3 fraction bits, -log c
    with the given ones.
    """
    parts, bits = 1 << index, index + 3
    inverses = _table(lambda h: CONTEXT.divide(Decimal(2 * parts), Decimal(2 * (parts + h) + 1)), parts, bits)

    def minus_log(h: int) -> Decimal:
        return -CONTEXT.ln(CONTEXT.divide(Decimal(int(inverses[h])), Decimal(1 << bits)))

    return inverses, _table(minus_log, parts, fraction_bits)


def _table(function: Callable[[int], Decimal], count: int, fraction_bits: int) -> NDArray[np.int64]:
    table = np.array([_rounded(function(index), fraction_bits) for index in range(count)], np.int64)
    table.setflags(write=False)
    return table

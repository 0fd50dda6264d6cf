"""Sine and cosine: in integers, polynomials on segments, computed from turns if the interval holds many turns."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import ClassVar

from circuitize.circuits import integers
from circuitize.circuits.array_module import array_module
from circuitize.circuits.integers.term import Integer
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Array, Fixed

from .. import expect
from ..language import RealOperation, Rounding
from ..term import Real
from .approximation import Curve, approximate, planned
from .into_format import into_format
from .series import CONTEXT, PI, Series, exactly

WIDE = 8.0
"""The widest interval, in radians, that is approximated without first taking turns."""


@dataclass(frozen=True)
class Wave(Curve):
    """The wave sin(x + quarters * pi / 2), or with `turns` sin(2 pi x + quarters * pi / 2)."""

    quarters: int
    turns: bool = False

    @property
    def _frequency(self) -> Decimal:
        return CONTEXT.multiply(Decimal(2), PI) if self.turns else Decimal(1)

    def taylor(self, centre: Decimal, order: int) -> Series:
        frequency = self._frequency
        sine, cosine = exact_sine_and_cosine(CONTEXT.multiply(centre, frequency))
        cycle = (sine, cosine, -sine, -cosine)
        scale, terms = Decimal(1), []
        for k in range(order + 1):
            terms.append(CONTEXT.multiply(cycle[(self.quarters + k) % 4], scale))
            scale = CONTEXT.divide(CONTEXT.multiply(scale, frequency), Decimal(k + 1))
        return Series(tuple(terms))

    def disc(self, centre: float) -> tuple[float, float]:
        return 4.0 / float(self._frequency), math.cosh(4.0)  # |sin z| <= cosh(Im z)


class _Trigonometric(RealOperation):
    """Sine and cosine are lowered to within 1 unit of the last bit of the correctly rounded result; the result is
    correctly rounded if the operand's interval has at most 2^12 integers.

    An operand of more than 8 radians is first converted to turns: for a result of f fraction bits, with k = f + 6 + e
    and |x| < 2^e, the product of x and 2^k / (2 pi), rounded, less its whole part, has f + 6 fraction bits. For a
    result of f fraction bits, the error of an operand that is converted to turns is below 2^-(f + 6) turns.
    """

    rounding = Rounding.VALUE
    quarters: ClassVar[int]

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 1),)

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        (x,), fraction_bits = sources, lowering.result.fraction_bits
        found = x.type
        if not _winds(found):
            return into_format(lowering, approximate(x, Wave(self.quarters), fraction_bits))
        kept = fraction_bits + 6
        exponent = max(max(found.high, -found.low).bit_length() - found.fraction_bits, 0)
        turns = integers.Scale(_inverse(kept + exponent), kept + exponent)(x).shift_to(kept)
        start = integers.Scale(1 << kept, kept)(integers.Shift(kept)(turns))
        part = integers.Check(0, (1 << kept) - 1)(turns - start)  # Always inside; the types alone cannot see it.
        return into_format(lowering, approximate(part, Wave(self.quarters, True), fraction_bits))

    def proved_error(self, operand: Fixed, result: Fixed) -> float:
        """Return the greatest distance between the lowered sine or cosine and the exact value, in units of the result's
        last bit.
        """
        fraction_bits, kept = result.fraction_bits, result.fraction_bits + 6
        if _winds(operand):
            plan = planned(Wave(self.quarters, True), 0, (1 << kept) - 1, kept, fraction_bits)
            return 0.5 + plan.error + 2 * math.pi / 64
        plan = planned(Wave(self.quarters), operand.low, operand.high, operand.fraction_bits, fraction_bits)
        return 0.5 + plan.error

    @abstractmethod
    def run(self, *values: Values) -> tuple[Values, ...]: ...


@dataclass(frozen=True)
class Sin(_Trigonometric):
    """The sine of x radians. The derivative of Sin is dz * cos(x)."""

    name = "real.sin"
    quarters = 0

    def run(self, *values: Values) -> tuple[Values, ...]:
        module = array_module(*values)
        return (module.asarray(module.sin(values[0])),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        return [dz * Cos()(*sources)]


@dataclass(frozen=True)
class Cos(_Trigonometric):
    """The cosine of x radians. The derivative of Cos is -dz * sin(x)."""

    name = "real.cos"
    quarters = 1

    def run(self, *values: Values) -> tuple[Values, ...]:
        module = array_module(*values)
        return (module.asarray(module.cos(values[0])),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        return [dz * -Sin()(*sources)]


def _winds(operand: Fixed) -> bool:
    """Return whether an interval is so wide that it is converted to turns first."""
    spread = operand.high - operand.low
    return spread >= 1 << 12 and spread * 2.0**-operand.fraction_bits > WIDE


@exactly
def exact_sine_and_cosine(x: Decimal) -> tuple[Decimal, Decimal]:
    """Return sin(x) and cos(x) to 40 digits, for |x| up to a thousand, by the Taylor series of x less whole turns."""
    turn = CONTEXT.multiply(Decimal(2), PI)
    rest = CONTEXT.fma(-CONTEXT.divide(x, turn).to_integral_value(), turn, x)
    square, least = rest * rest, Decimal("1e-48")
    found = []
    for term, k in ((rest, 1), (Decimal(1), 0)):
        total = Decimal(0)
        while abs(term) > least:
            total += term
            term = -(term * square) / ((k + 1) * (k + 2))
            k += 2
        found.append(total)
    return found[0], found[1]


@lru_cache(maxsize=64)
def _inverse(fraction_bits: int) -> int:
    """Return 2^fraction_bits / (2 pi), rounded to an integer."""
    scaled = CONTEXT.divide(Decimal(1 << fraction_bits), CONTEXT.multiply(Decimal(2), PI))
    return int(scaled.to_integral_value(context=CONTEXT))

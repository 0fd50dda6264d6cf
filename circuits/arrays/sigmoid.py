"""Sigmoid and hyperbolic tangent, in integers by one table, or by an exponential and a division."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits import integers
from circuitize.circuits.array_module import array_module
from circuitize.circuits.builder import Builder
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Array, Fixed

from . import expect
from .confine import confine
from .constant import Constant
from .division import rounded_quotient
from .elementwise import Multiply, Subtract
from .exponential import TABLE_BITS, exponential
from .language import RealOperation, Rounding


class _Saturating(RealOperation):
    """A function g of e = e^(-rate * |x|), reflected for negative x, that is constant to within half a unit far out.

    Lowered to within 1 unit of the last bit of the correctly rounded result, correctly rounded where the operand,
    clamped to where the function still moves, has at most 2^12 integers: then it is one table.
    """

    rounding = Rounding.VALUE
    rate: ClassVar[int]

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 1),)

    def lower(self, lowering: Lowering, *sources: int) -> list[int]:
        builder, (x,), fraction_bits = lowering.builder, sources, lowering.result.fraction_bits
        found = lowering.type(x)
        # From here on rate * |x| exceeds (fraction_bits + 2) log 2, so that e is less than a quarter of a unit.
        limit = math.ceil((fraction_bits + 2) * math.log(2) * 2.0**found.fraction_bits / self.rate)
        low, high = (min(max(end, -limit), limit) for end in (found.low, found.high))
        if high - low < 1 << TABLE_BITS:
            if (low, high) != (found.low, found.high):
                x = builder.add(integers.Clamp(-limit, limit), x)
            table = saturating_table(self.rate, low, high, found.fraction_bits, fraction_bits)
            return [confine(lowering, builder.add(integers.Lookup(low, table, fraction_bits), x))]
        negative = builder.add(integers.IsNegative(), x)
        magnitude = builder.add(integers.Select(), negative, builder.add(integers.Scale(-1, 0), x), x)
        most = max(found.high, -found.low)
        bounded = integers.Clamp(0, limit) if most > limit else integers.Check(0, most)
        exponent = builder.add(integers.Scale(-self.rate, 0), builder.add(bounded, magnitude))
        # Three bits more: an error of one unit there is one of a quarter unit here at most.
        kept = Fixed(found.shape, fraction_bits + 3, 0, 1 << (fraction_bits + 3))
        small = lowering.shift_to(exponential(lowering, exponent, kept), kept.fraction_bits)
        above = self._of_exponential(lowering, small, fraction_bits)
        below = self._reflected(lowering, above)
        return [confine(lowering, builder.add(integers.Select(), negative, below, above))]

    @abstractmethod
    def _of_exponential(self, lowering: Lowering, small: int, fraction_bits: int) -> int:
        """g(e) with so many fraction bits."""

    @abstractmethod
    def _reflected(self, lowering: Lowering, wire: int) -> int:
        """The value at -x from that at x."""


@dataclass(frozen=True)
class Sigmoid(_Saturating):
    """1 / (1 + e^-x). Lowered to within 1 unit of correct rounding; far out it is 0 or 1, and defined everywhere."""

    name = "real.sigmoid"
    rate = 1

    def run(self, *values: Values) -> tuple[Values, ...]:
        (x,) = values
        module = array_module(x)
        small = module.exp(-abs(x))
        return (module.asarray(module.where(x < 0, small, 1.0) / (1.0 + small)),)

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        one = builder.add(Constant.splat(1.0, builder.type(targets[0]).shape))
        slope = builder.add(Multiply(), targets[0], builder.add(Subtract(), one, targets[0]))
        return [builder.add(Multiply(), cotangents[0], slope)]

    def _of_exponential(self, lowering: Lowering, small: int, fraction_bits: int) -> int:
        one = lowering.constant(1 << lowering.type(small).fraction_bits, lowering.type(small))
        return rounded_quotient(lowering, one, lowering.builder.add(integers.Add(), one, small), fraction_bits)

    def _reflected(self, lowering: Lowering, wire: int) -> int:
        found = lowering.type(wire)
        one = lowering.constant(1 << found.fraction_bits, found)
        return lowering.builder.add(integers.Subtract(), one, wire)


@dataclass(frozen=True)
class Tanh(_Saturating):
    """The hyperbolic tangent. Lowered to within 1 unit of correct rounding; far out it is -1 or 1."""

    name = "real.tanh"
    rate = 2

    def run(self, *values: Values) -> tuple[Values, ...]:
        module = array_module(*values)
        return (module.asarray(module.tanh(values[0])),)

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        one = builder.add(Constant.splat(1.0, builder.type(targets[0]).shape))
        slope = builder.add(Subtract(), one, builder.add(Multiply(), targets[0], targets[0]))
        return [builder.add(Multiply(), cotangents[0], slope)]

    def _of_exponential(self, lowering: Lowering, small: int, fraction_bits: int) -> int:
        builder = lowering.builder
        one = lowering.constant(1 << lowering.type(small).fraction_bits, lowering.type(small))
        difference = builder.add(integers.Subtract(), one, small)
        return rounded_quotient(lowering, difference, builder.add(integers.Add(), one, small), fraction_bits)

    def _reflected(self, lowering: Lowering, wire: int) -> int:
        return lowering.builder.add(integers.Scale(-1, 0), wire)


@lru_cache(maxsize=64)
def saturating_table(rate: int, low: int, high: int, of_bits: int, fraction_bits: int) -> NDArray[np.int64]:
    """Sigmoid (rate 1) or tanh (rate 2) of q * 2^-of_bits, times 2^fraction_bits, rounded half up, q from low to high.

    Both are rate / (1 + e^(-rate * x)) - (rate - 1).
    """
    context = Context(prec=50, rounding=ROUND_HALF_UP)
    unit, one = context.power(Decimal(2), Decimal(-of_bits)), Decimal(1)
    table = np.empty(high - low + 1, np.int64)
    for index in range(len(table)):
        small = context.exp(context.multiply(Decimal(-rate * (low + index)), unit))
        value = context.subtract(context.divide(Decimal(rate), context.add(one, small)), Decimal(rate - 1))
        table[index] = int(context.multiply(value, Decimal(1 << fraction_bits)).to_integral_value(context=context))
    table.setflags(write=False)
    return table

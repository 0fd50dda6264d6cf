"""Numbers kept between two bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from circuitize.circuits import integers
from circuitize.circuits.array_module import array_module
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import TypingError
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Array

from . import expect
from .comparison import Greater, Select, zeros_like
from .constant import Constant
from .elementwise import Multiply
from .language import RealOperation, Rounding


@dataclass(frozen=True)
class Clip(RealOperation):
    """low where x < low, high where x > high, else x. The derivative is dz in between, 0 elsewhere, the ends included.

    Lowered exactly on the rounded operand; a bound that the operand's fraction bits do not hold is rounded to them.
    """

    name = "real.clip"
    rounding = Rounding.VALUE

    low: float
    high: float

    def __post_init__(self) -> None:
        low, high = float(self.low) + 0.0, float(self.high) + 0.0
        if not (low < high and math.isfinite(low) and math.isfinite(high)):
            raise TypingError(f"expected finite bounds in order, found {low} and {high}; give the lower one first")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 1),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        module = array_module(values[0])
        return (module.asarray(module.minimum(module.maximum(values[0], self.low), self.high)),)

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        (z,), (cotangent,) = targets, cotangents
        shape = builder.type(z).shape
        above = builder.add(Greater(), z, builder.add(Constant.splat(self.low, shape)))
        below = builder.add(Greater(), builder.add(Constant.splat(self.high, shape)), z)
        inside = builder.add(Multiply(), above, below)
        return [builder.add(Select(), inside, cotangent, zeros_like(builder, z))]

    def lower(self, lowering: Lowering, *sources: int) -> list[int]:
        bits = lowering.type(sources[0]).fraction_bits
        low, high = (int(np.rint(math.ldexp(bound, bits))) for bound in (self.low, self.high))
        return [lowering.builder.add(integers.Clamp(low, high), sources[0])]

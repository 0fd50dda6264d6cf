"""An operation that keeps numbers between two bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from circuitize.circuits import integers
from circuitize.circuits.array_module import array_module
from circuitize.circuits.errors import TypingError
from circuitize.circuits.integers.term import Integer
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Array

from .. import expect
from ..language import RealOperation, Rounding
from ..term import Real
from .comparison import Select


@dataclass(frozen=True)
class Clip(RealOperation):
    """Clip: low where x < low, high where x > high, else x. The derivative of Clip is dz strictly between the bounds,
    and 0 at the bounds and beyond.

    Clip is lowered exactly on the rounded operand; a bound that has more fraction bits than the operand is rounded to
    the operand's.
    """

    name = "real.clip"
    rounding = Rounding.VALUE
    exact = True

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

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        above = z > self.low
        inside = above * (z.constant(self.high) > z)
        return [Select()(inside, dz, z.constant(0.0))]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        (x,) = sources
        low, high = (int(np.rint(math.ldexp(bound, x.fraction_bits))) for bound in (self.low, self.high))
        return integers.Clamp(low, high)(x)

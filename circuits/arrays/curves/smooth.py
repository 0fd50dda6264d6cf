"""Smooth functions of one number that become constant or the identity far from 0, and their lowering."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import ClassVar

from circuitize.circuits import integers
from circuitize.circuits.integers.term import Integer
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.types import Array, Fixed

from .. import expect
from ..language import RealOperation, Rounding
from .approximation import Curve, approximate, planned
from .into_format import into_format


class Smooth(RealOperation, Curve):
    """An analytic function that tends to a constant for large negative x, and for large positive x to a constant or to
    x.

    Smooth is lowered to within 1 unit of the last bit of the correctly rounded result; the result is correctly rounded
    if the operand, clamped to where the function still bends, has at most 2^12 integers: then the function is one
    table. A smooth function is defined everywhere.
    """

    rounding = Rounding.VALUE
    follows: ClassVar[bool] = False
    """Whether the function tends to x far to the right."""

    @abstractmethod
    def reach(self, distance: float) -> float:
        """Return a number x such that from x on, and below -x, the function is within `distance` of its limit, and
        always on the same side of the limit.
        """

    def proved_error(self, operand: Fixed, result: Fixed) -> float:
        """Return the greatest distance between the lowered function and the exact value, in units of the result's last
        bit.
        """
        fraction_bits = result.fraction_bits
        limit = self._limit(operand, fraction_bits)
        low, high = max(operand.low, -limit), min(operand.high, limit)
        clamped = (low, high) != (operand.low, operand.high)
        return 0.5 + planned(self, low, high, operand.fraction_bits, fraction_bits).error + clamped / 8

    def _limit(self, operand: Fixed, fraction_bits: int) -> int:
        """Return the operand, in its units, from which on the function is within an eighth of a unit of the result's
        limit.
        """
        return math.ceil(self.reach(2.0 ** -(fraction_bits + 3)) * 2.0**operand.fraction_bits)

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 1),)

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        (x,), fraction_bits = sources, lowering.result.fraction_bits
        found = x.type
        limit = self._limit(found, fraction_bits)
        near = integers.Clamp(-limit, limit)(x) if found.low < -limit or found.high > limit else x
        made = approximate(near, self, fraction_bits)
        if self.follows and found.high > limit:
            made = made + integers.ReLU()(x.offset(-limit))
        return into_format(lowering, made)

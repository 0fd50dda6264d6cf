"""Huber's loss, which is quadratic near 0 and linear beyond."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from circuitize.circuits.errors import TypingError

from ..arithmetic.reductions import Mean
from ..composite import Composite
from ..layout.movement import Broadcast
from ..piecewise.clip import Clip
from ..term import Real


@dataclass(frozen=True)
class Huber(Composite):
    """The mean of c * (r - c / 2), where r = x - y and c is r clipped to [-delta, delta]. The derivative of Huber is c
    * dz / count for x, where c is x - y clipped to [-delta, delta], and its negative for y.

    The terms of Huber's loss are r^2 / 2 where |r| <= delta, else delta * (|r| - delta / 2), with r = x - y.
    """

    name = "real.huber"
    arity = 2

    delta: float = 1.0

    def __post_init__(self) -> None:
        if not (self.delta > 0 and math.isfinite(self.delta)):
            raise TypingError(f"expected a positive delta, found {self.delta}; it is where the loss becomes linear")

    def define(self, *sources: Real) -> Real:
        x, y = sources
        r = x - y
        c = Clip(-self.delta, self.delta)(r)
        return Mean(tuple(range(r.ndim)))(c * (r - 0.5 * c))

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        x, y = sources
        c = Clip(-self.delta, self.delta)(x - y)
        share = dz * (1 / math.prod(c.shape))
        slope = c * Broadcast(c.shape, tuple(range(c.ndim)))(share)
        return [slope, -slope]

"""The composites that come with the language: square, mean, maximum and softmax."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from . import expect
from .comparison import Max, ReLU
from .composite import Composite
from .exponential import Exp
from .layout import Broadcast, Sum
from .reciprocal import Reciprocal
from .term import Real


@dataclass(frozen=True)
class Square(Composite):
    """x * x."""

    name = "real.square"

    def define(self, *sources: Real) -> Real:
        (x,) = sources
        return x * x

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        (x,) = sources
        return [2.0 * (dz * x)]


@dataclass(frozen=True)
class Mean(Composite):
    """The mean over some axes, which are removed."""

    name = "real.mean"

    axes: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", expect.distinct(self.axes))

    def define(self, *sources: Real) -> Real:
        (x,) = sources
        expect.axes_within(self.axes, x.ndim)
        return Sum(self.axes)(x) * (1 / math.prod(x.shape[axis] for axis in self.axes))


@dataclass(frozen=True)
class Maximum(Composite):
    """The greater of x and y, of one shape: x + max(y - x, 0). At a tie the cotangent goes to x.

    The derivative compares max(y - x, 0) with 0: in a circuit that costs less than a sign.
    """

    name = "real.maximum"
    arity = 2

    def define(self, *sources: Real) -> Real:
        x, y = sources
        return x + ReLU()(y - x)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        x, y = sources
        above = ReLU()(y - x)
        of_y = (above > 0.0) * dz
        return [dz - of_y, of_y]


@dataclass(frozen=True)
class Softmax(Composite):
    """e^(x - m) / sum of e^(x - m) along an axis, m the maximum along it: exponents are at most 0, the sum at least 1.

    The derivative is y * (dy - sum of dy * y): what m adds to it cancels exactly, so it is left out.
    """

    name = "real.softmax"

    axis: int

    def define(self, *sources: Real) -> Real:
        (x,) = sources
        expect.axes_within([self.axis], x.ndim)
        spread = Broadcast(x.shape, (self.axis,))
        exponentials = Exp()(x - spread(Max(self.axis)(x)))
        return exponentials * spread(Reciprocal()(Sum((self.axis,))(exponentials)))

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        along = Sum((self.axis,))(dz * z)
        return [(dz - Broadcast(z.shape, (self.axis,))(along)) * z]

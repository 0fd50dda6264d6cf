"""Softmax and its logarithm, and the logarithm of a sum of exponentials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .. import expect
from ..composite import Composite
from ..curves.exponential import Exp
from ..curves.logarithm import Log
from ..curves.reciprocal import Reciprocal
from ..layout.movement import Broadcast, Sum
from ..piecewise.extrema import Max
from ..term import Real


@dataclass(frozen=True)
class Softmax(Composite):
    """e^(x - m) / sum of e^(x - m) along an axis, where m is the maximum along the axis: exponents are at most 0, the
    sum is at least 1.

    The derivative of Softmax is y * (dy - sum of dy * y): the part of the derivative that comes from the maximum m
    cancels exactly, so it is left out.
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


@dataclass(frozen=True)
class LogSumExp(Composite):
    """The logarithm of the sum of e^x along an axis, which the result lacks: m + log of the sum of e^(x - m), where m
    is the maximum.

    The derivative of LogSumExp is dz * softmax(x).
    """

    name = "real.log_sum_exp"

    axis: int

    def define(self, *sources: Real) -> Real:
        (x,) = sources
        expect.axes_within([self.axis], x.ndim)
        greatest = Max(self.axis)(x)
        centred = x - Broadcast(x.shape, (self.axis,))(greatest)
        return greatest + Log()(Sum((self.axis,))(Exp()(centred)))

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        (x,) = sources
        return [Broadcast(x.shape, (self.axis,))(dz) * Softmax(self.axis)(x)]


@dataclass(frozen=True)
class LogSoftmax(Composite):
    """x less the logarithm of the sum of e^x along an axis. The derivative of LogSoftmax is dz - softmax(x) * sum of
    dz.
    """

    name = "real.log_softmax"

    axis: int

    def define(self, *sources: Real) -> Real:
        (x,) = sources
        total = LogSumExp(self.axis)(x)
        return x - Broadcast(x.shape, (self.axis,))(total)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        (x,) = sources
        spread = Broadcast(x.shape, (self.axis,))(Sum((self.axis,))(dz))
        return [dz - spread * Softmax(self.axis)(x)]

"""Composites for classification: log-softmax and the cross-entropies, with their fused derivatives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from . import expect
from .comparison import Max
from .composite import Composite
from .composites import Mean, Softmax
from .exponential import Exp
from .layout import Broadcast, Sum
from .logarithm import Log
from .sigmoid import Sigmoid
from .softplus import Softplus
from .term import Real


@dataclass(frozen=True)
class LogSumExp(Composite):
    """log of the sum of e^x along an axis, which is removed: m + log of the sum of e^(x - m), m the maximum.

    The derivative is dz * softmax(x).
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
    """x - log of the sum of e^x along an axis. The derivative is dz - softmax(x) * sum of dz."""

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


@dataclass(frozen=True)
class CrossEntropy(Composite):
    """The mean over the examples b of log(sum over c of e^x[b, c]) - sum over c of t[b, c] * x[b, c].

    Sources: logits x and targets t, both [B, C]. Where each row of t sums to 1, as indicators do, this is the
    cross-entropy -sum of t * log softmax(x). In this form the derivative is (softmax(x) - t) * dz / B for every t, so a
    program need not be trusted to be given rows that sum to 1: M. Blondel et al., "Learning with Fenchel-Young losses",
    JMLR 2020, table 1.
    """

    name = "real.cross_entropy"
    arity = 2

    def define(self, *sources: Real) -> Real:
        x, t = sources
        expect.axes_within([1], x.ndim)
        attained = Sum((1,))(t * x)
        return Mean((0,))(LogSumExp(1)(x) - attained)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        x, t = sources
        return _mean_of(x.shape[0], dz, Softmax(1)(x) - t, -x)


@dataclass(frozen=True)
class BinaryCrossEntropy(Composite):
    """The mean over all elements of log(1 + e^x) - t * x: the cross-entropy of targets t in [0, 1] and sigmoid(x).

    Sources: logits x and targets t of one shape. The derivative is (sigmoid(x) - t) * dz / count.
    """

    name = "real.binary_cross_entropy"
    arity = 2

    def define(self, *sources: Real) -> Real:
        x, t = sources
        return Mean(tuple(range(x.ndim)))(Softplus()(x) - t * x)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        x, t = sources
        return _mean_of(math.prod(x.shape), dz, Sigmoid()(x) - t, -x)


def _mean_of(count: int, dz: Real, *slopes: Real) -> list[Real]:
    """Each slope times dz / count."""
    shape = slopes[0].shape
    spread = Broadcast(shape, tuple(range(len(shape))))(dz * (1 / count))
    return [slope * spread for slope in slopes]

"""The cross-entropies of classification, with their fused derivatives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .. import expect
from ..arithmetic.reductions import Mean
from ..composite import Composite
from ..curves.sigmoid import Sigmoid
from ..curves.softplus import Softplus
from ..layout.movement import Broadcast, Sum
from ..term import Real
from .softmax import LogSumExp, Softmax


@dataclass(frozen=True)
class CrossEntropy(Composite):
    """The mean over the examples b of log(sum over c of e^x[b, c]) - sum over c of t[b, c] * x[b, c].

    The sources of CrossEntropy are logits x and targets t, both of shape [B, C]. If each row of t sums to 1, as
    indicators do, the loss is the cross-entropy -sum of t * log softmax(x). The derivative of CrossEntropy with respect
    to x is (softmax(x) - t) * dz / B for every t, so nobody needs to trust that the rows of t which a program is given
    sum to 1 (M. Blondel et al., "Learning with Fenchel-Young losses", JMLR 2020, table 1).
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

    The sources of BinaryCrossEntropy are logits x and targets t of one shape. The derivative of BinaryCrossEntropy is
    (sigmoid(x) - t) * dz / count.
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
    """Return the derivatives of a mean of `count` terms: each slope multiplied by dz / count."""
    shape = slopes[0].shape
    spread = Broadcast(shape, tuple(range(len(shape))))(dz * (1 / count))
    return [slope * spread for slope in slopes]

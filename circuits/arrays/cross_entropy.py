"""Composites for classification: log-softmax and the cross-entropies, with their fused derivatives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from circuitize.circuits.builder import Builder
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.types import Array, Shape

from . import expect
from .comparison import Max
from .composite import Composite
from .composites import Mean, Softmax
from .elementwise import Add, Multiply, Negate, Scale, Subtract
from .exponential import Exp
from .layout import Broadcast, Sum
from .logarithm import Log
from .sigmoid import Sigmoid
from .softplus import Softplus


@dataclass(frozen=True)
class LogSumExp(Composite):
    """log of the sum of e^x along an axis, which is removed: m + log of the sum of e^(x - m), m the maximum.

    The derivative is dz * softmax(x).
    """

    name = "real.log_sum_exp"

    axis: int

    def definition(self, *sources: Array) -> Arrow:
        expect.arrays(sources, 1)
        shape = sources[0].shape
        expect.axes_within([self.axis], len(shape))
        builder = Builder()
        x = builder.input(sources[0])
        greatest = builder.add(Max(self.axis), x)
        centred = builder.add(Subtract(), x, builder.add(Broadcast(shape, (self.axis,)), greatest))
        total = builder.add(Sum((self.axis,)), builder.add(Exp(), centred))
        return builder.build([builder.add(Add(), greatest, builder.add(Log(), total))])

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        spread = builder.add(Broadcast(builder.type(sources[0]).shape, (self.axis,)), cotangents[0])
        return [builder.add(Multiply(), spread, builder.add(Softmax(self.axis), sources[0]))]


@dataclass(frozen=True)
class LogSoftmax(Composite):
    """x - log of the sum of e^x along an axis. The derivative is dz - softmax(x) * sum of dz."""

    name = "real.log_softmax"

    axis: int

    def definition(self, *sources: Array) -> Arrow:
        expect.arrays(sources, 1)
        builder = Builder()
        x = builder.input(sources[0])
        total = builder.add(LogSumExp(self.axis), x)
        return builder.build(
            [builder.add(Subtract(), x, builder.add(Broadcast(sources[0].shape, (self.axis,)), total))]
        )

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        shape, (cotangent,) = builder.type(sources[0]).shape, cotangents
        spread = builder.add(Broadcast(shape, (self.axis,)), builder.add(Sum((self.axis,)), cotangent))
        weighted = builder.add(Multiply(), spread, builder.add(Softmax(self.axis), sources[0]))
        return [builder.add(Subtract(), cotangent, weighted)]


@dataclass(frozen=True)
class CrossEntropy(Composite):
    """The mean over the examples b of log(sum over c of e^x[b, c]) - sum over c of t[b, c] * x[b, c].

    Sources: logits x and targets t, both [B, C]. Where each row of t sums to 1, as indicators do, this is the
    cross-entropy -sum of t * log softmax(x). In this form the derivative is (softmax(x) - t) * dz / B for every t, so a
    program need not be trusted to be given rows that sum to 1: M. Blondel et al., "Learning with Fenchel-Young losses",
    JMLR 2020, table 1.
    """

    name = "real.cross_entropy"

    def definition(self, *sources: Array) -> Arrow:
        shape = expect.one_shape(sources, 2).shape
        expect.axes_within([1], len(shape))
        builder = Builder()
        x, t = builder.inputs(sources)
        attained = builder.add(Sum((1,)), builder.add(Multiply(), t, x))
        rows = builder.add(Subtract(), builder.add(LogSumExp(1), x), attained)
        return builder.build([builder.add(Mean((0,)), rows)])

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        x, t = sources
        shape = builder.type(x).shape
        difference = builder.add(Subtract(), builder.add(Softmax(1), x), t)
        return _mean_of(builder, shape, shape[0], cotangents[0], difference, builder.add(Negate(), x))


@dataclass(frozen=True)
class BinaryCrossEntropy(Composite):
    """The mean over all elements of log(1 + e^x) - t * x: the cross-entropy of targets t in [0, 1] and sigmoid(x).

    Sources: logits x and targets t of one shape. The derivative is (sigmoid(x) - t) * dz / count.
    """

    name = "real.binary_cross_entropy"

    def definition(self, *sources: Array) -> Arrow:
        shape = expect.one_shape(sources, 2).shape
        builder = Builder()
        x, t = builder.inputs(sources)
        elements = builder.add(Subtract(), builder.add(Softplus(), x), builder.add(Multiply(), t, x))
        return builder.build([builder.add(Mean(tuple(range(len(shape)))), elements)])

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        x, t = sources
        shape = builder.type(x).shape
        difference = builder.add(Subtract(), builder.add(Sigmoid(), x), t)
        return _mean_of(builder, shape, math.prod(shape), cotangents[0], difference, builder.add(Negate(), x))


def _mean_of(builder: Builder, shape: Shape, count: int, cotangent: int, *slopes: int) -> list[int | None]:
    """Each slope times cotangent / count."""
    spread = builder.add(Broadcast(shape, tuple(range(len(shape)))), builder.add(Scale(1 / count), cotangent))
    return [builder.add(Multiply(), slope, spread) for slope in slopes]

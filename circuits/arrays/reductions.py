"""Composites along an axis: the least element, the product, sums so far, and where the greatest elements are."""

from __future__ import annotations

from dataclasses import dataclass

from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import TypingError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.types import Array

from . import expect
from .comparison import ArgMaxOneHot, Max, Select
from .composite import Composite
from .constant import Constant
from .elementwise import Multiply, Negate, Subtract
from .layout import Broadcast, Concatenate, Pad, Reshape, Slice, Sum
from .window import Window


@dataclass(frozen=True)
class Min(Composite):
    """The least element along one axis, which is removed; the cotangent goes to the first of several least."""

    name = "real.min"

    axis: int

    def definition(self, *sources: Array) -> Arrow:
        expect.arrays(sources, 1)
        builder = Builder()
        negated = builder.add(Negate(), builder.input(sources[0]))
        return builder.build([builder.add(Negate(), builder.add(Max(self.axis), negated))])


@dataclass(frozen=True)
class Product(Composite):
    """The product along one axis, which is removed: ceil(log2 n) levels of pairwise products, each rounded.

    The derivative is that of the definition: the products of the others, right at zeros too.
    """

    name = "real.product"

    axis: int

    def definition(self, *sources: Array) -> Arrow:
        expect.arrays(sources, 1)
        expect.axes_within([self.axis], len(sources[0].shape))
        builder = Builder()
        wire, axis = builder.input(sources[0]), self.axis
        while (extent := builder.type(wire).shape[axis]) > 1:
            half = extent // 2
            pairs = builder.add(
                Multiply(), _part(builder, wire, axis, 0, half), _part(builder, wire, axis, half, 2 * half)
            )
            if extent % 2:
                pairs = builder.add(Concatenate(axis), pairs, _part(builder, wire, axis, extent - 1, extent))
            wire = pairs
        shape = builder.type(wire).shape
        return builder.build([builder.add(Reshape(shape[:axis] + shape[axis + 1 :]), wire)])


@dataclass(frozen=True)
class CumulativeSum(Composite):
    """y[.., p, ..] = the sum of x[.., i, ..] for i up to p, along one axis. Lowered exactly, quadratic in its extent.

    With `exclusive`, i < p; with `backward`, from the other end: i from p on, or i > p.
    """

    name = "real.cumulative_sum"

    axis: int
    exclusive: bool = False
    backward: bool = False

    def definition(self, *sources: Array) -> Arrow:
        expect.arrays(sources, 1)
        expect.axes_within([self.axis], len(sources[0].shape))
        shape, axis = sources[0].shape, self.axis
        extent, zeros = shape[axis], [0] * len(shape)
        builder = Builder()
        before, after = zeros.copy(), zeros.copy()
        (after if self.backward else before)[axis] = extent - 1 + self.exclusive
        wire = builder.add(Pad(tuple(before), tuple(after)), builder.input(sources[0]))
        if self.exclusive:
            start = int(self.backward)
            wire = _part(builder, wire, axis, start, start + 2 * extent - 1)
        windows = builder.add(Window((axis,), (extent,), (1,)), wire)
        return builder.build([builder.add(Sum((len(shape),)), windows)])


@dataclass(frozen=True)
class TopKOneHot(Composite):
    """Where the k greatest elements along an axis are, greatest first: k arrays of 0 and 1 in a new axis before it.

    Of equal elements the one of lower index comes first. The derivative is zero. The values are the sum along the axis
    of x times this, the indices that of 0, 1, ... times this.
    """

    name = "real.top_k_one_hot"

    k: int
    axis: int

    def definition(self, *sources: Array) -> Arrow:
        expect.arrays(sources, 1)
        shape, axis = sources[0].shape, self.axis
        expect.axes_within([axis], len(shape))
        if not 1 <= self.k <= shape[axis]:
            raise TypingError(f"expected k from 1 to {shape[axis]} along axis {axis}, found {self.k}; take fewer")
        builder = Builder()
        x = builder.input(sources[0])
        wide = (*shape[:axis], 1, *shape[axis:])
        hots = []
        for rest in range(self.k, 0, -1):
            hot = builder.add(ArgMaxOneHot(axis), x)
            hots.append(builder.add(Reshape(wide), hot))
            if rest > 1:
                least = builder.add(Min(axis), x)
                one = builder.add(Constant.splat(1.0, builder.type(least).shape))
                below = builder.add(Broadcast(shape, (axis,)), builder.add(Subtract(), least, one))
                x = builder.add(Select(), hot, below, x)
        return builder.build([builder.add(Concatenate(axis), *hots)])


def _part(builder: Builder, wire: int, axis: int, start: int, stop: int) -> int:
    """The elements from start to stop along an axis."""
    shape = builder.type(wire).shape
    starts = tuple(start if i == axis else 0 for i in range(len(shape)))
    stops = tuple(stop if i == axis else extent for i, extent in enumerate(shape))
    return builder.add(Slice(starts, stops), wire)

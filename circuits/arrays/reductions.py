"""Composites along an axis: the least element, the product, sums so far, and where the greatest elements are."""

from __future__ import annotations

from dataclasses import dataclass

from circuitize.circuits.errors import TypingError

from . import expect
from .comparison import ArgMaxOneHot, Max, Select
from .composite import Composite
from .layout import Broadcast, Concatenate, Pad, Reshape, Slice, Sum
from .term import Real
from .window import Window


@dataclass(frozen=True)
class Min(Composite):
    """The least element along one axis, which is removed; the cotangent goes to the first of several least."""

    name = "real.min"

    axis: int

    def define(self, *sources: Real) -> Real:
        (x,) = sources
        return -Max(self.axis)(-x)


@dataclass(frozen=True)
class Product(Composite):
    """The product along one axis, which is removed: ceil(log2 n) levels of pairwise products, each rounded.

    The derivative is that of the definition: the products of the others, right at zeros too.
    """

    name = "real.product"

    axis: int

    def define(self, *sources: Real) -> Real:
        axis, (x,) = self.axis, sources
        expect.axes_within([axis], x.ndim)
        while (extent := x.shape[axis]) > 1:
            half = extent // 2
            pairs = _part(x, axis, 0, half) * _part(x, axis, half, 2 * half)
            x = Concatenate(axis)(pairs, _part(x, axis, extent - 1, extent)) if extent % 2 else pairs
        return Reshape(x.shape[:axis] + x.shape[axis + 1 :])(x)


@dataclass(frozen=True)
class CumulativeSum(Composite):
    """y[.., p, ..] = the sum of x[.., i, ..] for i up to p, along one axis. Lowered exactly, quadratic in its extent.

    With `exclusive`, i < p; with `backward`, from the other end: i from p on, or i > p.
    """

    name = "real.cumulative_sum"

    axis: int
    exclusive: bool = False
    backward: bool = False

    def define(self, *sources: Real) -> Real:
        axis, (x,) = self.axis, sources
        expect.axes_within([axis], x.ndim)
        extent, zeros = x.shape[axis], [0] * x.ndim
        before, after = zeros.copy(), zeros.copy()
        (after if self.backward else before)[axis] = extent - 1 + self.exclusive
        padded = Pad(tuple(before), tuple(after))(x)
        if self.exclusive:
            start = int(self.backward)
            padded = _part(padded, axis, start, start + 2 * extent - 1)
        return Sum((x.ndim,))(Window((axis,), (extent,), (1,))(padded))


@dataclass(frozen=True)
class TopKOneHot(Composite):
    """Where the k greatest elements along an axis are, greatest first: k arrays of 0 and 1 in a new axis before it.

    Of equal elements the one of lower index comes first. The derivative is zero. The values are the sum along the axis
    of x times this, the indices that of 0, 1, ... times this.
    """

    name = "real.top_k_one_hot"

    k: int
    axis: int

    def define(self, *sources: Real) -> Real:
        axis, (x,) = self.axis, sources
        shape = x.shape
        expect.axes_within([axis], len(shape))
        if not 1 <= self.k <= shape[axis]:
            raise TypingError(f"expected k from 1 to {shape[axis]} along axis {axis}, found {self.k}; take fewer")
        wide = (*shape[:axis], 1, *shape[axis:])
        hots = []
        for rest in range(self.k, 0, -1):
            hot = ArgMaxOneHot(axis)(x)
            hots.append(Reshape(wide)(hot))
            if rest > 1:
                x = Select()(hot, Broadcast(shape, (axis,))(Min(axis)(x) - 1.0), x)
        return Concatenate(axis)(*hots)


def _part(x: Real, axis: int, start: int, stop: int) -> Real:
    """The elements from start to stop along an axis."""
    starts = tuple(start if i == axis else 0 for i in range(x.ndim))
    stops = tuple(stop if i == axis else extent for i, extent in enumerate(x.shape))
    return Slice(starts, stops)(x)

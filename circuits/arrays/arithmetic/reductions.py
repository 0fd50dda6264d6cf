"""Composites along axes: the mean, the product and cumulative sums; the operation `Sum` is defined elsewhere, next to
its dual `Broadcast`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .. import expect
from ..composite import Composite
from ..layout.movement import Concatenate, Pad, Reshape, Slice, Sum
from ..layout.window import Window
from ..term import Real


@dataclass(frozen=True)
class Mean(Composite):
    """The mean over some axes, which the result lacks."""

    name = "real.mean"

    axes: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", expect.distinct(self.axes))

    def define(self, *sources: Real) -> Real:
        (x,) = sources
        expect.axes_within(self.axes, x.ndim)
        return Sum(self.axes)(x) * (1 / math.prod(x.shape[axis] for axis in self.axes))


@dataclass(frozen=True)
class Product(Composite):
    """The product along one axis, which the result lacks: ceil(log2 n) levels of pairwise products, each rounded.

    The derivative of Product follows from the pairwise products: it is dz times the product of the other elements,
    which is right even if elements are zero.
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
    """Cumulative sums: y[.., p, ..] = the sum of x[.., i, ..] for i up to p, along one axis. CumulativeSum is lowered
    exactly, with a cost quadratic in the extent of the axis.

    With `exclusive`, a cumulative sum takes the i < p; with `backward`, it runs from the other end of the axis: it
    takes the i from p on, or with both the i > p.
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


def _part(x: Real, axis: int, start: int, stop: int) -> Real:
    """Return the elements of x from start up to but not including stop along an axis."""
    starts = tuple(start if i == axis else 0 for i in range(x.ndim))
    stops = tuple(stop if i == axis else extent for i, extent in enumerate(x.shape))
    return Slice(starts, stops)(x)

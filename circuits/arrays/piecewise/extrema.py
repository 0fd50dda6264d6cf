"""The greatest and the least elements: of two tensors, along an axis, their places, and the k greatest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from circuitize.circuits import integers
from circuitize.circuits.array_module import array_module
from circuitize.circuits.errors import TypingError
from circuitize.circuits.integers.term import Integer
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Array

from .. import expect
from ..composite import Composite
from ..language import RealOperation, Rounding
from ..layout.movement import Broadcast, Concatenate, Reshape
from ..term import Real
from .comparison import ReLU, Select

LONG = 256
"""The extent of an axis above which the halves of an odd axis overlap."""


@dataclass(frozen=True)
class Max(RealOperation):
    """The greatest element along one axis, which the result lacks; the cotangent goes to the first of several greatest
    elements.

    Max is lowered exactly on the rounded operand: a tree of ceil(log2 n) levels of pairwise maxima. In the lowering of
    Max, the halves of an axis of long odd extent share their middle element, which costs one comparison and leaves no
    single element for the next level.
    """

    name = "real.max"
    rounding = Rounding.VALUE
    exact = True

    axis: int

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        expect.arrays(sources, 1)
        (source,) = sources
        expect.axes_within([self.axis], len(source.shape))
        return (Array(source.shape[: self.axis] + source.shape[self.axis + 1 :]),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (array_module(values[0]).asarray(values[0].max(axis=self.axis)),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        (x,) = sources
        first = ArgMaxOneHot(self.axis)(x)
        return [Select()(first, Broadcast(x.shape, (self.axis,))(dz), x.constant(0.0))]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        axis, (x,) = self.axis, sources
        while (extent := x.shape[axis]) > 1:
            overlaps = extent % 2 and extent > LONG
            half = -(-extent // 2) if overlaps else extent // 2
            first = extent - half if overlaps else half
            pairs = integers.Maximum()(self._range(x, 0, half), self._range(x, first, first + half))
            if extent % 2 and not overlaps:
                pairs = integers.Concatenate(axis)(pairs, self._range(x, extent - 1, extent))
            x = pairs
        return integers.Reindex(integers.View.reshape(x.shape, x.shape[:axis] + x.shape[axis + 1 :]))(x)

    def _range(self, x: Integer, start: int, stop: int) -> Integer:
        starts = [start if axis == self.axis else 0 for axis in range(x.ndim)]
        stops = [stop if axis == self.axis else extent for axis, extent in enumerate(x.shape)]
        return integers.Reindex(integers.View.slice(x.shape, starts, stops))(x)


@dataclass(frozen=True)
class ArgMaxOneHot(RealOperation):
    """ArgMaxOneHot: 1 at the first greatest element along the axis, 0 elsewhere; the result has the operand's shape.
    The derivative of ArgMaxOneHot is zero everywhere.

    ArgMaxOneHot is lowered exactly on the rounded operand, to integers 0 and 1 without fraction bits.
    """

    name = "real.arg_max_one_hot"
    rounding = Rounding.VALUE
    exact = True

    axis: int

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        expect.arrays(sources, 1)
        expect.axes_within([self.axis], len(sources[0].shape))
        return (sources[0],)

    def run(self, *values: Values) -> tuple[Values, ...]:
        (x,) = values
        module = array_module(x)
        places = module.arange(x.shape[self.axis]).reshape([-1 if i == self.axis else 1 for i in range(x.ndim)])
        first = module.expand_dims(x.argmax(axis=self.axis), self.axis)
        return ((places == first).astype(np.float64),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        return [None]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        return integers.ArgMaxOneHot(self.axis)(*sources)


@dataclass(frozen=True)
class Min(Composite):
    """The least element along one axis, which the result lacks; the cotangent goes to the first of several least
    elements.
    """

    name = "real.min"

    axis: int

    def define(self, *sources: Real) -> Real:
        (x,) = sources
        return -Max(self.axis)(-x)


@dataclass(frozen=True)
class Maximum(Composite):
    """The greater of x and y, of one shape: x + max(y - x, 0). If x and y are equal, the cotangent of Maximum goes to
    x.

    The derivative of Maximum compares max(y - x, 0) with 0: in a circuit this costs less than the sign of y - x.
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
class Minimum(Composite):
    """The lesser of x and y, of one shape: x - max(x - y, 0). If x and y are equal, the cotangent of Minimum goes to
    x.
    """

    name = "real.minimum"
    arity = 2

    def define(self, *sources: Real) -> Real:
        x, y = sources
        return x - ReLU()(x - y)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        x, y = sources
        of_y = (ReLU()(x - y) > 0.0) * dz
        return [dz - of_y, of_y]


@dataclass(frozen=True)
class TopKOneHot(Composite):
    """The places of the k greatest elements along an axis, greatest first: k arrays of 0 and 1 along a new axis before
    that axis.

    Of equal elements TopKOneHot takes the one of lower index first. The derivative of TopKOneHot is zero. The k
    greatest values are the sum along the axis of x times TopKOneHot; their indices are the sum of the numbers 0, 1, ...
    times TopKOneHot.
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

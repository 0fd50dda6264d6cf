"""Operations that compare: greater, select, ReLU, and the maximum along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from circuitize.circuits import integers
from circuitize.circuits.array_module import array_module
from circuitize.circuits.integers.term import Integer, align
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Array

from . import expect
from .language import RealOperation, Rounding
from .layout import Broadcast
from .term import Real

LONG = 256
"""Above it the halves of an odd axis overlap."""


@dataclass(frozen=True)
class Greater(RealOperation):
    """1 where x > y, else 0; 0 where they are equal. Its derivative is zero everywhere.

    Lowered exactly on the rounded operands, to integers 0 and 1 without fraction bits.
    """

    name = "real.greater"
    rounding = Rounding.VALUE

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 2),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (array_module(values[0]).asarray(values[0] > values[1], np.float64),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        return [None, None]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        x, y = sources
        return integers.IsNegative()(y - x)


@dataclass(frozen=True)
class Select(RealOperation):
    """Where the condition is positive the second source, elsewhere the third; all of one shape.

    The condition has derivative zero. Lowered exactly, on unrounded operands too; a condition of integers 0 and 1 (from
    Greater or ArgMaxOneHot) is used as it is, any other is compared with 0 first.
    """

    name = "real.select"
    rounding = Rounding.LINEAR

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 3),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (array_module(values[0]).where(values[0] > 0, values[1], values[2]),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        condition, zero = sources[0], dz.constant(0.0)
        return [None, self(condition, dz, zero), self(condition, zero, dz)]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        condition, *choices = sources
        found = condition.type
        if found.fraction_bits or found.low < 0 or found.high > 1:
            condition = integers.IsNegative()(-condition)
        return integers.Select()(condition, *align(*choices))


@dataclass(frozen=True)
class ReLU(RealOperation):
    """x where x > 0, else 0. The derivative at 0 is 0. Lowered exactly on the rounded operand.

    The derivative compares the result, not the operand, with 0: in a circuit a test of [0, h] costs less than a sign.
    """

    name = "real.relu"
    rounding = Rounding.VALUE

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 1),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        module = array_module(*values)
        return (module.asarray(module.maximum(values[0], 0.0)),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        zero = z.constant(0.0)
        return [Select()(z > zero, dz, zero)]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        return integers.ReLU()(*sources)


@dataclass(frozen=True)
class Max(RealOperation):
    """The greatest element along one axis, which is removed; the cotangent goes to the first of several greatest.

    Lowered exactly on the rounded operand: a tree of ceil(log2 n) levels of pairwise maxima. Of a long odd axis the
    halves share their middle element, which costs one comparison and leaves no piece to carry along.
    """

    name = "real.max"
    rounding = Rounding.VALUE

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
    """1 at the first greatest element along the axis, 0 elsewhere; the axis stays. Its derivative is zero everywhere.

    Lowered exactly on the rounded operand, to integers 0 and 1 without fraction bits.
    """

    name = "real.arg_max_one_hot"
    rounding = Rounding.VALUE

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

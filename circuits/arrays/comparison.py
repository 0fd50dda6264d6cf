"""Operations that compare: greater, select, ReLU, and the maximum along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from circuitize.circuits import integers
from circuitize.circuits.array_module import array_module
from circuitize.circuits.builder import Builder
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Array

from . import expect
from .constant import Constant
from .language import RealOperation, Rounding
from .layout import Broadcast

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

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        return [None, None]

    def lower(self, lowering: Lowering, *sources: int) -> list[int]:
        x, y = lowering.align(*sources)
        return [lowering.builder.add(integers.IsNegative(), lowering.builder.add(integers.Subtract(), y, x))]


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

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        condition, (cotangent,) = sources[0], cotangents
        zero = zeros_like(builder, cotangent)
        return [None, builder.add(self, condition, cotangent, zero), builder.add(self, condition, zero, cotangent)]

    def lower(self, lowering: Lowering, *sources: int) -> list[int]:
        condition = sources[0]
        found = lowering.type(condition)
        if found.fraction_bits or found.low < 0 or found.high > 1:
            negated = lowering.builder.add(integers.Scale(-1, 0), condition)
            condition = lowering.builder.add(integers.IsNegative(), negated)
        return [lowering.builder.add(integers.Select(), condition, *lowering.align(*sources[1:]))]


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

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        zero = zeros_like(builder, targets[0])
        positive = builder.add(Greater(), targets[0], zero)
        return [builder.add(Select(), positive, cotangents[0], zero)]

    def lower(self, lowering: Lowering, *sources: int) -> list[int]:
        return [lowering.builder.add(integers.ReLU(), sources[0])]


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

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        first = builder.add(ArgMaxOneHot(self.axis), sources[0])
        shape = builder.type(sources[0]).shape
        spread = builder.add(Broadcast(shape, (self.axis,)), cotangents[0])
        return [builder.add(Select(), first, spread, zeros_like(builder, sources[0]))]

    def lower(self, lowering: Lowering, *sources: int) -> list[int]:
        builder, axis, wire = lowering.builder, self.axis, sources[0]
        while (extent := builder.type(wire).shape[axis]) > 1:
            overlaps = extent % 2 and extent > LONG
            half = -(-extent // 2) if overlaps else extent // 2
            first = extent - half if overlaps else half
            pairs = builder.add(
                integers.Maximum(), self._range(builder, wire, 0, half), self._range(builder, wire, first, first + half)
            )
            if extent % 2 and not overlaps:
                pairs = builder.add(integers.Concatenate(axis), pairs, self._range(builder, wire, extent - 1, extent))
            wire = pairs
        shape = builder.type(wire).shape
        view = integers.View.reshape(shape, shape[:axis] + shape[axis + 1 :])
        return [builder.add(integers.Reindex(view), wire)]

    def _range(self, builder: Builder, wire: int, start: int, stop: int) -> int:
        shape = builder.type(wire).shape
        starts = [start if axis == self.axis else 0 for axis in range(len(shape))]
        stops = [stop if axis == self.axis else extent for axis, extent in enumerate(shape)]
        return builder.add(integers.Reindex(integers.View.slice(shape, starts, stops)), wire)


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

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        return [None]

    def lower(self, lowering: Lowering, *sources: int) -> list[int]:
        return [lowering.builder.add(integers.ArgMaxOneHot(self.axis), sources[0])]


def zeros_like(builder: Builder, wire: int) -> int:
    return builder.add(Constant.zeros(builder.type(wire).shape))

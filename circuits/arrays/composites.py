"""The composites that come with the language: square, mean, maximum and softmax."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from circuitize.circuits.builder import Builder
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.types import Array

from . import expect
from .comparison import Greater, Max, ReLU
from .composite import Composite
from .constant import Constant
from .elementwise import Add, Multiply, Scale, Subtract
from .exponential import Exp
from .layout import Broadcast, Sum
from .reciprocal import Reciprocal


@dataclass(frozen=True)
class Square(Composite):
    """x * x."""

    name = "real.square"

    def definition(self, *sources: Array) -> Arrow:
        expect.arrays(sources, 1)
        builder = Builder()
        x = builder.input(sources[0])
        return builder.build([builder.add(Multiply(), x, x)])

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        return [builder.add(Scale(2.0), builder.add(Multiply(), cotangents[0], sources[0]))]


@dataclass(frozen=True)
class Mean(Composite):
    """The mean over some axes, which are removed."""

    name = "real.mean"

    axes: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", expect.distinct(self.axes))

    def definition(self, *sources: Array) -> Arrow:
        expect.arrays(sources, 1)
        expect.axes_within(self.axes, len(sources[0].shape))
        builder = Builder()
        total = builder.add(Sum(self.axes), builder.input(sources[0]))
        count = math.prod(sources[0].shape[axis] for axis in self.axes)
        return builder.build([builder.add(Scale(1 / count), total)])


@dataclass(frozen=True)
class Maximum(Composite):
    """The greater of x and y, of one shape: x + max(y - x, 0). At a tie the cotangent goes to x.

    The derivative compares max(y - x, 0) with 0: in a circuit that costs less than a sign.
    """

    name = "real.maximum"

    def definition(self, *sources: Array) -> Arrow:
        expect.one_shape(sources, 2)
        builder = Builder()
        x, y = builder.inputs(sources)
        return builder.build([builder.add(Add(), x, builder.add(ReLU(), builder.add(Subtract(), y, x)))])

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        (x, y), (cotangent,) = sources, cotangents
        above = builder.add(ReLU(), builder.add(Subtract(), y, x))
        second = builder.add(Greater(), above, builder.add(Constant.zeros(builder.type(x).shape)))
        of_y = builder.add(Multiply(), second, cotangent)
        return [builder.add(Subtract(), cotangent, of_y), of_y]


@dataclass(frozen=True)
class Softmax(Composite):
    """e^(x - m) / sum of e^(x - m) along an axis, m the maximum along it: exponents are at most 0, the sum at least 1.

    The derivative is y * (dy - sum of dy * y): what m adds to it cancels exactly, so it is left out.
    """

    name = "real.softmax"

    axis: int

    def definition(self, *sources: Array) -> Arrow:
        expect.arrays(sources, 1)
        shape = sources[0].shape
        expect.axes_within([self.axis], len(shape))
        spread, builder = Broadcast(shape, (self.axis,)), Builder()
        x = builder.input(sources[0])
        greatest = builder.add(spread, builder.add(Max(self.axis), x))
        exponentials = builder.add(Exp(), builder.add(Subtract(), x, greatest))
        inverse = builder.add(Reciprocal(), builder.add(Sum((self.axis,)), exponentials))
        return builder.build([builder.add(Multiply(), exponentials, builder.add(spread, inverse))])

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        (y,), (cotangent,) = targets, cotangents
        along = builder.add(Sum((self.axis,)), builder.add(Multiply(), cotangent, y))
        centred = builder.add(Subtract(), cotangent, builder.add(Broadcast(builder.type(y).shape, (self.axis,)), along))
        return [builder.add(Multiply(), centred, y)]

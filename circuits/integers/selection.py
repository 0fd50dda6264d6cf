"""Choices between values: by a condition, by the greater of two, by clamping, and by the place of the greatest
element.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from circuitize.circuits.array_module import array_module
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import TypingError
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Fixed, Type, fixed

from .arithmetic import Add, IsNegative, Multiply, ReLU, Scale, Shift, Subtract
from .constant import Constant
from .expansion import Expansion
from .language import Integers, axis_of, same_formats
from .steps import Affine
from .view import View
from .wiring import Concatenate, Reindex, Sum, broadcast, part, sum_over


@dataclass(frozen=True)
class Select(Expansion):
    """Select: a where the condition is 1, b where it is 0. The sources of Select are a condition (0 or 1 by its type,
    no fraction bits), a and b.
    """

    name = "integer.select"
    arity = 3
    pointwise = True

    def target(self, *sources: Fixed) -> Fixed:
        condition, a, b = sources
        same_formats(self.name, (a, b))
        if condition.shape != a.shape:
            raise TypingError(
                f"{self.name}: expected a condition of shape {list(a.shape)}, found {list(condition.shape)}; "
                "broadcast it"
            )
        if condition.low < 0 or condition.high > 1 or condition.fraction_bits:
            raise TypingError(
                f"{self.name}: expected a condition in [0, 1] without fraction bits, found {condition}; "
                "use IsNegative or Check"
            )
        chosen = [b] * (condition.low == 0) + [a] * (condition.high == 1)
        return a.with_interval(min(c.low for c in chosen), max(c.high for c in chosen))

    def value(self, *values: Integers) -> Values:
        condition, a, b = values
        made: Values = array_module(a).where(condition != 0, a, b)
        return made

    def define(self, builder: Builder, *wires: int) -> int:
        condition, a, b = wires
        difference = builder.add(Multiply(), condition, builder.add(Subtract(), a, b))
        return builder.add(Add(), difference, b)


@dataclass(frozen=True)
class Maximum(Expansion):
    """The greater of x and y, of one shape and one number of fraction bits."""

    name = "integer.maximum"
    arity = 2
    pointwise = True

    def target(self, *sources: Fixed) -> Fixed:
        x, y = sources
        same_formats(self.name, sources)
        return x.with_interval(max(x.low, y.low), max(x.high, y.high))

    def value(self, *values: Integers) -> Values:
        x, y = values
        made: Values = array_module(x).maximum(x, y)
        return made

    def define(self, builder: Builder, *wires: int) -> int:
        x, y = wires
        return builder.add(Add(), y, builder.add(ReLU(), builder.add(Subtract(), x, y)))


@dataclass(frozen=True)
class Clamp(Expansion):
    """The number in [low, high] that is nearest to x, which is saturation; low and high are in units of x's last
    bit.
    """

    name = "integer.clamp"
    pointwise = True

    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise TypingError(f"{self.name}: expected low <= high, found [{self.low}, {self.high}]")

    def is_identity(self, source: Type) -> bool:
        format = fixed(source)
        return self.low <= format.low and format.high <= self.high

    def target(self, *sources: Fixed) -> Fixed:
        (x,) = sources
        return x.with_interval(*(min(max(end, self.low), self.high) for end in (x.low, x.high)))

    def value(self, *values: Integers) -> Values:
        (x,) = values
        limit = np.iinfo(np.int64)
        made: Values = array_module(x).clip(x, max(self.low, int(limit.min)), min(self.high, int(limit.max)))
        return made

    def define(self, builder: Builder, *wires: int) -> int:
        (x,) = wires
        source = builder.format(x)
        if source.low >= self.high or source.high <= self.low:
            return builder.add(
                Constant.splat(self.high if source.low >= self.high else self.low, source.shape, source.fraction_bits)
            )
        if source.low < self.low:
            low = builder.add(Constant.splat(self.low, source.shape, source.fraction_bits))
            x = builder.add(Add(), low, builder.add(ReLU(), builder.add(Subtract(), x, low)))
        if source.high > self.high:
            high = builder.add(Constant.splat(self.high, source.shape, source.fraction_bits))
            x = builder.add(Subtract(), high, builder.add(ReLU(), builder.add(Subtract(), high, x)))
        return x


@dataclass(frozen=True)
class Wrap(Expansion):
    """Wrap: the value that `bits` bits of two's complement keep of x: x + n 2^bits, for the whole number n that brings
    it into the signed interval of these bits, or if not `signed` into the interval from 0 on.
    """

    name = "integer.wrap"
    pointwise = True

    bits: int
    signed: bool

    def __post_init__(self) -> None:
        if not int(self.signed) <= self.bits <= 61:
            raise TypingError(f"{self.name}: expected {int(self.signed)} to 61 bits, found {self.bits}; take fewer")

    @property
    def low(self) -> int:
        """Return the least value that the operation gives."""
        return -(1 << self.bits - 1) if self.signed else 0

    @property
    def high(self) -> int:
        """Return the greatest value that the operation gives."""
        return self.low + (1 << self.bits) - 1

    def is_identity(self, source: Type) -> bool:
        format = fixed(source)
        return self.low <= format.low and format.high <= self.high

    def target(self, *sources: Fixed) -> Fixed:
        (x,) = sources
        first, last = ((end - self.low) >> self.bits for end in (x.low, x.high))
        if first == last:
            return x.with_interval(x.low - (first << self.bits), x.high - (first << self.bits))
        return x.with_interval(self.low, self.high)

    def value(self, *values: Integers) -> Values:
        (x,) = values
        made: Values = ((x - self.low) & ((1 << self.bits) - 1)) + self.low
        return made

    def define(self, builder: Builder, *wires: int) -> int:
        """Write the definition of Wrap: x less 2^bits times the number of whole turns, which a shift finds."""
        (x,) = wires
        source = builder.format(x)
        above = x
        if self.signed:
            least = builder.add(Constant.splat(-self.low, source.shape, source.fraction_bits))
            above = builder.add(Add(), x, least)
        turns = builder.add(Scale(1 << self.bits, self.bits), builder.add(Shift(self.bits), above))
        return builder.add(Subtract(), x, turns)


@dataclass(frozen=True)
class ArgMax(Expansion):
    """The index of the greatest element along an axis, which the result lacks; the lowest index of several greatest
    elements wins. The index that ArgMax gives has no fraction bits.
    """

    name = "integer.arg_max"

    axis: int

    def target(self, *sources: Fixed) -> Fixed:
        (x,) = sources
        extent = axis_of(self.name, self.axis, x)
        return Fixed(x.shape[: self.axis] + x.shape[self.axis + 1 :], 0, 0, extent - 1)

    def lifted(self, count: int) -> ArgMax:
        return ArgMax(self.axis + 1)

    def value(self, *values: Integers) -> Values:
        made: Values = values[0].argmax(axis=self.axis).astype(np.int64)
        return made

    def define(self, builder: Builder, *wires: int) -> int:
        (x,) = wires
        shape = builder.format(x).shape
        if shape[self.axis] == 1:
            return builder.add(Constant.splat(0, shape[: self.axis] + shape[self.axis + 1 :]))
        # The index is the number of positions up to which no element attains the maximum.
        none_yet = builder.add(IsNegative(), _earlier(builder, _attains(builder, x, self.axis), self.axis, offset=-1))
        below = part(builder, none_yet, self.axis, 1, shape[self.axis])
        return sum_over(builder, below, (self.axis,))


@dataclass(frozen=True)
class ArgMaxOneHot(Expansion):
    """ArgMaxOneHot: 1 at the greatest element along an axis, 0 elsewhere; of several greatest elements the first has
    the 1; the result has x's shape and no fraction bits.
    """

    name = "integer.arg_max_one_hot"

    axis: int

    def target(self, *sources: Fixed) -> Fixed:
        (x,) = sources
        return Fixed(x.shape, 0, int(axis_of(self.name, self.axis, x) == 1), 1)

    def lifted(self, count: int) -> ArgMaxOneHot:
        return ArgMaxOneHot(self.axis + 1)

    def value(self, *values: Integers) -> Values:
        (x,) = values
        module = array_module(x)
        places = module.arange(x.shape[self.axis]).reshape([-1 if i == self.axis else 1 for i in range(x.ndim)])
        made: Values = (places == module.expand_dims(x.argmax(axis=self.axis), self.axis)).astype(np.int64)
        return made

    def define(self, builder: Builder, *wires: int) -> int:
        (x,) = wires
        shape = builder.format(x).shape
        if shape[self.axis] == 1:
            return builder.add(Constant.splat(1, shape))
        attains = _attains(builder, x, self.axis)
        none_yet = builder.add(IsNegative(), _earlier(builder, attains, self.axis, offset=-1))
        return builder.add(Multiply(), attains, none_yet)


def _attains(builder: Builder, wire: int, axis: int) -> int:
    """Return indicators that are 1 where an element equals the greatest along the axis."""
    shape = builder.format(wire).shape
    greatest = wire
    while (extent := builder.format(greatest).shape[axis]) > 1:
        half = extent // 2
        pairs = builder.add(
            Maximum(), part(builder, greatest, axis, 0, half), part(builder, greatest, axis, half, 2 * half)
        )
        rest = [part(builder, greatest, axis, extent - 1, extent)] if extent % 2 else []
        greatest = builder.add(Concatenate(axis), pairs, *rest)
    removed = shape[:axis] + shape[axis + 1 :]
    row = builder.add(Reindex(View.reshape(builder.format(greatest).shape, removed)), greatest)
    below = builder.add(IsNegative(), builder.add(Subtract(), wire, broadcast(builder, row, shape, (axis,))))
    return builder.add(Subtract(), builder.add(Constant.splat(1, shape)), below)


def _earlier(builder: Builder, wire: int, axis: int, offset: int) -> int:
    """Return for each element the sum of the elements before it along the axis, plus an offset."""
    shape = builder.format(wire).shape
    pairs = (*shape, shape[axis] - 1)
    rows = [[int(i == j) for j in range(len(pairs))] for i in range(len(shape))]
    rows[axis][-1] = -1
    offsets = tuple(-int(i == axis) for i in range(len(shape)))
    # Target [..., i, ..., d] reads the element d + 1 before i; before the first it reads 0.
    view = View(shape, (Affine(pairs, offsets, tuple(map(tuple, rows))),))
    counted = builder.add(Sum(View.broadcast(pairs, (len(shape),))), builder.add(Reindex(view), wire))
    return builder.add(Add(), counted, builder.add(Constant.splat(offset, shape)))

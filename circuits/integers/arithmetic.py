"""Addition, scaling, products, shifts by powers of two, and tests of the sign."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import TypingError
from circuitize.circuits.operation import Values
from circuitize.circuits.types import LIMIT, Fixed, Type, fixed

from .expansion import Expansion
from .language import Elementwise, IntegerOperation, Integers, corners, same_formats


@dataclass(frozen=True)
class Add(Elementwise):
    """The sum x + y of arrays of one shape and one number of fraction bits."""

    name = "integer.add"
    function = "add"
    arity = 2

    def target(self, *sources: Fixed) -> Fixed:
        x, y = sources
        same_formats(self.name, sources)
        return x.with_interval(x.low + y.low, x.high + y.high)


@dataclass(frozen=True)
class Subtract(Elementwise, Expansion):
    """The difference x - y of arrays of one shape and one number of fraction bits."""

    name = "integer.subtract"
    function = "subtract"
    arity = 2

    def target(self, *sources: Fixed) -> Fixed:
        x, y = sources
        same_formats(self.name, sources)
        return x.with_interval(x.low - y.high, x.high - y.low)

    def define(self, builder: Builder, *wires: int) -> int:
        x, y = wires
        return builder.add(Add(), x, builder.add(Scale(-1, 0), y))


@dataclass(frozen=True)
class Scale(Elementwise):
    """Scale: factor * x, with `fraction_bits` more fraction bits than x: the real value is multiplied by factor *
    2^-fraction_bits.
    """

    name = "integer.scale"
    function = "multiply"

    factor: int
    fraction_bits: int

    def __post_init__(self) -> None:
        if abs(self.factor) >= LIMIT:
            raise TypingError(f"{self.name}: expected a factor below 2^62, found {self.factor}; use fewer bits")

    def is_identity(self, source: Type) -> bool:
        return self.factor == 1 and self.fraction_bits == 0

    def target(self, *sources: Fixed) -> Fixed:
        (x,) = sources
        ends = (x.low * self.factor, x.high * self.factor)
        return Fixed(x.shape, x.fraction_bits + self.fraction_bits, min(ends), max(ends))

    @cached_property
    def constants(self) -> tuple[np.int64, ...]:
        return (np.int64(self.factor),)


@dataclass(frozen=True)
class Multiply(Elementwise):
    """The product x * y, element by element, of arrays of one shape; the result has the sum of their fraction bits. The
    interval of a product is not narrower if both sources are the same wire.
    """

    name = "integer.multiply"
    function = "multiply"
    arity = 2

    def target(self, *sources: Fixed) -> Fixed:
        x, y = sources
        if x.shape != y.shape:
            raise TypingError(
                f"{self.name}: expected equal shapes, found {list(x.shape)} and {list(y.shape)}; broadcast one"
            )
        return Fixed(x.shape, x.fraction_bits + y.fraction_bits, *corners(x, y))


@dataclass(frozen=True)
class Shift(Elementwise):
    """Shift: floor(x / 2^bits), toward minus infinity, with `bits` fewer fraction bits; 0 <= bits <= 62."""

    name = "integer.shift"
    function = "right_shift"

    bits: int

    def __post_init__(self) -> None:
        if not 0 <= self.bits <= 62:
            raise TypingError(f"{self.name}: expected 0 to 62 bits, found {self.bits}; use Scale to add bits")

    def is_identity(self, source: Type) -> bool:
        return self.bits == 0

    def target(self, *sources: Fixed) -> Fixed:
        (x,) = sources
        return Fixed(x.shape, x.fraction_bits - self.bits, x.low >> self.bits, x.high >> self.bits)

    @cached_property
    def constants(self) -> tuple[np.int64, ...]:
        return (np.int64(self.bits),)


@dataclass(frozen=True)
class IsNegative(IntegerOperation):
    """IsNegative: 1 where x < 0, else 0; the result has no fraction bits."""

    name = "integer.is_negative"
    pointwise = True

    def target(self, *sources: Fixed) -> Fixed:
        (x,) = sources
        return Fixed(x.shape, 0, int(x.high < 0), int(x.low < 0))

    def value(self, *values: Integers) -> Values:
        return (values[0] < 0).astype(np.int64)


@dataclass(frozen=True)
class ReLU(Elementwise):
    """The rectifier max(x, 0). ReLU is a core operation, because no composition of other operations has its interval
    without a further range check.
    """

    name = "integer.relu"
    function = "maximum"

    def is_identity(self, source: Type) -> bool:
        return fixed(source).low >= 0

    def target(self, *sources: Fixed) -> Fixed:
        (x,) = sources
        return x.with_interval(max(x.low, 0), max(x.high, 0))

    @cached_property
    def constants(self) -> tuple[np.int64, ...]:
        return (np.int64(0),)

"""The types of wires: arrays of real numbers, and arrays of integers with a binary point and an interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .errors import OverflowRisk, TypingError
from .parts import part

LIMIT = 1 << 62
"""Every integer in every program stays below this magnitude, so that int64 never wraps."""

Shape = tuple[int, ...]


@part
@dataclass(frozen=True, slots=True)
class Array:
    """An array of real numbers of a static shape."""

    shape: Shape

    def __post_init__(self) -> None:
        check_shape(self.shape)

    @property
    def size(self) -> int:
        """Return the number of elements of the array."""
        return math.prod(self.shape)

    def __str__(self) -> str:
        return f"real{list(self.shape)}"


@part
@dataclass(frozen=True, slots=True)
class Fixed:
    """An integer array: element q stands for the real number q * 2**-fraction_bits, and low <= q <= high.

    Raise OverflowRisk if the interval of a type passes 2^62 in magnitude.
    """

    shape: Shape
    fraction_bits: int
    low: int
    high: int

    def __post_init__(self) -> None:
        check_shape(self.shape)
        for word, number in (("fraction bits", self.fraction_bits), ("low", self.low), ("high", self.high)):
            if type(number) is not int and not hasattr(number, "__index__"):
                raise TypingError(f"expected a whole number for {word}, found {number!r}; low and high are integers")
        if self.low > self.high:
            raise TypingError(f"expected low <= high, found the interval [{self.low}, {self.high}]; exchange them")
        if max(-self.low, self.high) >= LIMIT:
            raise OverflowRisk(
                f"expected magnitudes below 2^62, found the interval [{self.low}, {self.high}]; "
                "use fewer fraction bits, or round an operand first"
            )

    @property
    def size(self) -> int:
        """Return the number of elements of the array."""
        return math.prod(self.shape)

    @property
    def width(self) -> int:
        """Return the least k such that the interval of a type fits in k bits, in two's complement if the interval holds
        a negative number.
        """
        if self.low >= 0:
            return self.high.bit_length()
        return max((-self.low - 1).bit_length(), self.high.bit_length()) + 1

    def with_interval(self, low: int, high: int) -> Fixed:
        """Return the format with the given interval and the same shape and fraction bits as before. Raise OverflowRisk
        for an interval that passes 2^62.
        """
        return Fixed(self.shape, self.fraction_bits, low, high)

    def with_shape(self, shape: Shape) -> Fixed:
        """Return the format with the given shape and the same fraction bits and interval as before."""
        return Fixed(shape, self.fraction_bits, self.low, self.high)

    def __str__(self) -> str:
        return f"fixed{list(self.shape)} / 2^{self.fraction_bits} in [{self.low}, {self.high}]"


Type = Array | Fixed


def fixed(type: Type) -> Fixed:
    """Return the type of a wire of an integer arrow. Raise TypingError for a wire of reals."""
    if not isinstance(type, Fixed):
        raise TypingError(f"expected the type of integers, found {type}; quantize the program first")
    return type


def signed(shape: Shape, bits: int, fraction_bits: int) -> Fixed:
    """Return the format of `bits` bits in two's complement: [-2^(bits-1), 2^(bits-1) - 1]."""
    return Fixed(shape, fraction_bits, -(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def unsigned(shape: Shape, bits: int, fraction_bits: int) -> Fixed:
    """Return the unsigned format of `bits` bits: [0, 2^bits - 1]."""
    return Fixed(shape, fraction_bits, 0, (1 << bits) - 1)


def check_shape(shape: Shape) -> None:
    """Raise TypingError unless the value is a tuple of whole numbers of at least 1."""
    if type(shape) is not tuple:
        written = f"write ({shape},)" if isinstance(shape, int) else "write (2, 3), or () for a single number"
        raise TypingError(f"expected a shape, a tuple of whole numbers, found {shape!r}; {written}")
    for axis, extent in enumerate(shape):
        if type(extent) is not int and not hasattr(extent, "__index__"):
            raise TypingError(
                f"expected whole extents, found {extent!r} at axis {axis} of {shape}; write a whole number"
            )
        if extent < 1:
            raise TypingError(
                f"expected axes of at least one element, found {extent} at axis {axis} of {shape}; leave the axis out"
            )


def check_type(type: object, where: str) -> None:
    """Raise TypingError unless the value is the type of a wire."""
    if not isinstance(type, (Array, Fixed)):
        remedy = f"write Array({type})" if isinstance(type, tuple) else "give an Array(shape), or a Fixed"
        raise TypingError(f"{where}: expected the type of a wire, Array or Fixed, found {type!r}; {remedy}")

"""Floor division and floor square root."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from circuitize.circuits.array_module import array_module
from circuitize.circuits.errors import TypingError
from circuitize.circuits.operation import Values
from circuitize.circuits.requirement import require
from circuitize.circuits.types import Fixed

from .language import IntegerOperation, Integers


@dataclass(frozen=True)
class Divide(IntegerOperation):
    """The quotient floor(x / y), rounded toward minus infinity, of arrays of one shape; y >= 1 by its type. The
    quotient that Divide gives has the fraction bits of x less those of y.
    """

    name = "integer.divide"
    arity = 2
    pointwise = True

    def target(self, *sources: Fixed) -> Fixed:
        x, y = sources
        if x.shape != y.shape:
            raise TypingError(
                f"{self.name}: expected equal shapes, found {list(x.shape)} and {list(y.shape)}; broadcast one"
            )
        if y.low < 1:
            raise TypingError(
                f"{self.name}: expected a divisor of at least 1, found the interval [{y.low}, {y.high}]; Check it first"
            )
        low = x.low // (y.high if x.low >= 0 else y.low)
        high = x.high // (y.low if x.high >= 0 else y.high)
        return Fixed(x.shape, x.fraction_bits - y.fraction_bits, low, high)

    def value(self, *values: Integers) -> Values:
        x, y = values
        require(self.name, y > 0, y, "a divisor of at least 1")
        return x // y


@dataclass(frozen=True)
class SquareRoot(IntegerOperation):
    """The root floor(sqrt(x)), where by its type x is at least 0 and has an even number of fraction bits; the root has
    half as many.
    """

    name = "integer.square_root"
    pointwise = True

    def target(self, *sources: Fixed) -> Fixed:
        (x,) = sources
        if x.low < 0:
            raise TypingError(
                f"{self.name}: expected nonnegative values, found the interval [{x.low}, {x.high}]; Check it first"
            )
        if x.fraction_bits % 2:
            raise TypingError(
                f"{self.name}: expected an even number of fraction bits, found {x.fraction_bits}; "
                "add one with Scale(2, 1)"
            )
        return Fixed(x.shape, x.fraction_bits // 2, math.isqrt(x.low), math.isqrt(x.high))

    def value(self, *values: Integers) -> Values:
        (x,) = values
        require(self.name, x >= 0, x, "nonnegative values")
        # A float64 root of a number below 2^62 is off by at most one once floored.
        root: Integers = array_module(x).sqrt(x.astype(np.float64)).astype(np.int64)
        root = root - (root * root > x)
        return root + ((root + 1) * (root + 1) <= x)

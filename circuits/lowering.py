"""The lowering of one real operation to integer operations: fraction bits, alignment and rounding."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .builder import Builder
from .integers import Check
from .integers.term import Integer
from .parts import part
from .types import Fixed, Shape


@part
@dataclass(frozen=True, slots=True)
class Precision:
    """The precision with which `quantize` represents the tensors that it rounds.

    A rounded tensor of calibrated magnitude just below 2^e has `max(fraction_bits, significant_bits - e)` fraction
    bits: absolute precision for activations, relative precision for small gradients. The `margin` of a precision
    multiplies the magnitudes that calibration observed before they become the interval of a Check. A sum of rounded
    tensors stays exact until its interval has `slack_bits` more bits than the values in calibration; then it is
    checked, so that sums over many layers do not widen later intervals. A real coefficient c becomes the nearest m *
    2^-k with m below 2^coefficient_bits (exact if c is dyadic).
    """

    fraction_bits: int = 12
    significant_bits: int = 12
    coefficient_bits: int = 16
    slack_bits: int = 4
    margin: float = 2.0

    def exponents(self, magnitudes: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return for each calibrated magnitude the least e such that magnitude * margin < 2^e, and 0 for a magnitude of
        0.
        """
        return np.where(magnitudes > 0, np.frexp(magnitudes * self.margin)[1], 0).astype(np.int64)

    def format(self, shape: Shape, exponent: int, nonnegative: bool) -> Fixed:
        """Return the format for values below 2^exponent in magnitude: two's complement, or unsigned if the values are
        provably nonnegative.
        """
        fraction_bits = max(self.fraction_bits, self.significant_bits - exponent)
        bits = max(exponent + fraction_bits, 1)
        return Fixed(shape, fraction_bits, 0 if nonnegative else -(1 << bits), (1 << bits) - 1)

    def coefficient(self, value: float) -> tuple[int, int]:
        """Return (m, k) such that m * 2^-k is nearest to the value among all |m| < 2^coefficient_bits; k may be
        negative; m is odd or 0.
        """
        exact = Fraction(value)
        if exact == 0:
            return 0, 0
        if exact.numerator.bit_length() <= self.coefficient_bits:
            numerator, k = exact.numerator, exact.denominator.bit_length() - 1
        else:
            k = self.coefficient_bits - math.frexp(value)[1]
            numerator = round(exact * Fraction(2) ** k)
        while numerator % 2 == 0:
            numerator, k = numerator // 2, k - 1
        return numerator, k


class Lowering:
    """The context in which the method `lower` of an operation writes: the integer builder, the precision, and the
    format calibrated for the result.

    The `result` of a Lowering is the format calibrated for the edge's first target. Only VALUE operations may ask for
    `result`: they return a wire that has at most the result's fraction bits and an interval inside the result's, or
    that is as exact as their operands.
    """

    def __init__(self, builder: Builder, precision: Precision, result: Fixed | None) -> None:
        self.builder = builder
        self.precision = precision
        self._result = result

    @property
    def result(self) -> Fixed:
        """Return the format calibrated for the edge's first target; only VALUE operations have one."""
        assert self._result is not None, "only VALUE operations are given a format for their result"
        return self._result

    def round_to(self, wire: int, target: Fixed) -> int:
        """Rescale a wire to the target's fraction bits and Check the target's interval: the result has exactly the
        target's type.

        A Check that the intervals already prove costs nothing in any target.
        """
        rounded = Integer(self.builder, wire).shift_to(target.fraction_bits)
        return (rounded if rounded.type == target else Check(target.low, target.high)(rounded)).wire

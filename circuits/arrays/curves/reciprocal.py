"""The reciprocal: in integers, one division of magnitudes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from circuitize.circuits import integers
from circuitize.circuits.array_module import array_module
from circuitize.circuits.integers.term import Integer
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Values
from circuitize.circuits.requirement import require
from circuitize.circuits.types import Array

from .. import expect
from ..language import RealOperation, Rounding
from ..term import Real
from .into_format import into_format


@dataclass(frozen=True)
class Reciprocal(RealOperation):
    """The reciprocal 1 / x of each element. Reciprocal is undefined at 0; a lowered Reciprocal is also undefined where
    its result leaves the calibrated format.

    Reciprocal is lowered to the correctly rounded result, halves away from zero: with N = 2^(fraction bits of x and of
    the result), the magnitude of the result is floor((2N + |x|) / (2|x|)). In the lowering of Reciprocal, one Check
    keeps |x| from being 0 and the quotient inside the format.
    """

    name = "real.reciprocal"
    rounding = Rounding.VALUE

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 1),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        module = array_module(*values)
        with np.errstate(divide="ignore", over="ignore"):
            result = module.reciprocal(values[0])
        require("division by zero", module.isfinite(result), values[0], "a divisor other than 0", "keep it away from 0")
        return (module.asarray(result),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        return [-(dz * z * z)]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        result, (x,) = lowering.result, sources
        source, magnitude = x.type, x
        negative: Integer | None = None
        if source.low < 0:
            magnitude = -x
        if source.low < 0 < source.high:
            negative = integers.IsNegative()(x)
            magnitude = integers.Select()(negative, magnitude, x)
        greatest = max(result.high, -result.low)
        numerator = 1 << (result.fraction_bits + source.fraction_bits + 1)
        # floor((numerator + m) / 2m) <= greatest exactly where m > numerator / (2 * greatest + 1).
        least = numerator // (2 * greatest + 1) + 1
        if magnitude.type.low < least:
            magnitude = integers.Check(least, max(source.high, -source.low, least))(magnitude)
        quotient = _rounded_quotient(numerator, magnitude, result.fraction_bits)
        if source.low < 0:
            opposite = -quotient
            quotient = opposite if negative is None else integers.Select()(negative, opposite, quotient)
        return into_format(lowering, quotient)


def _rounded_quotient(numerator: int, magnitude: Integer, fraction_bits: int) -> Integer:
    """Return floor((numerator + m) / 2m), where m is the magnitude of the operand, with the given fraction bits."""
    divisor = integers.Scale(2, 1)(magnitude)
    same = integers.Scale(1, fraction_bits + 1)(magnitude)
    constant = magnitude.splat(numerator, magnitude.fraction_bits + fraction_bits + 1)
    return integers.Divide()(same + constant, divisor)

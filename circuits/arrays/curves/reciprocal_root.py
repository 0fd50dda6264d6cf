"""The reciprocal of the square root: in integers, one division and one square root."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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

WIDEST = 61
"""The most bits of the dividend."""


@dataclass(frozen=True)
class ReciprocalSquareRoot(RealOperation):
    """The reciprocal square root 1 / sqrt(x) of each element. ReciprocalSquareRoot is undefined at 0 and below; a
    lowered one is also undefined where its result leaves the calibrated format.

    ReciprocalSquareRoot is lowered to the correctly rounded result, halves up: with x = q * 2^-b and N = 2^(2f + 2 +
    b), the number m = floor(sqrt(floor(N / q))) is floor(2^(f + 1) / sqrt(x)), since for a whole m both m^2 <= N / q
    and m^2 <= floor(N / q) say the same; the result is floor((m + 1) / 2). In the lowering of ReciprocalSquareRoot, if
    the dividend N would pass 2^61 the result has fewer fraction bits, and is correctly rounded to them.
    """

    name = "real.reciprocal_square_root"
    rounding = Rounding.VALUE

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 1),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        (x,) = values
        module = array_module(x)
        remedy = "keep it positive, as by adding a small constant"
        require("reciprocal square root", x > 0, x, "a number above 0", remedy)
        return (module.asarray(1.0 / module.sqrt(x)),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        square = z * z
        return [-0.5 * (dz * z * square)]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        result, (x,) = lowering.result, sources
        found = x.type
        kept = min(result.fraction_bits, (WIDEST - found.fraction_bits) // 2 - 1)
        dividend = 1 << (2 * kept + 2 + found.fraction_bits)
        # The result exceeds g = `greatest` units exactly where floor(N / q) reaches (2g + 1)^2.
        greatest = max(result.high >> (result.fraction_bits - kept), 1)
        least = min(dividend // (2 * greatest + 1) ** 2 + 1, max(found.high, 1))
        if found.low < least:
            x = integers.Check(least, max(found.high, least))(x)
        constant = x.splat(dividend, 2 * kept + 2 + found.fraction_bits)
        root = integers.SquareRoot()(integers.Divide()(constant, x))
        return into_format(lowering, root.shift_to(kept))

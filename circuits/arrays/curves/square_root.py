"""The square root: in integers, the floor of a square root with at least one bit more."""

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


@dataclass(frozen=True)
class SquareRoot(RealOperation):
    """The square root of each element. SquareRoot is undefined below 0; the derivative, dz / 2z, is undefined at 0
    as well.

    SquareRoot is lowered to the correctly rounded result, halves up: with y the exact root in units of the result and k
    >= 1 additional fraction bits, floor((floor(2^k y) + 2^(k - 1)) / 2^k) is floor(y + 1/2), since 2^k n - 2^(k - 1) is
    a whole number for a whole n.
    """

    name = "real.square_root"
    rounding = Rounding.VALUE

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 1),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        (x,) = values
        require("square root", x >= 0, x, "a number of at least 0", "keep it nonnegative")
        module = array_module(x)
        return (module.asarray(module.sqrt(x)),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        return [0.5 * (dz / z)]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        (x,) = sources
        found = x.type
        if found.low < 0:
            x = integers.Check(0, max(found.high, 0))(x)
        root_bits = max(lowering.result.fraction_bits + 1, -(-found.fraction_bits // 2))
        return into_format(lowering, integers.SquareRoot()(x.refine(2 * root_bits)))

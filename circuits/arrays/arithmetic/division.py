"""Division of two arrays: in integers, one floor division."""

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
from ..curves.into_format import into_format
from ..language import RealOperation, Rounding
from ..term import Real


@dataclass(frozen=True)
class Divide(RealOperation):
    """The quotient x / y of arrays of one shape. Divide is undefined where y is 0; a lowered Divide is also undefined
    where its result leaves the calibrated format.

    Divide is lowered to the correctly rounded result, halves up: with integers n and d such that n / d is x / y in
    units of the result's last bit, both negated if y is negative, the result is floor((2n + d) / 2d).
    """

    name = "real.divide"
    rounding = Rounding.VALUE

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 2),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        module = array_module(*values)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            result = module.asarray(module.divide(*values))
        require("division by zero", module.isfinite(result), values[1], "a divisor other than 0", "keep it away from 0")
        return (result,)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        above = dz / sources[1]
        return [above, -(above * z)]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        x, y = sources
        found = y.type
        if found.low < 0 < found.high:
            negative = integers.IsNegative()(y)
            x, y = (integers.Select()(negative, -term, term) for term in (x, y))
        elif found.low < 0:
            x, y = -x, -y
        if y.type.low < 1:
            y = integers.Check(1, max(found.high, -found.low))(y)
        return into_format(lowering, rounded_quotient(x, y, lowering.result.fraction_bits))


def rounded_quotient(x: Integer, y: Integer, fraction_bits: int) -> Integer:
    """Return x / y with the given fraction bits, halves rounded up; y is at least 1 by its type."""
    extra = fraction_bits + y.fraction_bits - x.fraction_bits
    x = x.refine(x.fraction_bits + max(extra, 0))
    y = y.refine(y.fraction_bits + max(-extra, 0))
    doubled = integers.Scale(2, 1)(x)
    half = integers.Scale(1, x.fraction_bits + 1 - y.fraction_bits)(y)
    divisor = integers.Scale(2, 1)(y)
    return integers.Divide()(doubled + half, divisor)

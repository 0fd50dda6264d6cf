"""Division of two arrays, in integers by one floor division."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from circuitize.circuits import integers
from circuitize.circuits.array_module import array_module
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import Undefined
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Array

from . import expect
from .confine import confine
from .elementwise import Multiply, Negate
from .language import RealOperation, Rounding


@dataclass(frozen=True)
class Divide(RealOperation):
    """x / y, of one shape. Undefined where y is 0; lowered: also where the result leaves its calibrated format.

    Lowered to the correctly rounded result, halves up: with n and d the operands at fraction bits that differ by the
    result's, both negated where d is negative, it is floor((2n + d) / 2d).
    """

    name = "real.divide"
    rounding = Rounding.VALUE

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 2),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        module = array_module(*values)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            result = module.asarray(module.divide(*values))
        if not module.isfinite(result).all():
            at = tuple(int(i) for i in module.argwhere(~module.isfinite(result))[0])
            wrong = float(values[1][at])
            raise Undefined(
                f"division by zero: expected a divisor other than 0, found {wrong:g} at element {list(at)}; "
                "keep it away from 0"
            )
        return (result,)

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        above = builder.add(self, cotangents[0], sources[1])
        return [above, builder.add(Negate(), builder.add(Multiply(), above, targets[0]))]

    def lower(self, lowering: Lowering, *sources: int) -> list[int]:
        builder, result, (x, y) = lowering.builder, lowering.result, sources
        found = lowering.type(y)
        if found.low < 0 < found.high:
            negative = builder.add(integers.IsNegative(), y)
            x, y = (builder.add(integers.Select(), negative, _opposite(builder, wire), wire) for wire in (x, y))
        elif found.low < 0:
            x, y = _opposite(builder, x), _opposite(builder, y)
        if lowering.type(y).low < 1:
            y = builder.add(integers.Check(1, max(found.high, -found.low)), y)
        return [confine(lowering, rounded_quotient(lowering, x, y, result.fraction_bits))]


def rounded_quotient(lowering: Lowering, x: int, y: int, fraction_bits: int) -> int:
    """x / y with so many fraction bits, halves rounded up; y is at least 1 by its type."""
    builder = lowering.builder
    extra = fraction_bits + lowering.type(y).fraction_bits - lowering.type(x).fraction_bits
    x = lowering.refine(x, lowering.type(x).fraction_bits + max(extra, 0))
    y = lowering.refine(y, lowering.type(y).fraction_bits + max(-extra, 0))
    bits = lowering.type(x).fraction_bits
    doubled = builder.add(integers.Scale(2, 1), x)
    half = builder.add(integers.Scale(1, bits + 1 - lowering.type(y).fraction_bits), y)
    divisor = builder.add(integers.Scale(2, 1), y)
    return builder.add(integers.Divide(), builder.add(integers.Add(), doubled, half), divisor)


def _opposite(builder: Builder, wire: int) -> int:
    return builder.add(integers.Scale(-1, 0), wire)

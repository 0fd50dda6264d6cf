"""The reciprocal, in integers by one division of magnitudes."""

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
from circuitize.circuits.types import Array, Fixed

from . import expect
from .confine import confine
from .elementwise import Multiply, Negate
from .language import RealOperation, Rounding


@dataclass(frozen=True)
class Reciprocal(RealOperation):
    """1 / x. Undefined at 0; lowered: also where the result leaves its calibrated format.

    Lowered to the correctly rounded result, halves away from zero: with N = 2^(fraction bits of x and of the result),
    its magnitude is floor((2N + |x|) / (2|x|)). One Check keeps |x| off 0 and the quotient inside the format.
    """

    name = "real.reciprocal"
    rounding = Rounding.VALUE

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 1),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        module = array_module(*values)
        with np.errstate(divide="ignore", over="ignore"):
            result = module.reciprocal(values[0])
        if not module.isfinite(result).all():
            at = tuple(int(i) for i in module.argwhere(~module.isfinite(result))[0])
            wrong = float(values[0][at])
            raise Undefined(
                f"division by zero: expected a divisor other than 0, found {wrong:g} at element {list(at)}; "
                "keep it away from 0"
            )
        return (module.asarray(result),)

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        once = builder.add(Multiply(), cotangents[0], targets[0])
        return [builder.add(Negate(), builder.add(Multiply(), once, targets[0]))]

    def lower(self, lowering: Lowering, *sources: int) -> list[int]:
        builder, result, (x,) = lowering.builder, lowering.result, sources
        source = lowering.type(x)
        negative: int | None = None
        magnitude = x
        if source.low < 0:
            magnitude = builder.add(integers.Scale(-1, 0), x)
        if source.low < 0 < source.high:
            negative = builder.add(integers.IsNegative(), x)
            magnitude = builder.add(integers.Select(), negative, magnitude, x)
        greatest = max(result.high, -result.low)
        numerator = 1 << (result.fraction_bits + source.fraction_bits + 1)
        # floor((numerator + m) / 2m) <= greatest exactly where m > numerator / (2 * greatest + 1).
        least = numerator // (2 * greatest + 1) + 1
        found = lowering.type(magnitude)
        if found.low < least:
            top = max(source.high, -source.low, least)
            magnitude = builder.add(integers.Check(least, top), magnitude)
        quotient = _rounded_quotient(lowering, numerator, magnitude, result)
        if source.low < 0:
            opposite = builder.add(integers.Scale(-1, 0), quotient)
            quotient = opposite if negative is None else builder.add(integers.Select(), negative, opposite, quotient)
        return [confine(lowering, quotient)]


def _rounded_quotient(lowering: Lowering, numerator: int, magnitude: int, result: Fixed) -> int:
    """floor((numerator + m) / 2m), in the result's fraction bits."""
    builder, found = lowering.builder, lowering.type(magnitude)
    divisor = builder.add(integers.Scale(2, 1), magnitude)
    same = builder.add(integers.Scale(1, result.fraction_bits + 1), magnitude)
    bits = found.fraction_bits + result.fraction_bits + 1
    constant = builder.add(integers.Constant.splat(numerator, found.shape, bits))
    return builder.add(integers.Divide(), builder.add(integers.Add(), same, constant), divisor)

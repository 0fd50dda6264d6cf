"""Operations that compare: greater, select, and ReLU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from circuitize.circuits import integers
from circuitize.circuits.array_module import array_module
from circuitize.circuits.integers.term import Integer, align
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Array

from .. import expect
from ..language import RealOperation, Rounding
from ..term import Real


@dataclass(frozen=True)
class Greater(RealOperation):
    """Greater: 1 where x > y, else 0, also where they are equal. The derivative of Greater is zero everywhere.

    Greater is lowered exactly on the rounded operands, to integers 0 and 1 without fraction bits.
    """

    name = "real.greater"
    rounding = Rounding.VALUE
    exact = True

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 2),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (array_module(values[0]).asarray(values[0] > values[1], np.float64),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        return [None, None]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        x, y = sources
        return integers.IsNegative()(y - x)


@dataclass(frozen=True)
class Select(RealOperation):
    """The second source where the first, the condition, is positive, and the third source elsewhere; all
    sources have one shape.

    The derivative of Select with respect to its condition is zero. Select is lowered exactly, on unrounded operands
    too; a condition of integers 0 and 1 (from Greater or ArgMaxOneHot) is used directly, and any other condition is
    first compared with 0.
    """

    name = "real.select"
    rounding = Rounding.LINEAR

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 3),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (array_module(values[0]).where(values[0] > 0, values[1], values[2]),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        condition, zero = sources[0], dz.constant(0.0)
        return [None, self(condition, dz, zero), self(condition, zero, dz)]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        condition, *choices = sources
        found = condition.type
        if found.fraction_bits or found.low < 0 or found.high > 1:
            condition = integers.IsNegative()(-condition)
        return integers.Select()(condition, *align(*choices))


@dataclass(frozen=True)
class ReLU(RealOperation):
    """ReLU: x where x > 0, else 0. The derivative of ReLU at 0 is 0. ReLU is lowered exactly on the rounded
    operand.

    The derivative of ReLU compares the result, not the operand, with 0: in a circuit it costs less to compare a number
    in [0, h] with 0 than to find a sign.
    """

    name = "real.relu"
    rounding = Rounding.VALUE
    exact = True

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 1),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        module = array_module(*values)
        return (module.asarray(module.maximum(values[0], 0.0)),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        zero = z.constant(0.0)
        return [Select()(z > zero, dz, zero)]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        return integers.ReLU()(*sources)

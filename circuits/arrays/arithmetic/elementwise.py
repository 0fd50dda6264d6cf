"""Sums, multiples and products of arrays, element by element."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from circuitize.circuits import integers
from circuitize.circuits.array_module import array_module
from circuitize.circuits.errors import TypingError
from circuitize.circuits.integers.term import Integer
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Array, Type

from .. import expect
from ..language import LinearOperation, RealOperation, Rounding
from ..term import Real


@dataclass(frozen=True)
class Add(LinearOperation):
    """The sum x + y of arrays of one shape. Add is lowered exactly."""

    name = "real.add"

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 2),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (array_module(values[0]).asarray(values[0] + values[1]),)

    def adjoint(self, dz: Real, *sources: Array) -> Sequence[Real]:
        return [dz, dz]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        x, y = sources
        return x + y


@dataclass(frozen=True)
class Subtract(LinearOperation):
    """The difference x - y of arrays of one shape. Subtract is lowered exactly."""

    name = "real.subtract"

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 2),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (array_module(values[0]).asarray(values[0] - values[1]),)

    def adjoint(self, dz: Real, *sources: Array) -> Sequence[Real]:
        return [dz, -dz]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        x, y = sources
        return x - y


@dataclass(frozen=True)
class Negate(LinearOperation):
    """The negative -x of each element. Negate is lowered exactly."""

    name = "real.negate"

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 1),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (array_module(values[0]).asarray(-values[0]),)

    def adjoint(self, dz: Real, *sources: Array) -> Sequence[Real]:
        return [-dz]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        (x,) = sources
        return -x


@dataclass(frozen=True)
class Scale(LinearOperation):
    """The product factor * x, where the factor is a finite number.

    Scale is lowered as an exact product with `precision.coefficient(factor)`, the nearest m * 2^-k with m of at most
    `coefficient_bits` bits: exact for dyadic factors, else with a relative error of at most 2^-coefficient_bits.
    """

    name = "real.scale"

    factor: float

    def __post_init__(self) -> None:
        factor = float(self.factor) + 0.0
        if not math.isfinite(factor):
            raise TypingError(f"expected a finite factor, found {factor}; give a real number")
        object.__setattr__(self, "factor", factor)

    def is_identity(self, source: Type) -> bool:
        return self.factor == 1.0

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 1),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (array_module(values[0]).asarray(self.factor * values[0]),)

    def adjoint(self, dz: Real, *sources: Array) -> Sequence[Real]:
        return [self(dz)]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        numerator, fraction_bits = lowering.precision.coefficient(self.factor)
        return integers.Scale(numerator, fraction_bits)(*sources)


@dataclass(frozen=True)
class Multiply(RealOperation):
    """The product x * y of arrays of one shape, element by element. Multiply is lowered exactly: the result has the sum
    of the operands' fraction bits.
    """

    name = "real.multiply"
    rounding = Rounding.PRODUCT

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 2),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (array_module(values[0]).asarray(values[0] * values[1]),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        x, y = sources
        return [dz * y, dz * x]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        x, y = sources
        return x * y

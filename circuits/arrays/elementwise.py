"""Sums, multiples and products of arrays, element by element."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from circuitize.circuits import integers
from circuitize.circuits.array_module import array_module
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import TypingError
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Array

from . import expect
from .language import LinearOperation, RealOperation, Rounding


@dataclass(frozen=True)
class Add(LinearOperation):
    """x + y, of one shape. Lowered exactly."""

    name = "real.add"

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 2),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (array_module(values[0]).asarray(values[0] + values[1]),)

    def dagger(self, builder: Builder, sources: Sequence[Array], cotangents: Sequence[int]) -> list[int | None]:
        return [cotangents[0], cotangents[0]]

    def lower(self, lowering: Lowering, *sources: int) -> list[int]:
        return [lowering.builder.add(integers.Add(), *lowering.align(*sources))]


@dataclass(frozen=True)
class Subtract(LinearOperation):
    """x - y, of one shape. Lowered exactly."""

    name = "real.subtract"

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 2),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (array_module(values[0]).asarray(values[0] - values[1]),)

    def dagger(self, builder: Builder, sources: Sequence[Array], cotangents: Sequence[int]) -> list[int | None]:
        return [cotangents[0], builder.add(Negate(), cotangents[0])]

    def lower(self, lowering: Lowering, *sources: int) -> list[int]:
        return [lowering.builder.add(integers.Subtract(), *lowering.align(*sources))]


@dataclass(frozen=True)
class Negate(LinearOperation):
    """-x. Lowered exactly."""

    name = "real.negate"

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 1),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (array_module(values[0]).asarray(-values[0]),)

    def dagger(self, builder: Builder, sources: Sequence[Array], cotangents: Sequence[int]) -> list[int | None]:
        return [builder.add(self, cotangents[0])]

    def lower(self, lowering: Lowering, *sources: int) -> list[int]:
        return [lowering.builder.add(integers.Scale(-1, 0), sources[0])]


@dataclass(frozen=True)
class Scale(LinearOperation):
    """factor * x, the factor a finite number.

    Lowered as an exact product with `precision.coefficient(factor)`, the nearest m * 2^-k with m of at most
    `coefficient_bits` bits: exact for dyadic factors, else off by a relative 2^-coefficient_bits at most.
    """

    name = "real.scale"

    factor: float

    def __post_init__(self) -> None:
        factor = float(self.factor) + 0.0
        if not math.isfinite(factor):
            raise TypingError(f"expected a finite factor, found {factor}; give a real number")
        object.__setattr__(self, "factor", factor)

    def is_identity(self, source: Any) -> bool:
        return self.factor == 1.0

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 1),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (array_module(values[0]).asarray(self.factor * values[0]),)

    def dagger(self, builder: Builder, sources: Sequence[Array], cotangents: Sequence[int]) -> list[int | None]:
        return [builder.add(self, cotangents[0])]

    def lower(self, lowering: Lowering, *sources: int) -> list[int]:
        numerator, fraction_bits = lowering.precision.coefficient(self.factor)
        return [lowering.builder.add(integers.Scale(numerator, fraction_bits), sources[0])]


@dataclass(frozen=True)
class Multiply(RealOperation):
    """x * y, of one shape. Lowered exactly: fraction bits add up."""

    name = "real.multiply"
    rounding = Rounding.PRODUCT

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 2),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (array_module(values[0]).asarray(values[0] * values[1]),)

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        return [builder.add(self, cotangents[0], other) for other in (sources[1], sources[0])]

    def lower(self, lowering: Lowering, *sources: int) -> list[int]:
        return [lowering.builder.add(integers.Multiply(), *sources)]

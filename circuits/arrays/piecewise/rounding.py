"""Rounding to whole numbers: floor, ceiling and nearest. All roundings to whole numbers have the derivative zero."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from circuitize.circuits import integers
from circuitize.circuits.array_module import array_module
from circuitize.circuits.integers.term import Integer
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Array

from .. import expect
from ..language import RealOperation, Rounding
from ..term import Real


class _Whole(RealOperation):
    """A rounding to whole numbers is lowered exactly on the rounded operand, to integers without fraction bits."""

    rounding = Rounding.VALUE
    exact = True

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        return (expect.one_shape(sources, 1),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        return [None]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        (x,) = sources
        bits = x.fraction_bits
        return x if bits <= 0 else self._shifted(x, bits)

    @abstractmethod
    def _shifted(self, x: Integer, bits: int) -> Integer:
        """Return the rounded result for an operand with `bits` fraction bits, at least one."""


@dataclass(frozen=True)
class Floor(_Whole):
    """The greatest whole number that is at most x."""

    name = "real.floor"

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (array_module(values[0]).floor(values[0]),)

    def _shifted(self, x: Integer, bits: int) -> Integer:
        return integers.Shift(bits)(x)


@dataclass(frozen=True)
class Ceil(_Whole):
    """The least whole number that is at least x."""

    name = "real.ceil"

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (array_module(values[0]).ceil(values[0]) + 0.0,)

    def _shifted(self, x: Integer, bits: int) -> Integer:
        return integers.Shift(bits)(x.offset((1 << bits) - 1))


@dataclass(frozen=True)
class Round(_Whole):
    """The nearest whole number, and of two nearest ones the even one: floor(x + 1/2), or floor(x + 1/2 - u)
    where floor(x) is even, u being the unit of the last bit of x.
    """

    name = "real.round"

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (array_module(values[0]).rint(values[0]) + 0.0,)

    def _shifted(self, x: Integer, bits: int) -> Integer:
        unit = integers.Scale(1, bits)(is_odd(integers.Shift(bits)(x)))
        return integers.Shift(bits)(x.offset((1 << bits - 1) - 1) + unit)


def is_odd(x: Integer) -> Integer:
    """Return 1 where an integer, in units of its last bit, is odd, else 0."""
    even = integers.Scale(2, 1)(integers.Shift(1)(x))
    return integers.Check(0, 1)(x - even)  # always holds

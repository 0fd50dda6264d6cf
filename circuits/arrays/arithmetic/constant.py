"""The constant arrays of the real language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.integers import Constant as IntegerConstant
from circuitize.circuits.integers.term import Integer
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Operation, Values
from circuitize.circuits.types import Array, Shape, Type, check_shape

from .. import expect
from ..language import RealOperation, Rounding
from ..term import Real


@dataclass(frozen=True, eq=False)
class Constant(RealOperation):
    """A constant array, known when the arrow is built. The field `amounts` of a Constant has the Constant's shape, or
    no axes if all elements are equal.

    Build a Constant with `of`, `splat` or `zeros`; a splat takes constant space whatever its shape. Constant is
    lowered exactly if the format calibrated for it has enough fraction bits, else each element is rounded to that
    format, half to even.
    """

    name = "real.constant"
    rounding = Rounding.VALUE

    shape: Shape
    amounts: NDArray[np.float64]

    def __post_init__(self) -> None:
        check_shape(self.shape)
        amounts = np.array(self.amounts, np.float64) + 0.0  # minus zero becomes zero
        if not np.isfinite(amounts).all():
            at = tuple(int(i) for i in np.argwhere(~np.isfinite(amounts))[0])
            raise CircuitizeError(
                f"expected a constant of finite numbers, found {amounts[at]} at element {list(at)}; clean the data"
            )
        if amounts.ndim and (amounts == amounts.flat[0]).all():
            amounts = np.array(amounts.flat[0], np.float64)
        elif isinstance(self.amounts, np.ndarray):
            # A file, and so a digest, tells an array without axes from a number: each comes back as it was.
            amounts = np.asarray(amounts)
        amounts.setflags(write=False)
        object.__setattr__(self, "amounts", amounts)

    @classmethod
    def of(cls, value: ArrayLike) -> Constant:
        """Return the Constant with the elements of `value`. Raise CircuitizeError for an element that is a NaN or an
        infinity.
        """
        array = np.asarray(value, np.float64)
        return cls(array.shape, array[()])

    @classmethod
    def splat(cls, amount: float, shape: Shape) -> Constant:
        """Return the constant whose elements all equal `amount`, in constant time and space."""
        return cls(shape, np.asarray(amount, np.float64)[()])

    @classmethod
    def zeros(cls, shape: Shape) -> Constant:
        """Return the constant of zeros of the given shape, in constant space."""
        return cls.splat(0.0, shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _key(self) -> tuple[Shape, Shape, bytes]:
        return self.shape, self.amounts.shape, self.amounts.tobytes()

    @property
    def constant(self) -> Values:
        return np.broadcast_to(self.amounts, self.shape)

    def constant_like(self, value: Values, target: Type) -> Operation | None:
        return Constant.of(value) if np.isfinite(value).all() else None

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        expect.arrays(sources, 0)
        return (Array(self.shape),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (self.constant,)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        return []

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        most = lowering.result.fraction_bits
        fraction_bits = min(most, exact_fraction_bits(self.amounts, most))
        integers = np.rint(np.ldexp(self.amounts, fraction_bits)).astype(np.int64)
        if integers.ndim == 0:
            constant = IntegerConstant.splat(int(integers), self.shape, fraction_bits)
        else:
            constant = IntegerConstant.of(integers, fraction_bits)
        return Integer(lowering.builder, lowering.builder.add(constant))


def exact_fraction_bits(amounts: NDArray[np.float64], most: int) -> int:
    """Return the least number of fraction bits, from 0 to `most`, with which every element is exact; `most` if there is
    no such number.
    """
    for fraction_bits in range(most):
        scaled = np.ldexp(amounts, fraction_bits)
        if (scaled == np.rint(scaled)).all():
            return fraction_bits
    return most

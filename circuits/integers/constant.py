"""Constants of the integer language."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from circuitize.circuits.errors import OverflowRisk, TypingError
from circuitize.circuits.operation import Operation, Values
from circuitize.circuits.types import Fixed, Shape, Type, fixed

from .language import IntegerOperation, Integers


@dataclass(frozen=True, eq=False)
class Constant(IntegerOperation):
    """A constant array of integers; it has no sources. Equal arrays make equal Constants.

    The field `amounts` of a Constant has the Constant's shape, or is a single number (of shape ()) that fills the
    shape; arrays of one repeated number are stored as that number. Make constants with `Constant.of` and
    `Constant.splat`.
    """

    name = "integer.constant"
    arity = 0

    amounts: Integers
    shape: Shape
    fraction_bits: int

    def __post_init__(self) -> None:
        amounts = frozen(self.amounts)
        if amounts.shape not in ((), self.shape):
            raise TypingError(
                f"{self.name}: expected amounts of shape {list(self.shape)} or a single number, "
                f"found shape {list(amounts.shape)}"
            )
        if amounts.ndim and amounts.size and (amounts == amounts.flat[0]).all():
            amounts = frozen(amounts.flat[0])
        object.__setattr__(self, "amounts", amounts)

    @classmethod
    def of(cls, array: ArrayLike, fraction_bits: int = 0) -> Constant:
        """Return the constant with the given elements; raise OverflowRisk for integers that int64 cannot hold."""
        amounts = frozen(array)
        return cls(amounts, amounts.shape, fraction_bits)

    @classmethod
    def splat(cls, amount: int, shape: Shape = (), fraction_bits: int = 0) -> Constant:
        """Return the constant whose elements all equal one number, in constant time and space."""
        return cls(frozen(amount), shape, fraction_bits)

    @property
    def constant(self) -> Integers:
        """Return the elements of the constant, read-only; a constant of one repeated number costs no memory."""
        return np.broadcast_to(self.amounts, self.shape)

    def constant_like(self, value: Values, target: Type) -> Operation | None:
        made = Constant.of(value, fixed(target).fraction_bits)
        return made if made.target_types() == (target,) else None

    def target(self, *sources: Fixed) -> Fixed:
        return self._type

    def value(self, *values: Integers) -> Values:
        return self.constant

    @cached_property
    def _type(self) -> Fixed:
        return Fixed(self.shape, self.fraction_bits, int(self.amounts.min()), int(self.amounts.max()))

    @cached_property
    def _key(self) -> tuple[bytes, Shape, Shape, int]:
        return self.amounts.tobytes(), self.amounts.shape, self.shape, self.fraction_bits

    @cached_property
    def _hash(self) -> int:
        return hash(self._key)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Constant) and self._key == other._key)


def frozen(array: ArrayLike) -> Integers:
    """Return a read-only int64 array of the given integers; raise TypingError for numbers of another kind."""
    given = np.asarray(array)
    if given.dtype == object or (given.dtype.kind == "u" and given.size and int(given.max()) > np.iinfo(np.int64).max):
        raise OverflowRisk("integer.constant: expected integers below 2^62, found one past 64 bits; use fewer bits")
    if given.dtype.kind not in "iub":
        raise TypingError(f"integer.constant: expected integers, found dtype {given.dtype}; round them first")
    made = given.astype(np.int64) if given.flags.writeable else np.ascontiguousarray(given, np.int64)
    made = made.reshape(given.shape)
    made.flags.writeable = False
    return made

"""What the prover puts on a circuit's wires: small expressions over the integer executor's trace, replayed array by
array.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .field import Field, Limbs
from .forms import Integers


class Trace(Protocol):
    """The integer values of every wire of an arrow, and of the arrows to which its operations expand."""

    field: Field
    memory: dict[object, Any]
    """A cache in which the contents of a circuit's wires keep computed values."""

    def wire(self, scope: int, wire: int) -> Integers:
        """Return the value of a wire of the arrow in a scope (0: the program's own arrow), flat."""

    def number(self, name: str) -> int:
        """Return a field element that the prover chose, by name (a commitment's salt)."""

    def challenge(self) -> int:
        """Return the value of a challenge, which is drawn after everything before it was committed to."""


class Value(ABC):
    """A content of one integer per element, below 2^63 in magnitude on every trace of a defined run."""

    @abstractmethod
    def read(self, trace: Trace) -> Integers:
        """Return the values of a content, as a flat array."""


class Elements(ABC):
    """A content of one field element per wire, of any size."""

    @abstractmethod
    def limbs(self, trace: Trace) -> Limbs:
        """Return the field elements of a content as `uint64[n, 4]`."""


@dataclass(frozen=True, slots=True)
class WireValue(Value):
    """The value of an arrow's wire."""

    scope: int
    wire: int

    def read(self, trace: Trace) -> Integers:
        return trace.wire(self.scope, self.wire)


@dataclass(frozen=True, slots=True, eq=False)
class Chosen(Value):
    """The element indices[i] of a value, for each i."""

    value: Value
    indices: NDArray[np.integer]

    def read(self, trace: Trace) -> Integers:
        chosen: Integers = self.value.read(trace)[self.indices]
        return chosen


@dataclass(frozen=True, slots=True)
class Product(Value):
    """The elementwise product of two values."""

    left: Value
    right: Value

    def read(self, trace: Trace) -> Integers:
        return self.left.read(trace) * self.right.read(trace)


@dataclass(frozen=True, slots=True)
class Affine(Value):
    """The value factor * value + offset."""

    value: Value
    factor: int
    offset: int

    def read(self, trace: Trace) -> Integers:
        return self.value.read(trace) * np.int64(self.factor) + np.int64(self.offset)


@dataclass(frozen=True, slots=True)
class Sum(Value):
    """The value factor * left + other * right."""

    left: Value
    right: Value
    other: int = 1
    factor: int = 1

    def read(self, trace: Trace) -> Integers:
        return np.int64(self.factor) * self.left.read(trace) + np.int64(self.other) * self.right.read(trace)


@dataclass(frozen=True, slots=True, eq=False)
class GroupSum(Value):
    """The sums of `depth` elements at a time, taken in the order of `indices`."""

    value: Value
    indices: NDArray[np.integer]
    depth: int

    def read(self, trace: Trace) -> Integers:
        chosen: Integers = self.value.read(trace)[self.indices].reshape(-1, self.depth).sum(axis=1)
        return chosen


@dataclass(frozen=True, slots=True)
class BitTable(Value):
    """The bits start, ..., start + count - 1 of value + offset, which is not negative: all bits of an element stand
    together.
    """

    value: Value
    offset: int
    start: int
    count: int

    def read(self, trace: Trace) -> Integers:
        shifted = (self.value.read(trace) + np.int64(self.offset)) >> np.int64(self.start)
        table: Integers = (shifted[:, None] >> np.arange(self.count, dtype=np.int64)) & 1
        return table.reshape(-1)


@dataclass(frozen=True, slots=True)
class AllBits(Value):
    """A content that is 1 where every bit of each mask is set in value + offset: for each element, one number per
    mask.
    """

    value: Value
    offset: int
    masks: tuple[int, ...]

    def read(self, trace: Trace) -> Integers:
        shifted = self.value.read(trace) + np.int64(self.offset)
        masks = np.array(self.masks, np.int64)
        table = ((shifted[:, None] & masks) == masks).astype(np.int64)
        return np.ascontiguousarray(table).reshape(-1)


@dataclass(frozen=True, slots=True, eq=False)
class SetProducts(Value):
    """A content for products of index bits: for n = value + offset = (h, l) in bits and each set R > 0 of bits:
    table[R, l] where R is inside h, else 0.
    """

    value: Value
    offset: int
    table: Integers

    def read(self, trace: Trace) -> Integers:
        number = self.value.read(trace) + np.int64(self.offset)
        extent = self.table.shape[1]
        sets = np.arange(1, len(self.table), dtype=np.int64)
        inside = ((number // extent)[:, None] & sets) == sets
        products: Integers = np.where(inside, self.table[1:, number % extent].T, 0)
        return products.reshape(-1)


@dataclass(frozen=True, slots=True)
class Indicators(Value):
    """A content that is, for each element and each number, 1 where floor(value / 2^shift) is that number."""

    value: Value
    shift: int
    numbers: tuple[int, ...]

    def read(self, trace: Trace) -> Integers:
        shifted = self.value.read(trace) >> np.int64(self.shift)
        table: Integers = np.equal(shifted[:, None], np.array(self.numbers, np.int64)).astype(np.int64)
        return table.reshape(-1)


@dataclass(frozen=True, slots=True)
class NonZero(Value):
    """A content that is 1 where the value is not 0, else 0."""

    value: Value

    def read(self, trace: Trace) -> Integers:
        return np.not_equal(self.value.read(trace), 0).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Inverse(Elements):
    """The field's inverse of each value, 0 for the value 0."""

    value: Value

    def limbs(self, trace: Trace) -> Limbs:
        distinct, places = np.unique(self.value.read(trace), return_inverse=True)
        prime = trace.field.prime
        inverses = [pow(value % prime, -1, prime) if value else 0 for value in distinct.tolist()]
        return trace.field.from_integers(inverses)[places]


@dataclass(frozen=True, slots=True)
class Salt(Elements):
    """A content that is a field element which the prover chose, by its name."""

    name: str

    def limbs(self, trace: Trace) -> Limbs:
        return trace.field.from_integers([trace.number(self.name)])


@dataclass(frozen=True, slots=True)
class Drawn(Elements):
    """The challenge that is drawn outside the circuit."""

    def challenge(self, trace: Trace) -> int:
        """Return the challenge of a run, which must have been drawn."""
        return trace.challenge()

    def limbs(self, trace: Trace) -> Limbs:
        return trace.field.from_integers([trace.challenge()])

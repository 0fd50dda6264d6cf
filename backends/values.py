"""The values that a prover puts on a circuit's wires: small expressions over the integer executor's trace, which are
evaluated array by array.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .field import Field, Limbs
from .forms import Integers

Memory: TypeAlias = dict[object, Any]
"""A cache in which the contents of a circuit's wires keep computed values."""


class Trace(Protocol):
    """A trace: the integer values of every wire of an arrow, and of the arrows to which its operations expand."""

    field: Field
    memory: Memory

    def wire(self, scope: int, wire: int) -> Integers:
        """Return the value of a wire, as a flat array, of the arrow in a scope (scope 0 is the program's own arrow)."""

    def number(self, name: str) -> int:
        """Return the field element with the given name that the prover chose, such as the salt of a commitment."""

    def challenge(self) -> int:
        """Return the value of the challenge, which is drawn after the prover has committed to everything before it."""


class Value(ABC):
    """A content of wires with one integer per element, which is below 2^63 in magnitude in every run for which the
    program is defined.
    """

    @abstractmethod
    def read(self, trace: Trace) -> Integers:
        """Return the values of the content in a run, as a flat array."""


class Elements(ABC):
    """A content of wires with one field element per wire, of any size."""

    @abstractmethod
    def limbs(self, trace: Trace) -> Limbs:
        """Return the field elements of the content in a run, as `uint64[n, 4]`."""


@dataclass(frozen=True, slots=True)
class WireValue(Value):
    """The value of one wire of an arrow, as a content of circuit wires."""

    scope: int
    wire: int

    def read(self, trace: Trace) -> Integers:
        return trace.wire(self.scope, self.wire)


@dataclass(frozen=True, slots=True, eq=False)
class Chosen(Value):
    """The elements of a value chosen by index: for each i the element indices[i]."""

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
    """The bits start, ..., start + count - 1 of value + offset, which is not negative; all bits of an element are
    consecutive.
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
    """A content that is 1 where all bits of a mask are set in value + offset, and 0 elsewhere: for each element, one
    number per mask.
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
    """A content for products of index bits: if n = value + offset consists of the bits (h, l), it is, for each set R >
    0 of bits, table[R, l] if R is inside h, and 0 otherwise.
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
    """A content that is, for each element and each number, 1 if floor(value / 2^shift) equals that number, and 0
    otherwise.
    """

    value: Value
    shift: int
    numbers: tuple[int, ...]

    def read(self, trace: Trace) -> Integers:
        shifted = self.value.read(trace) >> np.int64(self.shift)
        table: Integers = np.equal(shifted[:, None], np.array(self.numbers, np.int64)).astype(np.int64)
        return table.reshape(-1)


@dataclass(frozen=True, slots=True)
class NonZero(Value):
    """A content that is 1 where a value is not 0, and 0 elsewhere."""

    value: Value

    def read(self, trace: Trace) -> Integers:
        return np.not_equal(self.value.read(trace), 0).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Inverse(Elements):
    """The inverse of each value in the field, where the inverse of 0 is given as 0."""

    value: Value

    def limbs(self, trace: Trace) -> Limbs:
        distinct, places = np.unique(self.value.read(trace), return_inverse=True)
        prime = trace.field.prime
        inverses = [pow(value % prime, -1, prime) if value else 0 for value in distinct.tolist()]
        return trace.field.from_integers(inverses)[places]


@dataclass(frozen=True, slots=True)
class Salt(Elements):
    """A content that is a random field element chosen by the prover, found by its name."""

    name: str

    def limbs(self, trace: Trace) -> Limbs:
        return trace.field.from_integers([trace.number(self.name)])


@dataclass(frozen=True, slots=True)
class Drawn(Elements):
    """A content that is the challenge which is drawn outside the circuit."""

    def challenge(self, trace: Trace) -> int:
        """Return the challenge of a run, which must already have been drawn."""
        return trace.challenge()

    def limbs(self, trace: Trace) -> Limbs:
        return trace.field.from_integers([trace.challenge()])

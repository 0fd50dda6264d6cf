"""Contractions whose sums are bounded by a later range check: several sums share one field element, and a single row
multiplies all their operands.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.types import Fixed

from ...field import Limbs
from ...forms import wires
from ...values import Elements, Trace, Value
from ..system import Order, Rows
from .assembly import Assembly, Handle
from .packing import Numbers, Packing, beside, choose, join

Letters = tuple[str, str, str]
"""The axis letters of the left operand, the right one and the target."""


@dataclass(frozen=True, slots=True, eq=False)
class Pin:
    """The bounds that a later range check gives for the sums of a contraction.

    The later range check shows for each sum that x = factor * sum + known forms is an integer that differs by at most
    `deviation` from the x of a right sum. If a commitment binds the quotient of a Shift, the `bits` of the remainder
    determine the dividend x; otherwise `bits` counts all bits of x.
    """

    deviation: int
    factor: int
    bits: int = 0
    bound: bool = False

    def capacity(self, prime: int) -> tuple[int, int]:
        """Return how many deviations of sums a single field element can distinguish, and the width in bits of their
        places.

        If each deviation d_t is below 2^c in magnitude and the sum of d_t * 2^(c t) is below the prime, the sum is 0
        modulo the prime only if each d_t is 0: the lowest is a multiple of 2^c and therefore 0, and so on upward.
        """
        bits = self.deviation.bit_length()
        count = 0
        while self.deviation * sum(1 << (bits * place) for place in range(count + 1)) < prime:
            count += 1
        return count, bits


@dataclass(frozen=True, slots=True, eq=False)
class Contraction:
    """An einsum of two operands, in which each axis of an operand is also an axis of the other operand or of the
    target. The fields `type` and `value` are the type and the value of the contraction's result.
    """

    letters: Letters
    left: Handle
    right: Handle
    type: Fixed
    value: Value

    @property
    def extents(self) -> dict[str, int]:
        """Return the extent of each axis of the contraction, by its letter."""
        operands = (self.left, self.right)
        pairs = (zip(own, x.type.shape, strict=True) for own, x in zip(self.letters, operands, strict=False))
        return dict(chain.from_iterable(pairs))

    @property
    def turned(self) -> Contraction:
        """Return the contraction with its operands exchanged."""
        left, right, target = self.letters
        return Contraction((right, left, target), self.right, self.left, self.type, self.value)


@dataclass(frozen=True, slots=True)
class Axes:
    """The axis letters of a contraction by kind: those of both operands and the target, those of one operand and the
    target, and those over which it sums.
    """

    both: str
    left: str
    right: str
    summed: str
    extents: dict[str, int]

    def extent(self, letters: str) -> int:
        """Return the number of elements along all of the given axes together."""
        return math.prod(self.extents[letter] for letter in letters)

    def places(self, letters: str, axes: str) -> NDArray[np.int64]:
        """Return, for each point of the index space `axes`, its flat place in an array whose axes are `letters`, which
        are the same letters in another order.
        """
        shape = [self.extents[letter] for letter in letters]
        return np.arange(math.prod(shape)).reshape(shape).transpose([letters.index(letter) for letter in axes])


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """A packing of the sums of a contraction: each field element holds `rows` by `columns` sums, at places that are
    `bits` bits wide.
    """

    axes: Axes
    rows: int
    columns: int
    bits: int

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Return the extents of the packed products of a contraction: of the axes in both operands and the target, of
        packed rows, of packed columns, and of the axes summed over.
        """
        axes = self.axes
        high, wide = -(-axes.extent(axes.left) // self.rows), -(-axes.extent(axes.right) // self.columns)
        return axes.extent(axes.both), high, wide, axes.extent(axes.summed)

    @property
    def cost(self) -> int:
        """Return the number of rows that a contraction takes if every packed product has its own row."""
        return math.prod(self.shape)

    @property
    def projected(self) -> int:
        """Return the number of rows that a contraction takes if a challenge folds the packed columns."""
        both, high, wide, depth = self.shape
        return both * (high * depth + (high + depth) * (wide - 1))

    def left(self, letters: str) -> Packing:
        """Return the packing of the contraction's left operand, as [both, packed rows, summed]."""
        axes = self.axes
        table = axes.places(letters, axes.both + axes.left + axes.summed)
        table = table.reshape(axes.extent(axes.both), axes.extent(axes.left), axes.extent(axes.summed))
        members = _grouped(table, 1, self.rows).transpose(0, 1, 3, 2).reshape(-1, self.rows)
        return Packing(members, self.bits * self.columns * np.arange(self.rows))

    def right(self, letters: str) -> Packing:
        """Return the packing of the contraction's right operand, as [both, summed, packed columns]."""
        axes = self.axes
        table = axes.places(letters, axes.both + axes.summed + axes.right)
        table = table.reshape(axes.extent(axes.both), axes.extent(axes.summed), axes.extent(axes.right))
        return Packing(_grouped(table, 2, self.columns).reshape(-1, self.columns), self.bits * np.arange(self.columns))

    def sums(self, letters: str) -> Packing:
        """Return the packing of the contraction's target, as [both, packed rows, packed columns]."""
        axes = self.axes
        table = axes.places(letters, axes.both + axes.left + axes.right)
        table = table.reshape(axes.extent(axes.both), axes.extent(axes.left), axes.extent(axes.right))
        grouped = _grouped(_grouped(table, 1, self.rows), 3, self.columns).transpose(0, 1, 3, 2, 4)
        size = self.rows * self.columns
        return Packing(grouped.reshape(-1, size), self.bits * np.arange(size))


def _grouped(table: NDArray[np.int64], axis: int, size: int) -> NDArray[np.int64]:
    """Return a table of places with one axis cut into groups of `size` places, which form a new axis after it; -1 fills
    the last group.
    """
    extent = table.shape[axis]
    padding = [(0, 0)] * table.ndim
    padding[axis] = (0, -extent % size)
    padded = np.pad(table, padding, constant_values=-1)
    shape = list(table.shape)
    shape[axis : axis + 1] = [-(-extent // size), size]
    return padded.reshape(shape)


class Numbered(Protocol):
    """A content of wires whose values are big integers."""

    def numbers(self, trace: Trace) -> Numbers:
        """Return the values of the content in one run, as big integers."""


@dataclass(frozen=True, slots=True, eq=False)
class PackedValue:
    """The values of a contraction's operand, with several packed into each integer."""

    value: Value
    packing: Packing

    def numbers(self, trace: Trace) -> Numbers:
        """Return the packed integers of the operand in one run."""
        return self.packing.integers(self.value.read(trace))


@dataclass(frozen=True, slots=True, eq=False)
class PackedProducts(Elements):
    """The products of packed left and right operands of a contraction."""

    left: Numbered
    right: Numbered
    at_left: NDArray[np.int64]
    at_right: NDArray[np.int64]

    def limbs(self, trace: Trace) -> Limbs:
        a, b = self.left.numbers(trace), self.right.numbers(trace)
        return trace.field.from_integers((a[self.at_left] * b[self.at_right]).tolist())


def blocks(contraction: Contraction, pin: Pin, prime: int) -> list[Blocks]:
    """Return the ways to pack a contraction, or an empty list if the field is too small for the bounds of the later
    range check.
    """
    left, right, target = contraction.letters
    count, bits = pin.capacity(prime)
    if pin.factor % prime == 0:
        return []
    axes = Axes(
        "".join(letter for letter in target if letter in left and letter in right),
        "".join(letter for letter in target if letter not in right),
        "".join(letter for letter in target if letter not in left),
        "".join(letter for letter in left if letter not in target),
        contraction.extents,
    )
    return [Blocks(axes, rows, count // rows, bits) for rows in range(1, count + 1)]


def accumulate(assembly: Assembly, plan: Blocks, contraction: Contraction) -> Handle:
    """Return the sums of a contraction as wires; each product of packed operands takes one row.

    If rows of the left operand are packed at the powers 2^(c * columns * i) and columns of the right operand at 2^(c
    j), one product is the sum of a * b * 2^(c (columns * i + j)) over i and j; the sum of these products over the
    contracted index equals the packed sums. In a packed contraction, only the row of the last product states that the
    sum of products equals the packed sums.

    Soundness: the operands equal the executor's by the invariant of handles, so that the rows say, modulo p, that the
    sum of (wire - sum) * 2^(c t) over the sums t of a block is 0. Multiplied by the factor of the later range check,
    which is not 0 modulo p, each difference (wire - sum) becomes the difference between the x that the range check
    allows and the x of a right sum, which is an integer of at most the pin's deviation in magnitude; `Pin.capacity`
    shows that all these differences are 0. The later range check has its own rows for every element and needs nothing
    from the contraction's rows: it makes x an integer in a window, whatever values the contraction's wires have.
    """
    letters, left, right = contraction.letters, contraction.left, contraction.right
    type, value = contraction.type, contraction.value
    single = wires(assembly.wires(value, type.size, "accumulator", type.shape), type.size)
    first, second = PackedValue(left.value, plan.left(letters[0])), PackedValue(right.value, plan.right(letters[1]))
    a = first.packing.combine(assembly.builder, left.forms)
    b = second.packing.combine(assembly.builder, right.forms)
    sums = plan.sums(letters[2])
    _, high, wide, depth = plan.shape
    grid = np.indices(plan.shape).reshape(4, -1)
    content = PackedProducts(
        first,
        second,
        (grid[0] * high + grid[1]) * depth + grid[3],
        (grid[0] * depth + grid[3]) * wide + grid[2],
    )
    packed = sums.combine(assembly.builder, single)
    equate(assembly, a, b, packed, content, depth, sums.members[:, 0], type.size, "packed product")
    return Handle(single, value, type)


def equate(
    assembly: Assembly,
    a: Rows,
    b: Rows,
    sums: Rows,
    content: PackedProducts,
    depth: int,
    places: NDArray[np.integer],
    elements: int,
    role: str,
) -> None:
    """Constrain each of `sums` to be the sum of its `depth` products, which are consecutive; each product takes a row.

    The indices in `content` say which elements of the two operands are multiplied; `places` are the places of the
    `elements` elements after which the rows are named.

    Soundness: every product except the last of a sum is a wire that its row determines; the row of the last product
    says that this product is what remains of the sum.
    """
    count = sums.count
    inner = (np.arange(count * depth) % depth) < depth - 1
    kept = PackedProducts(content.left, content.right, content.at_left[inner], content.at_right[inner])
    others = Rows.wire(np.arange(count * (depth - 1)) + assembly.wires(kept, count * (depth - 1), role))
    minus = Rows(np.arange(count + 1) * (depth - 1), others.wires, -others.coefficients)
    order = np.empty((count, depth), np.int64)
    order[:, :-1] = np.arange(count * (depth - 1)).reshape(count, depth - 1)
    order[:, -1] = count * (depth - 1) + np.arange(count)
    results = choose(join([others, beside(sums, minus)]), order.reshape(-1))
    assembly.builder.rows(
        choose(a, content.at_left),
        choose(b, content.at_right),
        results,
        assembly.edge,
        role,
        Order(elements, depth, np.repeat(places, depth) * depth + np.tile(np.arange(depth), count)),
    )

"""Contractions whose sums a later range check bounds: several sums in one field element, with one row for all their
products.
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
    """The bounds that a later range check gives for a contraction's sums.

    A later range check shows for each sum that x = factor * sum + known forms is an integer; this x differs by at most
    `deviation` from the x of a right sum. If a commitment binds the quotient of a Shift, the remainder's `bits`
    determine the dividend x; otherwise all bits do.
    """

    deviation: int
    factor: int
    bits: int = 0
    bound: bool = False

    def capacity(self, prime: int) -> tuple[int, int]:
        """Return how many deviations of sums one field element tells apart, and how many bits wide their places are.

        With c bits, each deviation being below 2^c, a sum of d_t * 2^(c t) below the prime is 0 modulo it only if each
        d_t is 0: the lowest is a multiple of 2^c, hence 0, and so on upward.
        """
        bits = self.deviation.bit_length()
        count = 0
        while self.deviation * sum(1 << (bits * place) for place in range(count + 1)) < prime:
            count += 1
        return count, bits


@dataclass(frozen=True, slots=True, eq=False)
class Contraction:
    """An einsum of two operands; each axis of an operand is also one of the other operand or of the target. `type` and
    `value` are the type and the value of the contraction's result.
    """

    letters: Letters
    left: Handle
    right: Handle
    type: Fixed
    value: Value

    @property
    def extents(self) -> dict[str, int]:
        """Return the extent of each axis of a contraction."""
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
    """A contraction's letters by kind: those of both operands and the target, those of one operand and the target, and
    the summed ones.
    """

    both: str
    left: str
    right: str
    summed: str
    extents: dict[str, int]

    def extent(self, letters: str) -> int:
        """Return the number of elements along the given letters together."""
        return math.prod(self.extents[letter] for letter in letters)

    def places(self, letters: str, axes: str) -> NDArray[np.int64]:
        """Return the flat place in an array of axes `letters`, for each point of `axes`, which hold the same
        letters.
        """
        shape = [self.extents[letter] for letter in letters]
        return np.arange(math.prod(shape)).reshape(shape).transpose([letters.index(letter) for letter in axes])


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """A packing of the sums of a contraction: `rows` by `columns` sums in each field element, at places `bits` wide."""

    axes: Axes
    rows: int
    columns: int
    bits: int

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Return the extents of the packed products of a contraction: both, packed rows, packed columns, summed."""
        axes = self.axes
        high, wide = -(-axes.extent(axes.left) // self.rows), -(-axes.extent(axes.right) // self.columns)
        return axes.extent(axes.both), high, wide, axes.extent(axes.summed)

    @property
    def cost(self) -> int:
        """Return the number of rows, that a contraction takes if every packed product has its own."""
        return math.prod(self.shape)

    @property
    def projected(self) -> int:
        """Return the number of rows, that a contraction takes if a challenge folds the packed columns."""
        both, high, wide, depth = self.shape
        return both * (high * depth + (high + depth) * (wide - 1))

    def left(self, letters: str) -> Packing:
        """Return the packing [both, packed rows, summed] of the left operand."""
        axes = self.axes
        table = axes.places(letters, axes.both + axes.left + axes.summed)
        table = table.reshape(axes.extent(axes.both), axes.extent(axes.left), axes.extent(axes.summed))
        members = _grouped(table, 1, self.rows).transpose(0, 1, 3, 2).reshape(-1, self.rows)
        return Packing(members, self.bits * self.columns * np.arange(self.rows))

    def right(self, letters: str) -> Packing:
        """Return the packing [both, summed, packed columns] of the right operand."""
        axes = self.axes
        table = axes.places(letters, axes.both + axes.summed + axes.right)
        table = table.reshape(axes.extent(axes.both), axes.extent(axes.summed), axes.extent(axes.right))
        return Packing(_grouped(table, 2, self.columns).reshape(-1, self.columns), self.bits * np.arange(self.columns))

    def sums(self, letters: str) -> Packing:
        """Return the packing [both, packed rows, packed columns] of the target."""
        axes = self.axes
        table = axes.places(letters, axes.both + axes.left + axes.right)
        table = table.reshape(axes.extent(axes.both), axes.extent(axes.left), axes.extent(axes.right))
        grouped = _grouped(_grouped(table, 1, self.rows), 3, self.columns).transpose(0, 1, 3, 2, 4)
        size = self.rows * self.columns
        return Packing(grouped.reshape(-1, size), self.bits * np.arange(size))


def _grouped(table: NDArray[np.int64], axis: int, size: int) -> NDArray[np.int64]:
    """Return a table of places with one axis cut into groups of `size`, which become a new axis after it; -1 past the
    end.
    """
    extent = table.shape[axis]
    padding = [(0, 0)] * table.ndim
    padding[axis] = (0, -extent % size)
    padded = np.pad(table, padding, constant_values=-1)
    shape = list(table.shape)
    shape[axis : axis + 1] = [-(-extent // size), size]
    return padded.reshape(shape)


class Numbered(Protocol):
    """A content whose values are big integers."""

    def numbers(self, trace: Trace) -> Numbers:
        """Return the values of a content that are big integers, for one run."""


@dataclass(frozen=True, slots=True, eq=False)
class PackedValue:
    """The values of a contraction's operand, several packed into one integer."""

    value: Value
    packing: Packing

    def numbers(self, trace: Trace) -> Numbers:
        """Return the packed integers of an operand for one run."""
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
    """Return the ways to pack a contraction; an empty list if the field is too small for the bounds of the later range
    check.
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
    """Return the sums of a contraction as wires, with a row for each product of packed operands.

    With rows of the left operand packed at powers 2^(c * columns * i) and columns of the right one at 2^(c j), one
    product sums up a * b * 2^(c (columns * i + j)) over i and j; the sum of the products over the contracted index
    equals the packed sums. In a packed contraction the last product's row states that the sum of products equals the
    packed sums, and no other row does.

    Soundness: the operands are the executor's by the invariant, so modulo p the rows say sum of (wire - sum) * 2^(c t)
    = 0 over the sums t of a block. Multiplied by the factor of the later range check, which is not 0 modulo p, each
    difference (wire - sum) becomes the difference between the x that the later range check allows and the x of a right
    sum, an integer of at most the pin's deviation; `Pin.capacity` shows that all are 0. The later range check has rows
    for every element and needs nothing from the contraction's rows: its x is an integer in a window whatever the
    contraction's wires are.
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
    """Constrain each of `sums` to be the sum of its `depth` products, which stand together: a row per product.

    The indices of `content` say which elements of both operands are multiplied; `places` are the places of the
    `elements` elements by which rows are named.

    Soundness: every product but a sum's last is a wire that its row determines; the last row says that the rest of the
    sum is its product.
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

"""A rank-one constraint system: sparse matrices A, B and C over a prime field, such that a witness w must satisfy Aw *
Bw = Cw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..field import SMALL, Field, Limbs

LARGE = SMALL
"""A coefficient of at least LARGE is a reference: the value is `large[coefficient - LARGE]`."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Linear combinations of wires in compressed sparse rows, the form in which gadgets give them to a builder.

    Row i of a sparse matrix has the terms at offsets[i]:offsets[i + 1]. The wires in a row ascend strictly;
    coefficients are signed integers below 2^62 in magnitude or codes from `large_constant`, and may be zero, in which
    case the builder drops the term.
    """

    offsets: NDArray[np.int64]
    wires: NDArray[np.integer]
    coefficients: NDArray[np.int64]

    @staticmethod
    def zero(count: int) -> Rows:
        """Return `count` linear combinations that have no terms."""
        return Rows(np.zeros(count + 1, np.int64), np.zeros(0, np.uint32), np.zeros(0, np.int64))

    @staticmethod
    def wire(wires: ArrayLike, coefficients: ArrayLike = 1) -> Rows:
        """Return linear combinations of one term each: coefficients[i], or the one coefficient given for all, times
        wires[i].
        """
        indices = np.asarray(wires).reshape(-1)
        values = np.broadcast_to(np.asarray(coefficients, np.int64).reshape(-1), indices.shape)
        return Rows(np.arange(len(indices) + 1, dtype=np.int64), indices, values)

    @staticmethod
    def constant(values: ArrayLike) -> Rows:
        """Return linear combinations of one term each: values[i] times the constant wire."""
        coefficients = np.asarray(values, np.int64).reshape(-1)
        return Rows.wire(np.zeros(len(coefficients), np.uint32), coefficients)

    @property
    def count(self) -> int:
        """Return the number of linear combinations."""
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True)
class Matrix:
    """One of the matrices A, B and C in compressed sparse rows; equal matrices have equal arrays.

    The fields of the matrix are `offsets int64[rows + 1]`, `wires uint32[n]`, which ascend strictly in a row, and
    `coefficients int64[n]`, none of which is zero in the field: a coefficient is the signed representative if its
    magnitude is below 2^62, and otherwise LARGE + an index.
    """

    offsets: NDArray[np.int64]
    wires: NDArray[np.uint32]
    coefficients: NDArray[np.int64]

    @property
    def rows(self) -> int:
        """Return the number of rows of the matrix, which is the number of constraints."""
        return len(self.offsets) - 1

    @property
    def nonzeros(self) -> int:
        """Return the number of stored coefficients, none of which is zero in the field."""
        return len(self.wires)


@dataclass(frozen=True, slots=True)
class Order:
    """The order in which consecutive rows of a constraint system belong to elements: row r, counted from 0, belongs to
    the element `r // stride % elements`.

    The field `stride` is 1 if the rows run over all elements again and again (bit by bit); if the rows of each element
    are consecutive, it is the number of rows per element. If some rows that this order describes are left out of the
    system, `places` gives, for each remaining row, the row's number r.
    """

    elements: int
    stride: int = 1
    places: NDArray[np.int64] | None = field(default=None, compare=False)

    def fits(self, rows: int) -> bool:
        """Return whether `rows` rows can belong to elements in this order."""
        if self.elements < 1:
            return False
        return rows % (self.elements * self.stride) == 0 if self.places is None else len(self.places) == rows

    def locate(self, row: int) -> tuple[int, int]:
        """Return the element to which a row belongs, and the number of the row among the element's rows, both counted
        from 0.
        """
        place = row if self.places is None else int(self.places[row])
        lap, rest = divmod(place, self.elements * self.stride)
        element, part = divmod(rest, self.stride)
        return element, lap * self.stride + part


@dataclass(frozen=True, slots=True)
class Block:
    """A block: consecutive rows that one gadget emitted for the elements of one operation's output, which are recorded
    only so that failures can name their rows.

    The field `edge` is the index of the operation in the integer arrow, or -1 for the arrow's own inputs and outputs.
    """

    first_row: int
    rows: int
    edge: int
    role: str
    order: Order

    @property
    def rows_per_element(self) -> int:
        """Return the number of rows that one element of the operation's output takes."""
        return self.rows // self.order.elements if self.order.places is None else self.order.stride

    def locate(self, row: int) -> tuple[int, int]:
        """Return the element to which a row of the block belongs, and the number of the row among the element's rows,
        both counted from 0.
        """
        return self.order.locate(row - self.first_row)


@dataclass(frozen=True, slots=True)
class WireBlock:
    """The consecutive wires first, ..., first + count - 1, which are an array of `shape` in row-major order. A
    WireBlock is only a name for wires, and constrains nothing.
    """

    first: int
    count: int
    edge: int
    role: str
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ConstraintSystem:
    """A rank-one constraint system, whose wires are numbered in this order: constant 1, public outputs, public inputs,
    private inputs, internal wires.

    The field `large`, an array `uint64[k, 4]`, has the distinct coefficients that are not small, in ascending order. If
    `committed` is above 0, the last public wire is a challenge: the rows are sound only if the challenge is drawn at
    random after all other public wires and the first `committed` private wires are fixed.
    """

    field: Field
    a: Matrix
    b: Matrix
    c: Matrix
    large: Limbs
    wires: int
    public_outputs: int
    public_inputs: int
    private_inputs: int
    blocks: Sequence[Block] = ()
    wire_blocks: Sequence[WireBlock] = ()
    committed: int = 0

    @property
    def constraints(self) -> int:
        """Return the number of constraints, which is the number of rows of each matrix."""
        return self.a.rows

    @property
    def nonzeros(self) -> int:
        """Return the number of coefficients in A, B and C together."""
        return self.a.nonzeros + self.b.nonzeros + self.c.nonzeros

    @property
    def public(self) -> int:
        """Return the number of public wires, which are outputs and inputs, without the constant wire."""
        return self.public_outputs + self.public_inputs

    def coefficient_limbs(self, coefficients: NDArray[np.int64]) -> Limbs:
        """Return the coefficients that a matrix stores, as field elements in normal form."""
        references = coefficients >= LARGE
        limbs = self.field.from_int64(np.where(references, 0, coefficients))
        limbs[references] = self.large[coefficients[references] - LARGE]
        return limbs

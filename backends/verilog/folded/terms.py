"""The elements that the terms of a reduction read, for each element of the target: rows, of which each is kept once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .reads import distinct

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Terms:
    """For each element of a reduction's target the flat indices of the elements that its terms read, or -1 for 0.

    `rows` [rows, terms] holds different rows of indices, in the order in which they first occur, and `row` [size] the
    number of the row of each element of the target. In a product of matrices, a row of the target reads one row of the
    left matrix, and a column of it one column of the right matrix.
    """

    rows: Indices
    row: Indices

    @staticmethod
    def of(table: Indices) -> Terms:
        """Return the terms that a table [size, terms] lists."""
        first, row = distinct(table)
        return Terms(table[first], row)

    @staticmethod
    def sums(starts: Indices, steps: Indices) -> Terms:
        """Return the terms of which term k of element q reads `starts[q] + steps[k]`."""
        first, row = distinct(starts[:, None])
        return Terms(starts[first][:, None] + steps, row)

    def through(self, view: Callable[[Indices], Indices]) -> Terms:
        """Return what the terms read if they read through a view, which gives the index behind each index."""
        first, row = distinct(rows := view(self.rows))
        return Terms(rows[first], row[self.row])

    def equal(self, other: Terms) -> bool:
        """Return whether all terms read the same elements."""
        return np.array_equal(self.row, other.row) and np.array_equal(self.rows, other.rows)


At = Indices | Terms
"""What an operand reads: one element for each element of the target, or one for each of its terms."""


def equal(one: At, other: At) -> bool:
    """Return whether two operands read the same elements, at the same places."""
    if isinstance(one, Terms) or isinstance(other, Terms):
        return isinstance(one, Terms) and isinstance(other, Terms) and one.equal(other)
    return np.array_equal(one, other)


def through(at: At, view: Callable[[Indices], Indices]) -> At:
    """Return what an operand reads if it reads through a view."""
    return at.through(view) if isinstance(at, Terms) else view(at)


def indices(at: At) -> Indices:
    """Return all indices that an operand reads, each at least once; the first is what its first element reads first."""
    return at.rows if isinstance(at, Terms) else at


def elements(at: At) -> Indices:
    """Return what an operand outside any reduction reads: one element for each element of the target."""
    assert not isinstance(at, Terms), "one reduction within another"
    return at

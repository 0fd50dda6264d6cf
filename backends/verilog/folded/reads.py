"""What a reader reads in each clock: rows of elements, of which each is kept once however often it is read."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]

NOTHING = -2
"""In a table of elements: nothing is read or written here, or it does not matter what."""

PARTS = 1024
"""Numbers of a wide row that are looked at first: they tell most rows apart."""


@dataclass(frozen=True, eq=False)
class Reads:
    """The elements that a reader reads: in each step a row, with an element for each of its places.

    `rows` [rows, places] holds the elements, and -1 where 0 is read; `valid` says which of them matter; `row` [steps]
    is the number of the row of each step. Rows are in the order in which they are first read; several may be equal.
    """

    rows: Indices
    valid: NDArray[np.bool_]
    row: Indices

    @staticmethod
    def of(table: Indices, valid: NDArray[np.bool_] | None = None) -> Reads:
        """Return what is read by a table of elements [steps, places]; without `valid` all of them matter."""
        whole = np.ones(table.shape, bool) if valid is None else valid
        return Reads(table, whole, np.arange(len(table)))

    @staticmethod
    def beside(several: Sequence[Reads]) -> Reads:
        """Return what several readers read at the same time, with the places of each reader after those of the reader
        before it.
        """
        if len(several) == 1:
            return several[0]
        first, row = distinct(np.stack([one.row for one in several], axis=1))
        parts = [(one.rows[one.row[first]], one.valid[one.row[first]]) for one in several]
        rows, valid = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
        return Reads(rows, valid, row)

    @property
    def places(self) -> int:
        """Return the number of elements of a row."""
        return int(self.rows.shape[1])

    @property
    def arrays(self) -> tuple[NDArray[np.generic], ...]:
        """Return the arrays that tell what is read."""
        return self.rows, self.valid, self.row

    @cached_property
    def key(self) -> Hashable:
        """Return what is the same for reads of the same rows in the same steps."""
        return tuple(map(contents, self.arrays))

    @cached_property
    def columns(self) -> tuple[Indices, Indices]:
        """Return the distinct columns of the rows that are read [rows, columns], and for each place the number of its
        column.

        An entry of a column becomes NOTHING if it is valid in none of the column's places.
        """
        first, taken = distinct(self.rows.T)
        columns = self.rows[:, first]
        if self.valid.all():
            return columns, taken
        order = np.argsort(taken, kind="stable")
        starts = np.searchsorted(taken[order], np.arange(len(first)))
        used = np.logical_or.reduceat(self.valid[:, order], starts, axis=1)
        return np.where(used, columns, NOTHING), taken

    def all_valid(self) -> Reads:
        """Return the same reads, of which all elements matter."""
        return replace(self, valid=np.ones_like(self.valid))


def contents(array: NDArray[np.generic]) -> Hashable:
    """Return what is the same for arrays of the same type, shape and contents."""
    return array.dtype.str, array.shape, blake2b(np.ascontiguousarray(array).data, digest_size=16).digest()


def distinct(rows: Indices) -> tuple[Indices, Indices]:
    """Return the index of the first row of each kind, in order of appearance, and for each row the number of
    its kind.
    """
    wide = rows.shape[1] // PARTS
    for part in (rows[:, ::wide], rows) if wide > 1 else (rows,):
        first, kind = _by_keys(part)
        if len(first) == len(rows) or (rows[first[kind]] == rows).all():
            return first, kind
    raise AssertionError("two rows with one key")


def _by_keys(rows: Indices) -> tuple[Indices, Indices]:
    """Return what `distinct` does, of rows that may be taken for equal although they differ, which is unlikely."""
    factors = np.random.default_rng(len(rows)).integers(1, 1 << 62, rows.shape[1], dtype=np.int64) | 1
    with np.errstate(over="ignore"):
        keys = rows @ factors
    _, first, kind = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return first[order], rank[kind.reshape(-1)]

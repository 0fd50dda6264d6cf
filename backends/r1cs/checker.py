"""Finding the constraints that a witness breaks, exactly over the field, and describing each of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError

from ..field import BN254, Limbs
from ..native import native
from .arrays import borrowed
from .system import LARGE, ConstraintSystem, Matrix

CHUNK_TERMS = 1 << 20
"""How many terms of one matrix the checker looks at together."""

Integers = NDArray[np.int64]
Numbers = NDArray[np.object_]


def failing_rows(system: ConstraintSystem, witness: Limbs) -> Integers:
    """Return, in ascending order, the rows in which (Aw)(Bw) differs from Cw for a witness w, given as `uint64[wires,
    4]`.

    Rows over BN254 are compared by the native part of the package, if it is installed. Otherwise, rows whose values
    provably stay below 2^61 are compared in 64-bit arithmetic, and all other rows in Python integers. Raise
    CircuitizeError for a witness that has another length, is not in normal form, or does not begin with 1.
    """
    if witness.shape != (system.wires, 4):
        raise CircuitizeError(
            f"expected a witness of shape ({system.wires}, 4), found {witness.shape}; "
            "remedy: compute it for this very constraint system"
        )
    wrong = np.flatnonzero(~system.field.canonical(witness))
    if len(wrong) or witness[0].tolist() != [1, 0, 0, 0]:
        raise CircuitizeError(
            "expected a witness in normal form that begins with 1, found another value at wire "
            f"{wrong[0] if len(wrong) else 0}; remedy: reduce every value modulo the prime"
        )
    part = native() if system.field == BN254 else None
    if part is None:
        return _failing_rows(system, witness)
    return np.array(part.failing_rows(borrowed(system), np.ascontiguousarray(witness, np.uint64)), np.int64)


def _failing_rows(system: ConstraintSystem, witness: Limbs) -> Integers:
    checker = _Checker(system, witness)
    steps = np.zeros(system.constraints + 1, dtype=np.int64)
    for matrix in (system.a, system.b, system.c):
        steps = np.maximum(steps, matrix.offsets)
    failing = []
    row = 0
    while row < system.constraints:
        last = int(np.searchsorted(steps, steps[row] + CHUNK_TERMS, side="right")) - 1
        last = min(max(last, row + 1), row + CHUNK_TERMS, system.constraints)
        failing.append(row + checker.failing(row, last))
        row = last
    return np.concatenate(failing) if failing else np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class _Sums:
    """The product of one matrix and the witness on some rows; it is exact, and unless `wide` is true, below 2^61 in
    magnitude.
    """

    values: Integers
    wide: NDArray[np.bool_]


class _Checker:
    def __init__(self, system: ConstraintSystem, witness: Limbs) -> None:
        self.system, self.witness = system, witness
        self.values, self.small = system.field.to_int64(witness)
        self.large: Numbers = _numbers(system.field.to_integers(system.large))

    def failing(self, first: int, last: int) -> Integers:
        """Return the failing rows among first, ..., last - 1, as offsets from `first`."""
        system = self.system
        if system.field.prime < 1 << 124:
            return self._failing_wide(np.arange(first, last)) - first
        a, b, c = (self._sums(matrix, first, last) for matrix in (system.a, system.b, system.c))
        wide = a.wide | b.wide | c.wide
        # Outside `wide`, |ab - c| < 2^123 is below the prime: equality in the field is equality of integers.
        # While |ab| < 2^62, 64 bits tell whether ab = c; beyond that, ab is larger than c.
        product = np.abs(a.values.astype(np.float64) * b.values.astype(np.float64))
        fails = ((a.values * b.values != c.values) | (product >= 2.0**62)) & ~wide
        rows = np.flatnonzero(wide)
        if len(rows):
            fails[self._failing_wide(first + rows) - first] = True
        return np.flatnonzero(fails)

    def _sums(self, matrix: Matrix, first: int, last: int) -> _Sums:
        offsets = matrix.offsets[first : last + 1]
        terms = slice(int(offsets[0]), int(offsets[-1]))
        offsets = offsets - offsets[0]
        wires, coefficients = matrix.wires[terms], matrix.coefficients[terms]
        factors = self.values[wires]
        exact = self.small[wires] & (coefficients < LARGE)
        # Sums modulo 2^64: differences of running sums are exact, whatever wraps on the way.
        running = np.zeros(len(wires) + 1, dtype=np.int64)
        np.cumsum(coefficients * factors, out=running[1:])
        size = np.zeros(last - first)
        filled = np.flatnonzero(offsets[1:] > offsets[:-1])
        if len(filled):
            sizes = np.abs(coefficients.astype(np.float64) * factors.astype(np.float64))
            size[filled] = np.add.reduceat(sizes, offsets[filled])
        wide = size >= 2.0**61
        wide[np.searchsorted(offsets, np.flatnonzero(~exact), side="right") - 1] = True
        return _Sums(running[offsets[1:]] - running[offsets[:-1]], wide)

    def _failing_wide(self, rows: Integers) -> Integers:
        """Return which of the given rows fail, computed in Python integers, for as many rows at a time as have about
        CHUNK_TERMS terms.
        """
        failing = []
        lengths = np.zeros(len(rows), dtype=np.int64)
        for matrix in (self.system.a, self.system.b, self.system.c):
            lengths += matrix.offsets[rows + 1] - matrix.offsets[rows]
        laps = np.cumsum(lengths) // CHUNK_TERMS
        for lap in np.split(rows, np.flatnonzero(np.diff(laps)) + 1):
            a, b, c = self._products(lap)
            difference = cast(Numbers, (a * b - c) % self.system.field.prime)
            failing.append(lap[difference != 0])
        return np.concatenate(failing)

    def _products(self, rows: Integers) -> Numbers:
        """Return the values of the given rows' combinations in the three matrices at the witness, as Python integers
        that are not yet reduced.

        Equal combinations are computed only once: an S-box x^5 of a hash has the same combination in three places.
        """
        matrices = (self.system.a, self.system.b, self.system.c)
        starts = [matrix.offsets[rows] for matrix in matrices]
        counts = [matrix.offsets[rows + 1] - start for matrix, start in zip(matrices, starts, strict=True)]
        places = [_ranges(start, count) for start, count in zip(starts, counts, strict=True)]
        wires = np.concatenate([matrix.wires[own] for matrix, own in zip(matrices, places, strict=True)])
        codes = np.concatenate([matrix.coefficients[own] for matrix, own in zip(matrices, places, strict=True)])
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate(counts))])
        same = _first_equal(offsets, wires, codes)
        chosen = np.flatnonzero((same == np.arange(len(same))) & (offsets[1:] > offsets[:-1]))
        lengths = (offsets[1:] - offsets[:-1])[chosen]
        terms = _ranges(offsets[chosen], lengths)
        codes = codes[terms]
        references = np.flatnonzero(codes >= LARGE)
        coefficients = codes.astype(object)
        coefficients[references] = self.large[codes[references] - LARGE]
        wires, inverse = np.unique(wires[terms], return_inverse=True)
        factors = _numbers(self.system.field.to_integers(self.witness[wires]))
        result = _numbers([0]).repeat(len(same))
        if len(chosen):
            result[chosen] = np.add.reduceat(coefficients * factors[inverse], np.cumsum(lengths) - lengths)
        return result[same].reshape(3, len(rows))


def _ranges(starts: Integers, counts: Integers) -> Integers:
    """Return runs of consecutive numbers, one after the other: from each start as many numbers as its count says."""
    ends = np.cumsum(counts)
    return np.repeat(starts - ends + counts, counts) + np.arange(ends[-1] if len(ends) else 0)


def _first_equal(offsets: Integers, wires: NDArray[np.uint32], codes: Integers) -> Integers:
    """Return, for each list of terms, the index of an equal list: that of the first list with the same hash if the two
    are equal, or else its own.
    """
    counts = np.diff(offsets)
    _, first, inverse = np.unique(_marks(offsets, wires, codes), return_index=True, return_inverse=True)
    found = first[inverse]
    alike = counts[found] == counts
    lists = np.flatnonzero(alike)
    own, other = _ranges(offsets[lists], counts[lists]), _ranges(offsets[found[lists]], counts[lists])
    differs = (wires[own] != wires[other]) | (codes[own] != codes[other])
    alike[np.repeat(lists, counts[lists])[differs]] = False
    return np.where(alike, found, np.arange(len(found)))


def _marks(offsets: Integers, wires: NDArray[np.uint32], codes: Integers) -> NDArray[np.uint64]:
    """Return a hash of each list of terms: equal for equal lists, and seldom equal for different ones. The hash of a
    list of terms is the sum of the mixed bits of its terms.
    """
    mixed = wires.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) ^ codes.astype(np.uint64)
    mixed = (mixed ^ mixed >> np.uint64(29)) * np.uint64(0xBF58476D1CE4E5B9)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed ^ mixed >> np.uint64(32), dtype=np.uint64)])
    marks: NDArray[np.uint64] = sums[offsets[1:]] - sums[offsets[:-1]]
    return marks


def _numbers(values: list[int]) -> Numbers:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def describe(system: ConstraintSystem, row: int, provenance: Callable[[int], str]) -> str:
    """Return a description of a row in one line: the operation (by `provenance(edge)`), the element and the role.

    The function `provenance` is called with edge -1 if the row belongs to the arrow's own inputs and outputs.
    """
    place = bisect_right(system.blocks, row, key=lambda block: block.first_row) - 1
    if place < 0 or row >= system.blocks[place].first_row + system.blocks[place].rows:
        return f"constraint {row}"
    block = system.blocks[place]
    element, part = block.locate(row)
    each = block.rows_per_element
    which = f", {part + 1} of {each}" if each > 1 else ""
    return f"constraint {row}: {provenance(block.edge)}, element {element}, {block.role}{which}"

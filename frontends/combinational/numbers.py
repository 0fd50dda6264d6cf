"""Rows of whole numbers on wires, in which each element has its own unit and interval, and sums of such rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse

from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import OverflowRisk
from circuitize.circuits.integers import Add, Check, Concatenate, Constant, Contract, Reindex, Scale, View
from circuitize.circuits.types import LIMIT

from .forms import last_bit
from .logic import Integers, Reals


@dataclass(frozen=True, eq=False)
class Numbers:
    """A row of whole numbers on a wire [batch, n] without fraction bits: element j, which lies from low[j] to high[j],
    stands for a multiple of 2^unit[j].
    """

    wire: int
    unit: Integers
    low: Integers
    high: Integers

    @property
    def count(self) -> int:
        """Return how many elements the row of whole numbers has."""
        return len(self.unit)


class Rows:
    """The writer of rows of whole numbers: `made` are the rows written so far; for each atom, `row` and `position` say
    where its numbers are.
    """

    def __init__(self, builder: Builder, batch: int, atoms: int) -> None:
        self.builder = builder
        self.batch = batch
        self.made: list[Numbers] = []
        self.row = np.full(atoms, -1)
        self.position = np.zeros(atoms, np.int64)
        self.unit = np.zeros(atoms, np.int64)
        self.low = np.zeros(atoms, np.int64)
        self.high = np.zeros(atoms, np.int64)

    def keep(self, atoms: Integers, made: Numbers) -> None:
        """Record that the given atoms are the elements of a row of whole numbers, in the given order."""
        self.row[atoms], self.position[atoms] = len(self.made), np.arange(len(atoms))
        self.unit[atoms], self.low[atoms], self.high[atoms] = made.unit, made.low, made.high
        self.made.append(made)

    def units(self, matrix: sparse.csr_array, constant: Reals) -> Integers:
        """Return the exponent of the last bit of each sum; 0 if the sum is 0."""
        owner = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        none = np.iinfo(np.int64).max
        found = np.full(matrix.shape[0], none)
        np.minimum.at(found, owner, last_bit(matrix.data) + self.unit[matrix.indices])
        found = np.where(constant != 0, np.minimum(found, last_bit(constant)), found)
        return np.where(found == none, 0, found)

    def reach(self, matrix: sparse.csr_array, constant: Reals) -> Reals:
        """Return a bound above the magnitude of each sum, from elements that are already written."""
        unit = np.ldexp(1.0, self.unit)
        up, down = matrix.maximum(0), (-matrix).maximum(0)
        greatest: Reals = up @ (self.high * unit) - down @ (self.low * unit) + constant
        return np.nextafter(greatest, np.inf)

    def sums(self, blocks: Sequence[tuple[sparse.csr_array, Reals, Integers]]) -> list[Numbers]:
        """Return, for each block, the sums of multiples of atoms and a constant, in the block's units; one contraction
        computes the sums of all blocks that are not computed element by element.
        """
        whole = [self._in_units(*block) for block in blocks]
        found: list[Numbers | None] = [
            self._element_by_element(matrix, constant, unit) for matrix, constant, unit in whole
        ]
        rest = [at for at, made in enumerate(found) if made is None]
        if rest:
            stacked = sparse.csr_array(sparse.vstack([whole[at][0] for at in rest]))
            units = np.concatenate([whole[at][2] for at in rest])
            together = self._contracted(stacked, np.concatenate([whole[at][1] for at in rest]), units)
            start = 0
            for at in rest:
                stop = start + len(whole[at][2])
                found[at] = self.part(together, start, stop)
                start = stop
        return [made for made in found if made is not None]

    def part(self, x: Numbers, start: int, stop: int) -> Numbers:
        """Return a row that holds some neighbouring elements of a given row."""
        if (start, stop) == (0, x.count):
            return x
        view = View.slice((self.batch, x.count), (0, start), (self.batch, stop))
        wire = self.builder.add(Reindex(view), x.wire)
        return Numbers(wire, x.unit[start:stop], x.low[start:stop], x.high[start:stop])

    def times(self, wire: int, factors: Integers) -> int:
        """Return each element of a wire times the factor given for it."""
        if (factors == factors[0]).all():
            return wire if factors[0] == 1 else self.builder.add(Scale(int(factors[0]), 0), wire)
        return self.builder.add(Contract("bj,j->bj"), wire, self.builder.add(Constant.of(factors)))

    def plus(self, wire: int, amounts: Integers) -> int:
        """Return each element of a wire plus the number given for it."""
        if not amounts.any():
            return wire
        if (amounts == amounts[0]).all():
            constant = Constant.splat(int(amounts[0]), (self.batch, len(amounts)))
        else:
            constant = Constant.of(np.ascontiguousarray(np.broadcast_to(amounts, (self.batch, len(amounts)))))
        return self.builder.add(Add(), wire, self.builder.add(constant))

    def narrowed(self, x: Numbers) -> Numbers:
        """Return a row of whole numbers on a wire whose type is exactly the row's interval, if the wire's own type is
        at least a bit wider.
        """
        type, low, high = self.builder.format(x.wire), int(x.low.min()), int(x.high.max())
        if type.low < 2 * min(low, 0) - 1 or type.high > 2 * max(high, 0) + 1:
            wire = self.builder.add(Check(max(low, type.low), min(high, type.high)), x.wire)
            return Numbers(wire, x.unit, x.low, x.high)
        return x

    def _in_units(
        self, matrix: sparse.csr_array, constant: Reals, unit: Integers
    ) -> tuple[sparse.csr_array, Integers, Integers]:
        """Return the coefficients of atoms and the constants of sums as whole numbers, each in the unit of its sum."""
        owner = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        with np.errstate(over="ignore"):
            scaled = np.ldexp(matrix.data, self.unit[matrix.indices] - unit[owner])
            constants = np.ldexp(constant, -unit)
        size = np.maximum(np.abs(self.low), np.abs(self.high)).astype(np.float64)
        reach = np.abs(constants)
        np.add.at(reach, owner, np.abs(scaled) * size[matrix.indices])
        if not (reach < LIMIT).all() or not (np.abs(scaled) < LIMIT).all():
            raise OverflowRisk(
                f"expected sums below 2^62, found {reach.max():.3g} in units of the last bit; take fewer bits"
            )
        whole = sparse.csr_array((np.rint(scaled).astype(np.int64), matrix.indices, matrix.indptr), matrix.shape)
        return whole, np.rint(constants).astype(np.int64), unit

    def _ends(self, matrix: sparse.csr_array, constant: Integers) -> tuple[Integers, Integers]:
        up, down = matrix.maximum(0), (-matrix).maximum(0)
        low, high = up @ self.low - down @ self.high, up @ self.high - down @ self.low
        return low + constant, high + constant

    def _element_by_element(self, matrix: sparse.csr_array, constant: Integers, unit: Integers) -> Numbers | None:
        """Return a row of sums if each sum reads one atom, and these atoms are neighbours in a row in the same order;
        else None.
        """
        if (np.diff(matrix.indptr) != 1).any():
            return None
        atoms = matrix.indices
        start = int(self.position[atoms[0]])
        neighbours = np.array_equal(self.position[atoms], start + np.arange(len(atoms)))
        if not neighbours or (self.row[atoms] != self.row[atoms[0]]).any():
            return None
        source = self.part(self.made[self.row[atoms[0]]], start, start + len(atoms))
        wire = self.plus(self.times(source.wire, matrix.data), constant)
        return Numbers(wire, unit, *self._ends(matrix, constant))

    def _contracted(self, matrix: sparse.csr_array, constant: Integers, unit: Integers) -> Numbers:
        low, high = self._ends(matrix, constant)
        rows = np.unique(self.row[matrix.indices])
        if not len(rows):
            constants = Constant.of(np.ascontiguousarray(np.broadcast_to(constant, (self.batch, len(constant)))))
            return Numbers(self.builder.add(constants), unit, low, high)
        sources = [self.made[row] for row in rows.tolist()]
        wire = sources[0].wire
        if len(sources) > 1:
            wire = self.builder.add(Concatenate(1), *[source.wire for source in sources])
        start = np.zeros(len(self.made), np.int64)
        start[rows] = np.cumsum([0, *(source.count for source in sources[:-1])])
        total = sum(source.count for source in sources)
        dense = np.zeros((total, matrix.shape[0]), np.int64)
        owner = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        dense[start[self.row[matrix.indices]] + self.position[matrix.indices], owner] = matrix.data
        wire = self.builder.add(Contract("bi,ij->bj"), wire, self.builder.add(Constant.of(dense)))
        return Numbers(self.plus(wire, constant), unit, low, high)

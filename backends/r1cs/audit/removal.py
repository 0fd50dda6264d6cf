"""The purpose of each row of a small circuit: the wires that are undetermined without the row, or the inputs that are
accepted only without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...r1cs.system import ConstraintSystem, Matrix
from .determination import Determination
from .mutation import satisfies, second_witness
from .ranges import Ranges
from .relations import Kind, Relations, Terms
from .rules import settle
from .search import Search

UNDETERMINED, ACCEPTED, IMPLIED, UNKNOWN = "undetermined", "accepted inputs", "implied", "unknown"

FEW = 64
"""The most values of a form that are tried one after the other."""

TRIED = 3
"""The most witnesses from which a search for an assignment that breaks one row starts."""

BASES = 12
"""The most witnesses from which searches for the effect of removing a row start."""

Violation = list[Terms]
"""Equations that together make a row of a system fail."""


@dataclass(frozen=True, slots=True)
class Removal:
    """The effect of leaving out one row: "undetermined" names a wire that then has a choice (of two values, in `first`
    and in `witness`, which agree on the inputs), and "accepted inputs" gives inputs that are refused with the row, by
    an exhausted search, and accepted without it, with `witness`. All witnesses in the effect of leaving out a row are
    checked against the other rows. The effect "implied" says that the row follows from the other rows, by an exhausted
    search for an assignment that breaks only this row.
    """

    row: int
    effect: str
    wire: int = 0
    values: tuple[int, int] = (0, 0)
    witness: tuple[int, ...] = ()
    first: tuple[int, ...] = ()


def inputs_of(system: ConstraintSystem) -> range:
    """Return the wires of the public and private inputs of a constraint system."""
    return range(1 + system.public_outputs, 1 + system.public + system.private_inputs)


def without_row(system: ConstraintSystem, row: int) -> ConstraintSystem:
    """Return a constraint system without one of its rows."""

    def less(matrix: Matrix) -> Matrix:
        first, last = int(matrix.offsets[row]), int(matrix.offsets[row + 1])
        offsets = np.delete(matrix.offsets, row + 1)
        offsets[row + 1 :] -= last - first
        return Matrix(
            offsets, np.delete(matrix.wires, slice(first, last)), np.delete(matrix.coefficients, slice(first, last))
        )

    return replace(system, a=less(system.a), b=less(system.b), c=less(system.c), blocks=())


class Removals:
    """The search for the purpose of each row, which removes rows one by one; it starts from `witnesses` of the whole
    system, which are searched for if none are given.
    """

    def __init__(self, system: ConstraintSystem, witnesses: Sequence[Sequence[int]] = (), seed: int = 0) -> None:
        self.system = system
        self.relations = Relations(system)
        self.ranges = Ranges(self.relations)
        self.random = np.random.default_rng(seed)
        self.vectors = list(self._vectors(60))
        self.bases: list[Sequence[int]] = list(witnesses)
        search = Search(self.relations, self.ranges)
        for vector in self.vectors:
            if len(self.bases) < BASES:
                self._keep(search.run(vector, self._guesses()))
        for place in range(BASES if len(self.bases) < TRIED else 0):
            self._keep(search.run({}, self._guesses() if place > 1 else [place] * system.wires))

    def _guesses(self) -> list[int]:
        guesses: list[int] = self.random.integers(0, 2, self.system.wires).tolist()
        return guesses

    def _keep(self, found: list[int] | None) -> None:
        if found is not None and found not in self.bases:
            self.bases.append(found)

    def every(self) -> Iterator[Removal]:
        """Yield the effect of leaving out each row in turn."""
        for row in range(self.system.constraints):
            yield self.one(row)

    def one(self, row: int) -> Removal:
        """Return the effect of leaving out one row of the constraint system."""
        less = without_row(self.system, row)
        relations = Relations(less)
        ranges = Ranges(relations)
        state = Determination(relations, inputs_of(less), ranges)
        settle(state)
        near = dict.fromkeys(self.relations.wires_of(row))
        around = [wire for each in near for other in relations.rows_of(each) for wire in relations.wires_of(other)]
        every = dict.fromkeys([*near, *around, *state.open_wires])
        open_wires = [wire for wire in every if wire and not state.known(wire)]
        told = self._second(row, less, relations, ranges, open_wires, self.bases[:TRIED])
        if told is not None:
            return told
        complete, violations = self._violations(row, ranges)
        for extra in violations:
            search = Search(relations, ranges, extra)
            for base in self.bases[:TRIED] or [[0] * less.wires]:
                told = self._tell(row, less, search.run({}, base))
                if told is not None:
                    return told
                if search.exhausted:
                    break
            complete &= search.exhausted
        if complete:
            return Removal(row, IMPLIED)
        for vector in self.vectors:
            told = self._tell(row, less, Search(relations, ranges).run(vector, [0] * less.wires))
            if told is not None:
                return told
        told = self._second(row, less, relations, ranges, open_wires, self.bases[TRIED:])
        return Removal(row, UNKNOWN) if told is None else told

    def _second(
        self,
        row: int,
        less: ConstraintSystem,
        relations: Relations,
        ranges: Ranges,
        open_wires: list[int],
        bases: Sequence[Sequence[int]],
    ) -> Removal | None:
        for base in bases:
            found = second_witness(less, relations, ranges, base, open_wires)
            if found is not None:
                return Removal(row, UNDETERMINED, found.wire, found.values, tuple(found.second), tuple(found.first))
        return None

    def _tell(self, row: int, less: ConstraintSystem, found: list[int] | None) -> Removal | None:
        """Return the effect that a witness shows which satisfies all rows but the given one: either its inputs have a
        witness of the whole system too, or they have none.
        """
        if found is None or satisfies(self.system, found) or not satisfies(less, found):
            return None
        search = Search(self.relations, self.ranges)
        whole = search.run({wire: found[wire] for wire in inputs_of(less)}, found)
        if whole is not None:
            wire = next(wire for wire, value in enumerate(found) if value != whole[wire])
            return Removal(row, UNDETERMINED, wire, (whole[wire], found[wire]), tuple(found), tuple(whole))
        return Removal(row, ACCEPTED, witness=tuple(found)) if search.exhausted else None

    def _violations(self, row: int, ranges: Ranges) -> tuple[bool, list[Violation]]:
        """Return the ways in which an assignment can break a row, and whether the list is complete; `ranges` are the
        intervals that follow from the other rows.
        """
        relations = self.relations
        if relations.kind[row] == Kind.PRODUCT:
            a, b, c = relations.sides(row)
            if c:
                return False, [
                    [self._equals(a, 0), self._equals(c, 1)],
                    [*(self._equals(form, 1) for form in (a, b)), c],
                ]
            left, right = ranges.checked(a), ranges.checked(b)
            small = left is not None and right is not None and max(map(abs, (*left, *right))) <= FEW
            if left is None or right is None or not small:
                return False, [[self._equals(a, 1), self._equals(b, value)] for value in (1, 2)]
            pairs = ((x, y) for x in range(left[0], left[1] + 1) for y in range(right[0], right[1] + 1) if x and y)
            ways = [[self._equals(a, x), self._equals(b, y)] for x, y in pairs]
            return len(ways) <= FEW, ways[:FEW]
        form, gap = relations.forms.get(row, []), relations.gap.get(row, 0)
        values = dict.fromkeys((1, -1, gap + 1, gap - 1, 2 * gap, -gap))
        return False, [[self._equals(form, value)] for value in values if value not in (0, gap)]

    def _equals(self, form: Terms, value: int) -> Terms:
        return self.relations.combine([(1, form), (-value, [(0, 1)])])

    def _vectors(self, count: int) -> Iterator[dict[int, int]]:
        """Yield random inputs: uniform in the intervals that the rows allow, at the ends of these intervals, near 0,
        and just outside the intervals.
        """
        wires = list(inputs_of(self.system))
        intervals = [self.ranges.wire(wire) for wire in wires]
        for number in range(count):
            vector = {}
            for wire, (low, high) in zip(wires, intervals, strict=True):
                uniform = low + int(self.random.random() * (high - low + 1))
                small = min(max(int(self.random.integers(-3, 4)), low), high)
                power = 1 << int(self.random.integers(max(-low, high, 1).bit_length()))
                end, sign = (low, high)[int(self.random.integers(2))], (1, -1)[int(self.random.integers(2))]
                mixed = (low, high, small, min(max(sign * power, low), high), uniform)
                choices = (uniform, small, mixed[int(self.random.integers(len(mixed)))], end)
                vector[wire] = choices[number % len(choices)]
            if number % 5 == 4 and wires:
                place = int(self.random.integers(len(wires)))
                low, high = intervals[place]
                vector[wires[place]] = (low - 1, high + 1)[int(self.random.integers(2))]
            yield vector

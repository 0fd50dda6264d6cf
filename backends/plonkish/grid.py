"""The cells of a Plonkish system as numbers: its columns, the values of its expressions on chosen rows, and the rows on
which an expression may differ from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError

from ..field import Limbs
from .expressions import Kind
from .system import PlonkishSystem

Rows = NDArray[np.int64]
SMALL = 2.0**62
CONSTANT, ADVICE, FIXED, INSTANCE, CHALLENGE, ADD, MULTIPLY, NEGATE = map(int, Kind)
"""The kinds of expression nodes as plain numbers, which are quicker to compare."""


@dataclass(slots=True)
class Values:
    """Numbers on some rows of a grid: int64 below `bound` in magnitude, or Python integers in [0, prime)."""

    numbers: NDArray[np.int64] | NDArray[np.object_]
    bound: float

    @property
    def exact(self) -> bool:
        """Return whether the numbers are int64 and therefore exact, without a reduction modulo the prime."""
        return bool(self.numbers.dtype != object)


class Fixed:
    """The part of a grid that does not depend on advice and instance cells: fixed columns as numbers, and the rows on
    which expressions may differ from 0.
    """

    def __init__(self, system: PlonkishSystem) -> None:
        limbs = [system.fixed_limbs(column) for column in range(len(system.fixed))]
        self.wrong = [np.flatnonzero(~system.field.canonical(column)) for column in limbs]
        self.columns = [values_of(system, column) for column in limbs]
        self.rows: dict[int, Rows] = {}

    @staticmethod
    def of(system: PlonkishSystem) -> Fixed:
        """Return the fixed part of a system's grid, which is cached as long as the system exists."""
        found = _KEPT.get(system)
        if found is None:
            found = _KEPT[system] = Fixed(system)
        return found


_KEPT: WeakKeyDictionary[PlonkishSystem, Fixed] = WeakKeyDictionary()


class Grid:
    """All cells of a Plonkish system as columns of numbers: int64 if every cell of a column is small, otherwise Python
    integers.

    Raise CircuitizeError for a wrong number of columns, for columns of a wrong length, and for values that are not in
    normal form.
    """

    def __init__(
        self, system: PlonkishSystem, advice: Sequence[Limbs], instance: Sequence[Limbs], challenges: Sequence[int]
    ) -> None:
        expected = (system.advice, len(system.instance), system.challenges)
        if (len(advice), len(instance), len(challenges)) != expected:
            raise CircuitizeError(
                f"expected {expected} advice columns, instance columns and challenges, found "
                f"{(len(advice), len(instance), len(challenges))}; give the cells of this system"
            )
        self.system = system
        self.fixed = Fixed.of(system)
        fixed = [system.fixed_limbs(column) for column in range(len(system.fixed))]
        self.limbs: list[Limbs] = [*map(self._padded, advice), *fixed, *map(self._padded, instance)]
        wrong = [np.flatnonzero(~system.field.canonical(limbs)) for limbs in self.limbs[: system.advice]]
        wrong += self.fixed.wrong
        wrong += [np.flatnonzero(~system.field.canonical(limbs)) for limbs in self.limbs[len(wrong) :]]
        for column, rows in enumerate(wrong):
            if len(rows):
                raise CircuitizeError(
                    f"expected field elements in normal form, found another at row {rows[0]} of column {column}; "
                    "reduce every value modulo the prime"
                )
        self.challenges = [challenge % system.field.prime for challenge in challenges]
        self.nodes: list[list[int]] = system.nodes.tolist()
        self._columns: dict[int, Values] = dict(enumerate(self.fixed.columns, system.advice))

    def column(self, number: int) -> Values:
        """Return a column of the grid by its number; advice, fixed and instance columns are numbered in turn."""
        found = self._columns.get(number)
        if found is None:
            found = self._columns[number] = values_of(self.system, self.limbs[number])
        return found

    def _padded(self, limbs: Limbs) -> Limbs:
        made = np.zeros((self.system.rows, 4), np.uint64)
        if len(limbs) > len(made):
            raise CircuitizeError(f"expected at most {len(made)} rows, found {len(limbs)}; give this system's cells")
        made[: len(limbs)] = limbs
        return made


def values_of(system: PlonkishSystem, limbs: Limbs) -> Values:
    """Return the given field elements as signed representatives: int64 if all of them fit in 64 bits, and otherwise
    Python integers.
    """
    numbers, small = system.field.to_int64(limbs)
    if small.all():
        return Values(numbers, float(np.abs(numbers).max(initial=0)))
    return Values(np.array(system.field.to_integers(limbs), dtype=object), 0.0)


class Evaluator:
    """An evaluator of expressions on chosen rows of a grid, which computes each shared node once.

    The argument `replaced` maps nodes of cells to other values on the chosen rows, for a mutation of a witness.
    """

    def __init__(self, grid: Grid, rows: Rows, replaced: dict[int, Values] | None = None) -> None:
        self.grid, self.rows = grid, rows
        self._known: dict[int, Values] = dict(replaced or {})
        self._nodes = grid.nodes
        self._places = {0: rows}

    def without(self, stale: Callable[[int], bool], replaced: dict[int, Values]) -> Evaluator:
        """Return an evaluator on the same rows that takes other values for some cells, and keeps the values of all
        nodes that do not depend on these cells.
        """
        kept = {node: values for node, values in self._known.items() if not stale(node)}
        return Evaluator(self.grid, self.rows, kept | replaced)

    def value(self, root: int) -> Values:
        """Return the values on the chosen rows of the expression with the given root node; the expression may be of any
        depth, because the evaluation is not recursive.
        """
        stack = [root]
        while stack:
            node = stack[-1]
            if node in self._known:
                stack.pop()
                continue
            kind, a, b = self._nodes[node]
            needs = (a, b) if kind in (ADD, MULTIPLY) else (a,) if kind == NEGATE else ()
            missing = [need for need in needs if need not in self._known]
            if missing:
                stack += missing
                continue
            self._known[node] = self._compute(kind, a, b)
            stack.pop()
        return self._known[root]

    def _compute(self, kind: int, a: int, b: int) -> Values:
        system = self.grid.system
        prime = system.field.prime
        if kind == CONSTANT:
            return self._constant(system.constants[a])
        if kind == CHALLENGE:
            return self._constant(self.grid.challenges[a])
        if kind in (ADVICE, FIXED, INSTANCE):
            first = 0 if kind == ADVICE else system.advice if kind == FIXED else system.advice + len(system.fixed)
            column = self.grid.column(first + a)
            if b not in self._places:
                self._places[b] = (self.rows + b) % system.rows
            return Values(column.numbers[self._places[b]], column.bound)
        x = self._known[a]
        if kind == NEGATE:
            return Values(-x.numbers, x.bound) if x.exact else Values(-x.numbers % prime, 0.0)
        y = self._known[b]
        if x.exact and y.exact:
            bound = x.bound + y.bound if kind == ADD else x.bound * y.bound
            if bound < SMALL:
                return Values(x.numbers + y.numbers if kind == ADD else x.numbers * y.numbers, bound)
        left, right = x.numbers.astype(object), y.numbers.astype(object)
        return Values((left + right if kind == ADD else left * right) % prime, 0.0)

    def _constant(self, value: int) -> Values:
        signed = self.grid.system.field.signed(value)
        if abs(signed) < SMALL:
            return Values(np.full(len(self.rows), signed, np.int64), float(abs(signed)))
        return Values(np.full(len(self.rows), value, dtype=object), 0.0)


def nonzero(system: PlonkishSystem, values: Values) -> NDArray[np.bool_]:
    """Return, for each of the numbers, whether it differs from 0 modulo the prime."""
    numbers = values.numbers if values.exact else values.numbers % system.field.prime
    return np.asarray(numbers != 0, np.bool_)


class Supports:
    """The rows on which expressions can differ from 0, as far as the fixed columns alone determine this."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self._known: dict[int, NDArray[np.bool_] | bool] = {}

    def rows(self, node: int) -> Rows:
        """Return the rows, in order, on which the expression with the given root node can differ from 0."""
        known = self.grid.fixed.rows
        if node not in known:
            found = self._mask(node)
            every = np.arange(self.grid.system.rows)
            known[node] = every if found is True else every[:0] if found is False else np.flatnonzero(found)
        return known[node]

    def _mask(self, node: int) -> NDArray[np.bool_] | bool:
        """Return a mask of the rows on which a node can differ from 0, or a truth value if the answer is the same for
        all rows.
        """
        if node in self._known:
            return self._known[node]
        system = self.grid.system
        kind, a, b = self.grid.nodes[node]
        found: NDArray[np.bool_] | bool = True
        if kind == FIXED:
            mask = nonzero(system, self.grid.column(system.advice + a))
            found = np.roll(mask, -b)
        elif kind == CONSTANT:
            found = system.constants[a] != 0
        elif kind == NEGATE:
            found = self._mask(a)
        elif kind == MULTIPLY:
            x, y = self._mask(a), self._mask(b)
            found = y if x is True else x if y is True else False if x is False or y is False else x & y
        elif kind == ADD:
            x, y = self._mask(a), self._mask(b)
            found = y if x is False else x if y is False else True if x is True or y is True else x | y
        self._known[node] = found
        return found

"""Checking the values of cells against a Plonkish system: the first gate, lookup or copy that fails is named, with the
purpose of its row.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..field import Limbs
from .grid import Evaluator, Grid, Supports, Values, nonzero
from .system import PlonkishSystem


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure of a Plonkish system: the gate, lookup or copy with the number `index` fails at the row `row`; for a
    copy, that is the row of its first cell.
    """

    kind: str
    index: int
    row: int


class Table:
    """The entries of a lookup's table; the method `holds` says which tuples are among the entries."""

    def __init__(self, grid: Grid, nodes: Sequence[int]) -> None:
        every = Evaluator(grid, np.arange(grid.system.rows))
        self.system = grid.system
        self.entries = [every.value(node) for node in nodes]
        self._exact = all(column.exact for column in self.entries)
        if self._exact:
            self._keys = np.unique(_keys([np.asarray(column.numbers, np.int64) for column in self.entries]))
        else:
            self._tuples = set(zip(*(_reduced(self.system, column) for column in self.entries), strict=True))

    def holds(self, inputs: Sequence[Values]) -> NDArray[np.bool_]:
        """Return, for each of the input tuples, whether it is in the lookup's table."""
        if not self._exact:
            tuples = zip(*(_reduced(self.system, column) for column in inputs), strict=True)
            return np.array([entry in self._tuples for entry in tuples], np.bool_)
        small = np.ones(len(inputs[0].numbers), np.bool_)
        columns = []
        for column in inputs:
            if column.exact:
                columns.append(np.asarray(column.numbers, np.int64))
                continue
            numbers, fits = self.system.field.to_int64(self.system.field.from_integers(column.numbers.tolist()))
            columns.append(numbers)
            small &= fits
        return np.asarray(np.isin(_keys(columns), self._keys) & small, np.bool_)


def _keys(columns: Sequence[NDArray[np.int64]]) -> NDArray[np.void]:
    """Return tuples, given by columns, as single items that can be compared."""
    stacked = np.ascontiguousarray(np.stack(columns, axis=1).astype(np.int64))
    return stacked.view([("", np.int64)] * len(columns)).reshape(-1)


def _reduced(system: PlonkishSystem, values: Values) -> list[int]:
    return [int(value) % system.field.prime for value in values.numbers.tolist()]


def failures(
    system: PlonkishSystem, advice: Sequence[Limbs], instance: Sequence[Limbs], challenges: Sequence[int] = ()
) -> Iterable[Failure]:
    """Yield every gate, then every lookup, then every copy that the given cells violate; yield nothing if the cells
    satisfy the system.

    The check of the cells is exact: rows whose values provably stay below 2^62 are computed in 64 bits, and all other
    rows in Python integers.
    """
    grid = Grid(system, advice, instance, challenges)
    supports = Supports(grid)
    shared: dict[bytes, Evaluator] = {}
    for index, gate in enumerate(system.gates):
        rows = supports.rows(gate.node)
        if not len(rows):
            continue
        evaluator = shared.setdefault(rows.tobytes(), Evaluator(grid, rows))
        for row in rows[nonzero(system, evaluator.value(gate.node))].tolist():
            yield Failure("gate", index, row)
    every = Evaluator(grid, np.arange(system.rows))
    tables: dict[tuple[int, ...], Table] = {}
    for index, lookup in enumerate(system.lookups):
        if lookup.table not in tables:
            tables[lookup.table] = Table(grid, lookup.table)
        held = tables[lookup.table].holds([every.value(node) for node in lookup.inputs])
        for row in np.flatnonzero(~held).tolist():
            yield Failure("lookup", index, row)
    yield from copy_failures(grid)


def copy_failures(grid: Grid) -> Iterable[Failure]:
    """Yield the copies whose two cells have different values."""
    copies = grid.system.copies
    if len(copies):
        stacked = np.stack(grid.limbs)
        differ = (stacked[copies[:, 0], copies[:, 1]] != stacked[copies[:, 2], copies[:, 3]]).any(axis=1)
        for index in np.flatnonzero(differ).tolist():
            yield Failure("copy", index, int(copies[index, 1]))


def first_failure(
    system: PlonkishSystem, advice: Sequence[Limbs], instance: Sequence[Limbs], challenges: Sequence[int] = ()
) -> Failure | None:
    """Return the first item of `failures`, or None if there is none."""
    return next(iter(failures(system, advice, instance, challenges)), None)


def describe(system: PlonkishSystem, failure: Failure, provenance: Callable[[int], str]) -> str:
    """Return a description of a failure in one line: the gate, lookup or copy, its row, and the operation, element and
    role to which the row belongs.

    The function `provenance` is called with edge -1 if the row belongs to the program's own inputs and outputs.
    """
    told = system.provenance
    if failure.kind == "gate":
        name = f"gate {system.gates[failure.index].name}"
        places = told.gates[failure.index : failure.index + 1]
    elif failure.kind == "lookup":
        name = f"lookup {system.lookups[failure.index].name}"
        places = told.lookups[failure.index : failure.index + 1]
    else:
        first, _, second, other = system.copies[failure.index].tolist()
        name = f"copy of column {second}, row {other} to column {first}"
        places = told.columns[first : first + 1]
    if not places:
        return f"{name}, row {failure.row}"
    return f"{name}, row {failure.row}: {purpose(system, *places[0], failure.row, provenance)}"


def purpose(system: PlonkishSystem, unit: str, lane: int, row: int, provenance: Callable[[int], str]) -> str:
    """Return the purpose of one row in a lane of a unit."""
    blocks = [block for block in system.provenance.blocks if block.unit == unit]
    at = bisect_right(blocks, row, key=lambda block: block.first) - 1
    if at < 0 or row >= blocks[at].first + blocks[at].rows:
        return "no operation"
    block = blocks[at]
    group, part = divmod(row - block.first, block.height)
    element = min(group * block.lanes + lane, block.elements - 1)
    which = f", {part + 1} of {block.height}" if block.height > 1 else ""
    return f"{provenance(block.edge)}, element {element}, {block.role}{which}"

"""Which single cells of a satisfied system could hold something else: every cell changed in turn, many at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.field import Limbs
from circuitize.backends.plonkish.checker import Table
from circuitize.backends.plonkish.expressions import Kind
from circuitize.backends.plonkish.grid import Evaluator, Grid, Supports, Values, nonzero, values_of
from circuitize.backends.plonkish.system import PlonkishSystem

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Survivors:
    """For each advice column the rows whose cell may take the other value, nothing else being changed.

    `used[c, r]` says whether anything reads the cell at all; cells that nothing reads are no survivors.
    """

    used: Mask
    rejected: Mask

    @property
    def cells(self) -> list[tuple[int, int]]:
        """(column, row) of each survivor."""
        return [(int(c), int(r)) for c, r in np.argwhere(self.used & ~self.rejected)]


def survivors(
    system: PlonkishSystem,
    advice: Sequence[Limbs],
    instance: Sequence[Limbs],
    challenges: Sequence[int],
    changed: Sequence[Limbs],
) -> Survivors:
    """The cells of a satisfied system that could hold what `changed` has in their place, each alone.

    `changed[c][r]` must differ from `advice[c][r]`. A gate is evaluated once for each cell that it reads, on all rows
    with that cell replaced; so the work is that of checking, times the cells of a gate.
    """
    grid = Grid(system, advice, instance, challenges)
    other = [values_of(system, limbs) for limbs in changed]
    supports = Supports(grid)
    shape = (system.advice, system.rows)
    used, rejected = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    for first, row, second, other_row in system.copies.tolist():
        for column, at in ((first, row), (second, other_row)):
            if column < system.advice:
                used[column, at] = rejected[column, at] = True
    below = _below(system)
    for gate in system.gates:
        rows = supports.rows(gate.node)
        honest, reach = Evaluator(grid, rows), Reach(grid, rows, below)
        honest.value(gate.node)
        for node in sorted(below[gate.node]):
            _, column, rotation = system.nodes[node].tolist()
            at = (rows + rotation) % system.rows
            found = Values(other[column].numbers[at], other[column].bound)
            replaced = honest.without(_reads(below, node), {node: found})
            fails = nonzero(system, replaced.value(gate.node))
            rejected[column, at[fails]] = True
            used[column, at[reach.matters(gate.node, node)]] = True
    every = np.arange(system.rows)
    reach = Reach(grid, every, below)
    for lookup in system.lookups:
        table = Table(grid, lookup.table)
        for node in sorted({cell for root in lookup.inputs for cell in below[root]}):
            _, column, rotation = system.nodes[node].tolist()
            at = (every + rotation) % system.rows
            found = Values(other[column].numbers[at], other[column].bound)
            replaced = Evaluator(grid, every, {node: found})
            values = [replaced.value(root) for root in lookup.inputs]
            rejected[column, at[~table.holds(values)]] = True
            used[column, at[np.any([reach.matters(root, node) for root in lookup.inputs], axis=0)]] = True
    return Survivors(used, rejected)


class Reach:
    """On which of some rows a cell matters to an expression: what does not depend on the cell is found once for all."""

    def __init__(self, grid: Grid, rows: NDArray[np.int64], below: list[frozenset[int]]) -> None:
        self.grid, self.below = grid, below
        self.fixed = Evaluator(grid, rows)
        self.always, self.never = np.ones(len(rows), np.bool_), np.zeros(len(rows), np.bool_)
        self.differing: dict[int, Mask] = {}

    def may_differ(self, node: int) -> Mask:
        """Where a node may differ from 0: only fixed factors that are 0 keep it from that."""
        found = self.differing.get(node)
        if found is None:
            kind, a, b = self.grid.nodes[node]
            if kind in (Kind.FIXED, Kind.CONSTANT):
                found = nonzero(self.grid.system, self.fixed.value(node))
            elif kind == Kind.NEGATE:
                found = self.may_differ(a)
            elif kind == Kind.ADD:
                found = self.may_differ(a) | self.may_differ(b)
            elif kind == Kind.MULTIPLY:
                found = self.may_differ(a) & self.may_differ(b)
            else:
                found = self.always
            self.differing[node] = found
        return found

    def matters(self, root: int, cell: int) -> Mask:
        """On which rows some term of an expression has the cell as a factor and no fixed factor that is 0."""
        known: dict[int, Mask] = {cell: self.always}

        def visit(node: int) -> Mask:
            if cell not in self.below[node]:
                return self.never
            if node not in known:
                kind, a, b = self.grid.nodes[node]
                if kind == Kind.NEGATE:
                    known[node] = visit(a)
                elif kind == Kind.ADD:
                    known[node] = visit(a) | visit(b)
                else:
                    known[node] = (visit(a) & self.may_differ(b)) | (visit(b) & self.may_differ(a))
            return known[node]

        return visit(root)


def _below(system: PlonkishSystem) -> list[frozenset[int]]:
    """For each node the advice nodes that it depends on, itself included."""
    below: list[frozenset[int]] = []
    for node, (kind, a, b) in enumerate(system.nodes.tolist()):
        if kind == Kind.ADVICE:
            below.append(frozenset([node]))
        elif kind in (Kind.ADD, Kind.MULTIPLY):
            below.append(below[a] | below[b])
        else:
            below.append(below[a] if kind == Kind.NEGATE else frozenset())
    return below


def _reads(below: list[frozenset[int]], cell: int) -> Callable[[int], bool]:
    return lambda node: cell in below[node]

"""Placing tasks in rows: the number of lanes of each unit, the variable in each cell, and the Plonkish system that
results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..field import Field, Limbs
from .assembly import Assembly, DoesNotFit, Table
from .expressions import ExpressionBuilder
from .permutation_unit import FullRoundsUnit, PartialRoundsUnit
from .product_units import DotUnit, EntryUnit, FoldUnit
from .ranged_fold import RangedFoldUnit, fused
from .system import Block, Column, Gate, Lookup, PlonkishSystem, Provenance, column_of
from .tasks import Dot, Entry, Fold, Hint, Permutations, Range, Sum, Task, Variables
from .units import EMPTY, RangeUnit, SumUnit, Unit
from .witness import Solver

BLINDING = 8
"""The rows that a layout keeps behind the used ones: 7 for blinding, with queries in at most four rotations, and one
for lookup sums.
"""

SUM_WIDTH = 4
FOLD_WIDTH = 4


__all__ = ["BLINDING", "DoesNotFit", "Layout", "Placed", "place"]


@dataclass(slots=True, eq=False)
class Placed:
    """A unit of Plonkish columns with its tasks, which are placed one after the other, and with its number of lanes,
    which are side by side.
    """

    unit: Unit
    tasks: list[Task]
    lanes: int = 1

    def rows_at(self, lanes: int) -> int:
        """Return the number of rows that the unit's tasks take with the given number of lanes."""
        return sum(-(-self.unit.elements(task) // lanes) * self.unit.height(task) for task in self.tasks)

    @property
    def rows(self) -> int:
        """Return the number of rows that the unit's tasks take with the chosen number of lanes."""
        return self.rows_at(self.lanes)

    @property
    def columns(self) -> int:
        """Return the number of advice columns of all the unit's lanes together."""
        return self.lanes * len(self.unit.phases)

    @property
    def most(self) -> int:
        """Return the number of lanes beyond which more lanes save no rows."""
        return max(self.unit.elements(task) for task in self.tasks)

    def fit(self, rows: int) -> None:
        """Choose the least number of lanes with which all tasks of the unit fit into the rows; raise DoesNotFit if no
        number suffices.
        """
        low, high = 1, self.most
        if self.rows_at(high) > rows:
            raise DoesNotFit(
                f"expected the {self.unit.name} rows to fit {rows}, found {self.rows_at(high)}; use a larger k"
            )
        while low < high:
            middle = (low + high) // 2
            if self.rows_at(middle) <= rows:
                high = middle
            else:
                low = middle + 1
        self.lanes = low

    def blocks(self) -> Iterator[tuple[Task, Block]]:
        """Yield each task of the unit with its rows; the rows of the first task begin at row 0."""
        row = 0
        for task in self.tasks:
            elements, height = self.unit.elements(task), self.unit.height(task)
            block = Block(self.unit.name, row, height, self.lanes, elements, task.edge, task.role)
            yield task, block
            row += block.rows

    def places(self, block: Block) -> NDArray[np.int64]:
        """Return the number of the element that each lane holds in each group of rows; lanes left over at the end
        repeat the last element.
        """
        groups = block.rows // block.height
        every = np.arange(groups * self.lanes)
        return np.minimum(every, block.elements - 1).reshape(groups, self.lanes)


class Layout:
    """The layout of a Plonkish system with 2^k rows, including the rows for blinding: the place of every variable.

    The field `columns` has the numbers of columns unit by unit and lane by lane, where all columns of phase 0 come
    before those of phase 1.
    """

    def __init__(self, assembly: Assembly, instance: Variables, k: int) -> None:
        self.assembly, self.instance, self.k = assembly, instance, k
        self.units = place(assembly, instance)
        available = (1 << k) - BLINDING
        for placed in self.units:
            placed.fit(available)
        self.tags = tuple(sorted(assembly.sizes))
        heights = [placed.rows for placed in self.units]
        self.rows = max([1, *heights, self.limb_rows, self.entry_rows, len(instance), len(assembly.constants)])
        if self.rows > available:
            raise DoesNotFit(f"expected at most {available} rows, found {self.rows}; use a larger k")

    @property
    def limb_rows(self) -> int:
        """Return the number of rows of the table of limbs, including an entry (0, 0) for rows without a lookup, or 0 if
        there are no limbs.
        """
        return 1 + sum(self.tags) if self.tags else 0

    @property
    def entry_rows(self) -> int:
        """Return the number of rows of the table of entries, including one for rows without a lookup, or 0 if there are
        no tables.
        """
        tables = self.assembly.tables
        return 1 + sum(len(table.values) for table in tables) if tables else 0

    @cached_property
    def numbering(self) -> list[list[list[int]]]:
        """Return the numbers of the advice columns, by unit and lane."""
        phases = [phase for placed in self.units for _ in range(placed.lanes) for phase in placed.unit.phases]
        order = np.argsort(np.array(phases, np.int64), kind="stable")
        numbers = np.empty(len(phases), np.int64)
        numbers[order] = np.arange(len(phases))
        found, at = [], 0
        for placed in self.units:
            lanes = []
            for _ in range(placed.lanes):
                lanes.append(numbers[at : at + len(placed.unit.phases)].tolist())
                at += len(placed.unit.phases)
            found.append(lanes)
        return found

    @property
    def phases(self) -> tuple[int, ...]:
        """Return the phase of each advice column of the layout, in the order of `columns`."""
        return tuple(
            sorted(phase for placed in self.units for _ in range(placed.lanes) for phase in placed.unit.phases)
        )

    @cached_property
    def cells(self) -> NDArray[np.int32]:
        """Return the variable in each advice cell, as `int32[columns, rows]`, where -1 marks a cell without a
        variable.
        """
        made = np.full((len(self.phases), self.rows), EMPTY, np.int32)
        for placed, lanes in zip(self.units, self.numbering, strict=True):
            columns = np.array(lanes)
            for task, block in placed.blocks():
                variables = placed.unit.cells(task)[:, :, placed.places(block)]
                # [columns, height, groups, lanes] -> [lanes, columns, groups * height]
                ordered = variables.transpose(3, 0, 2, 1).reshape(placed.lanes, len(placed.unit.phases), -1)
                made[columns, block.first : block.first + block.rows] = ordered
        return made

    def fill(self, solver: Solver, phase: int) -> list[Limbs]:
        """Return the advice columns of one phase, each as `uint64[rows, 4]`, after the solver has solved that phase."""
        known = solver.limbs()
        wanted = [column for column, own in enumerate(self.phases) if own == phase]
        first = wanted[0] if wanted else 0
        made = []
        for column in wanted:
            variables = self.cells[column]
            limbs = np.zeros((self.rows, 4), np.uint64)
            present = np.flatnonzero(variables >= 0)
            limbs[present] = known[variables[present]]
            made.append(limbs)
        for placed, lanes in zip(self.units, self.numbering, strict=True):
            for task, block in placed.blocks():
                places = placed.places(block)
                last = phase == placed.unit.phases[-1]
                found = placed.unit.computed(task, solver) if last else placed.unit.early(task, solver)
                for own, row, values in found:
                    limbs = solver.elements(values)[places]
                    rows = slice(block.first + row, block.first + block.rows, block.height)
                    for lane in range(placed.lanes):
                        made[lanes[lane][own] - first][rows] = limbs[:, lane]
        return made

    def system(self) -> PlonkishSystem:
        """Return the Plonkish constraint system of the layout."""
        make = ExpressionBuilder(self.assembly.field)
        fixed: list[Column] = []
        gates: list[Gate] = []
        looked: list[tuple[str, str, tuple[int, ...]]] = []
        gate_units, lookup_units, blocks = [], [], []
        for placed, lanes in zip(self.units, self.numbering, strict=True):
            own = list(range(len(fixed), len(fixed) + placed.unit.fixed))
            fixed += self._fixed(placed)
            for lane, advice in enumerate(lanes):
                for what, node in placed.unit.gates(make, advice, own):
                    gates.append(Gate(f"{placed.unit.name}[{lane}] {what}", node))
                    gate_units.append((placed.unit.name, lane))
                for what, table, inputs in placed.unit.lookups(make, advice, own):
                    looked.append((f"{placed.unit.name}[{lane}] {what}", table, inputs))
                    lookup_units.append((placed.unit.name, lane))
            blocks += [block for _, block in placed.blocks()]
        columns = [("", 0)] * len(self.phases)
        for placed, lanes in zip(self.units, self.numbering, strict=True):
            for lane, own in enumerate(lanes):
                for column in own:
                    columns[column] = (placed.unit.name, lane)
        tables: dict[str, tuple[int, ...]] = {}
        if self.limb_rows:
            tables["limbs"] = tuple(make.fixed(len(fixed) + i) for i in range(2))
            fixed += limb_table(self.tags)
        if self.entry_rows:
            tables["entries"] = tuple(make.fixed(len(fixed) + i) for i in range(3))
            fixed += entry_table(self.assembly.tables)
        constants = len(fixed)
        fixed.append(column_of(np.array(list(self.assembly.constants), dtype=object)))
        nodes = make.build()
        return PlonkishSystem(
            self.assembly.field,
            self.rows,
            self.phases,
            tuple(fixed),
            (len(self.instance),),
            2 if 1 in self.phases else 0,
            nodes.rows,
            nodes.constants,
            tuple(gates),
            tuple(Lookup(name, inputs, tables[table]) for name, table, inputs in looked),
            self.copies(constants, len(fixed)),
            Provenance(tuple(blocks), tuple(gate_units), tuple(lookup_units), tuple(columns)),
        )

    def copies(self, constants: int, fixed: int) -> NDArray[np.int32]:
        """Return the pairs of cells that must be equal because they hold the same variable: each cell with the
        variable's next one.
        """
        advice = len(self.phases)
        column, row = np.nonzero(self.cells >= 0)
        known = np.array(list(self.assembly.constants.values()), np.int64)
        variables = np.concatenate([self.cells[column, row], known, self.instance])
        columns = np.concatenate(
            [column, np.full(len(known), advice + constants), np.full(len(self.instance), advice + fixed)]
        )
        rows = np.concatenate([row, np.arange(len(known)), np.arange(len(self.instance))])
        order = np.argsort(variables, kind="stable")
        same = np.flatnonzero(variables[order[1:]] == variables[order[:-1]])
        left, right = order[same], order[same + 1]
        return np.stack([columns[left], rows[left], columns[right], rows[right]], axis=1).astype(np.int32)

    def _fixed(self, placed: Placed) -> list[Column]:
        parts: list[list[tuple[list[int], int]]] = [[] for _ in range(placed.unit.fixed)]
        for task, block in placed.blocks():
            for part, pattern in zip(parts, placed.unit.scalars(task), strict=True):
                part.append((pattern, block.rows // block.height))
        return [_tiled(part, self.assembly.field) for part in parts]


def _tiled(parts: Sequence[tuple[list[int], int]], field: Field) -> Column:
    """Return a column of repeated patterns of numbers: each pattern as often as stated, one pattern after the other."""
    if all(-(1 << 62) < value < 1 << 62 for pattern, _ in parts for value in pattern):
        return column_of(np.concatenate([np.tile(np.array(pattern, np.int64), times) for pattern, times in parts]))
    return np.concatenate([np.tile(field.from_integers(pattern), (times, 1)) for pattern, times in parts])


def limb_table(tags: Sequence[int]) -> list[Column]:
    """Return the table of limbs as columns (t, v), with a row for each v below the t-th size, where t counts from 1;
    the first row is (0, 0).
    """
    numbers = np.concatenate([np.zeros(1, np.int64), np.repeat(np.arange(1, len(tags) + 1), tags)])
    values = np.concatenate([np.zeros(1, np.int64), *(np.arange(size) for size in tags)])
    return [column_of(numbers), column_of(values)]


def entry_table(tables: Sequence[Table]) -> list[Column]:
    """Return the table of entries as columns (number, index, value), where numbers of tables count from 1; the first
    row is (0, 0, 0).
    """
    start = np.zeros(1, np.int64)
    sizes = [len(table.values) for table in tables]
    numbers = np.concatenate([start, np.repeat(np.arange(1, len(tables) + 1), sizes)])
    index = np.concatenate([start, *(table.low + np.arange(len(table.values)) for table in tables)])
    return [column_of(numbers), column_of(index), column_of(np.concatenate([start, *(t.values for t in tables)]))]


def place(assembly: Assembly, instance: Variables) -> list[Placed]:
    """Return the units that the tasks of a circuit need, each with its own tasks, in the order of the tasks."""
    tags = tuple(sorted(assembly.sizes))
    zero = assembly.constants.get(0, 0)
    found: dict[tuple[object, ...], Placed] = {}
    together = fused(assembly.tasks, instance, assembly.count)
    for task in assembly.tasks:
        if isinstance(task, Hint):
            continue
        if task in together:
            both = together[task]
            if both is not None:
                folded = RangedFoldUnit(both.fold.challenge, assembly.limb_bits, tags)
                found.setdefault(("ranged fold", both.fold.challenge), Placed(folded, [])).tasks.append(both)
            continue
        unit: Unit
        key: tuple[object, ...]
        match task:
            case Sum():
                key, unit = ("sum",), SumUnit(SUM_WIDTH)
            case Range():
                width = 1 if len(task.factors) <= 1 else 3
                key, unit = ("range", width), RangeUnit(width, assembly.limb_bits, tags)
            case Dot():
                key, unit = ("dot", task.phase), DotUnit(task.phase)
            case Fold():
                key = ("fold", task.challenge, task.phase)
                unit = FoldUnit(task.challenge, task.phase, FOLD_WIDTH, zero)
            case Entry():
                key, unit = ("entry",), EntryUnit()
            case Permutations():
                found.setdefault(("full rounds",), Placed(FullRoundsUnit(), [])).tasks.append(task)
                key, unit = ("partial rounds",), PartialRoundsUnit()
        found.setdefault(key, Placed(unit, [])).tasks.append(task)
    return list(found.values())

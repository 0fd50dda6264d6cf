"""Values that are only range-checked and folded: both happen in the same row, which contains only the limbs of each
value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .expressions import ExpressionBuilder
from .tasks import Dot, Entry, Fold, Hint, Permutations, Range, Sum, Task, Variables
from .units import EMPTY, Cells, Computed, Unit
from .witness import Solver

TOGETHER = 4
"""The number of values that a ranged fold has in one Plonkish row."""


@dataclass(frozen=True, slots=True, eq=False)
class RangedFold(Task):
    """A task that takes the place of a fold and of the range check of the fold's values, which no other task reads."""

    range: Range
    fold: Fold


@dataclass(frozen=True)
class RangedFoldUnit(Unit):
    """A unit of range-checked folds with four pairs of columns, low limb and high limb, and a column total: total =
    kept x^4 (total above) + sum of x^j v_j, where v_j = offset + low_j + 2^b high_j, for a challenge x.

    Soundness: as in `RangeUnit`, each limb is below its own size, so that each v_j is exactly in the interval of the
    range check. The limbs and the challenge determine the total of a ranged fold, and the limbs are of phase 0. Only
    the fold reads the values of a ranged fold, so that the values themselves need no cells. Every cell in a row of a
    ranged fold is used.
    """

    challenge: int
    bits: int
    tags: tuple[int, ...]

    phases = (0,) * (2 * TOGETHER) + (1,)
    fixed = 5
    copied = 1

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"ranged fold {self.challenge}"

    def height(self, task: RangedFold) -> int:
        return len(task.fold.values) // TOGETHER

    def elements(self, task: RangedFold) -> int:
        return len(task.fold.targets)

    def scalars(self, task: RangedFold) -> list[list[int]]:
        height, sizes = self.height(task), [*task.range.sizes, 1][:2]
        tags = [[self.tags.index(size) + 1] * height for size in sizes]
        return [[0] + [1] * (height - 1), [1] * height, [-task.range.offset] * height, *tags]

    def cells(self, task: RangedFold) -> Cells:
        made = np.full((2 * TOGETHER + 1, self.height(task), self.elements(task)), EMPTY, np.int32)
        made[-1, -1] = task.fold.targets
        return made

    def early(self, task: RangedFold, solver: Solver) -> Iterator[Computed]:
        numbers = solver.read(task.fold.values) + task.range.offset
        for row, group in enumerate(numbers.reshape(-1, TOGETHER, numbers.shape[1])[::-1]):
            for place, number in enumerate(group):
                lone = len(task.range.sizes) == 1
                yield 2 * place, row, number if lone else number & ((1 << self.bits) - 1)
                yield 2 * place + 1, row, number * 0 if lone else number >> self.bits

    def computed(self, task: RangedFold, solver: Solver) -> Iterator[Computed]:
        for row, total in enumerate(task.fold.steps(solver, TOGETHER)[:-1]):
            yield 2 * TOGETHER, row, total

    def gates(self, make: ExpressionBuilder, advice: Sequence[int], fixed: Sequence[int]) -> list[tuple[str, int]]:
        kept, used, offset = map(make.fixed, fixed[:3])
        x = make.challenge(self.challenge)
        powers = [make.constant(1), x]
        while len(powers) <= TOGETHER:
            powers.append(make.multiply(powers[-1], x))
        limbs = [make.advice(column) for column in advice[:-1]]
        values = [
            make.add(low, make.scale(1 << self.bits, high)) for low, high in zip(limbs[::2], limbs[1::2], strict=True)
        ]
        inner = values[-1]
        for value in reversed(values[:-1]):
            inner = make.add(value, make.multiply(x, inner))
        now = make.multiply(used, make.subtract(inner, make.advice(advice[-1])))
        shifted = make.multiply(offset, make.sum(powers[:TOGETHER]))
        above = make.multiply(make.multiply(kept, powers[TOGETHER]), make.advice(advice[-1], -1))
        return [("fold", make.add(make.add(now, shifted), above))]

    def lookups(
        self, make: ExpressionBuilder, advice: Sequence[int], fixed: Sequence[int]
    ) -> list[tuple[str, str, tuple[int, ...]]]:
        tags = [make.fixed(column) for column in fixed[3:]]
        return [
            (f"{'high' if place % 2 else 'low'} limb {place // 2}", "limbs", (tags[place % 2], make.advice(column)))
            for place, column in enumerate(advice[:-1])
        ]


def fused(tasks: Sequence[Task | Hint], instance: Variables, count: int) -> dict[Task, RangedFold | None]:
    """Return the replacements for each range check and fold that can share rows: for the fold a ranged fold, and for
    the check None.
    """
    uses = np.zeros(count, np.int64)
    for task in tasks:
        for variables in _read(task):
            np.add.at(uses, variables.reshape(-1), 1)
    np.add.at(uses, instance, 1)
    checks = {
        int(task.terms[0].min()): task
        for task in tasks
        if isinstance(task, Range) and task.factors == (1,) and len(task.sizes) <= 2 and task.terms.size
    }
    found: dict[Task, RangedFold | None] = {}
    for task in tasks:
        if not isinstance(task, Fold) or task.phase or len(task.values) % TOGETHER:
            continue
        own = checks.get(int(task.values.min()))
        if own is None or own in found or own.terms.size != task.values.size:
            continue
        alike = np.array_equal(np.sort(own.terms[0]), np.sort(task.values.reshape(-1)))
        if alike and bool((uses[task.values] == 2).all()):
            found[task] = RangedFold(own.edge, own.role, own, task)
            found[own] = None
    return found


def _read(task: Task | Hint) -> Iterator[Variables]:
    """Yield the variables in the cells of a task, including those that the task defines."""
    match task:
        case Sum():
            yield task.terms
            yield task.targets
        case Range():
            yield task.terms
        case Dot():
            yield task.left
            yield task.right
            yield task.targets
        case Fold():
            yield task.values
            yield task.targets
        case Entry():
            yield task.index
            yield task.targets
        case Permutations():
            yield task.inputs
            yield task.outputs
            yield task.before
            yield task.after

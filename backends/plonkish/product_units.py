"""Plonkish units for products: dot products, folds by a challenge, and entries of tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .expressions import ExpressionBuilder
from .tasks import Dot, Entry, Fold
from .units import EMPTY, Cells, Computed, Unit
from .witness import Solver


@dataclass(frozen=True)
class DotUnit(Unit):
    """A unit of dot products with the columns a, b and total, where total = kept * (total above) + a * b in the used
    rows.

    Soundness: the cells of a and b determine each total of a dot product.
    """

    phase: int

    @property
    def name(self) -> str:  # type: ignore[override]
        return "dot" if self.phase == 0 else "dot after the challenge"

    @property
    def phases(self) -> tuple[int, ...]:  # type: ignore[override]
        return (self.phase,) * 3

    fixed = 2

    def height(self, task: Dot) -> int:
        return len(task.left)

    def scalars(self, task: Dot) -> list[list[int]]:
        height = self.height(task)
        return [[0] + [1] * (height - 1), [1] * height]

    def cells(self, task: Dot) -> Cells:
        totals = np.full(task.left.shape, EMPTY, np.int32)
        totals[-1] = task.targets
        return np.stack([task.left, task.right, totals])

    def computed(self, task: Dot, solver: Solver) -> Iterator[Computed]:
        if len(task.left) > 1:
            for row, total in enumerate(task.partial(solver)[:-1]):
                yield 2, row, total

    def gates(self, make: ExpressionBuilder, advice: Sequence[int], fixed: Sequence[int]) -> list[tuple[str, int]]:
        kept, used = map(make.fixed, fixed)
        a, b, total = map(make.advice, advice)
        now = make.multiply(used, make.subtract(make.multiply(a, b), total))
        return [("product", make.add(now, make.multiply(kept, make.advice(advice[2], -1))))]


@dataclass(frozen=True)
class FoldUnit(Unit):
    """A unit of folds with the columns v_0, ..., v_(w-1) and total, where total = kept * x^w * (total above) + sum of
    x^j v_j, for a challenge x.

    Soundness: the values and the challenge determine each total of a fold; a cell that no value needs is the constant
    0.
    """

    challenge: int
    phase: int
    width: int
    zero: int
    """The variable of a Plonkish circuit that is the constant 0."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"fold {self.challenge}" + (" after the challenge" if self.phase else "")

    @property
    def phases(self) -> tuple[int, ...]:  # type: ignore[override]
        return (*(self.phase,) * self.width, 1)

    fixed = 2

    def height(self, task: Fold) -> int:
        return -(-len(task.values) // self.width)

    def scalars(self, task: Fold) -> list[list[int]]:
        height = self.height(task)
        return [[0] + [1] * (height - 1), [1] * height]

    def cells(self, task: Fold) -> Cells:
        values = self.padded(task).values
        values = values.reshape(-1, self.width, values.shape[1])[::-1].transpose(1, 0, 2)
        totals = np.full(values.shape[1:], EMPTY, np.int32)
        totals[-1] = task.targets
        return np.concatenate([values, totals[None]])

    def computed(self, task: Fold, solver: Solver) -> Iterator[Computed]:
        if self.height(task) > 1:
            for row, total in enumerate(self.padded(task).steps(solver, self.width)[:-1]):
                yield self.width, row, total

    def padded(self, task: Fold) -> Fold:
        """Return the fold with zeros added after its values, so that the values fill whole rows."""
        missing = -len(task.values) % self.width
        if not missing:
            return task
        zeros = np.full((missing, task.values.shape[1]), self.zero, np.int32)
        values = np.concatenate([task.values, zeros])
        return Fold(task.edge, task.role, task.targets, values, task.challenge, task.phase)

    def gates(self, make: ExpressionBuilder, advice: Sequence[int], fixed: Sequence[int]) -> list[tuple[str, int]]:
        kept, used = map(make.fixed, fixed)
        *values, total = advice
        x = make.challenge(self.challenge)
        inner = make.advice(values[-1])
        for value in reversed(values[:-1]):
            inner = make.add(make.advice(value), make.multiply(x, inner))
        power = x
        for _ in range(self.width - 1):
            power = make.multiply(power, x)
        now = make.multiply(used, make.subtract(inner, make.advice(total)))
        above = make.multiply(make.multiply(kept, power), make.advice(total, -1))
        return [("fold", make.add(now, above))]


@dataclass(frozen=True)
class EntryUnit(Unit):
    """A unit of table entries with the columns index and value: together with the table's number, which is in a fixed
    cell, they are looked up in the table of entries.
    """

    name = "entry"
    phases = (0, 0)
    fixed = 1

    def height(self, task: Entry) -> int:
        return 1

    def scalars(self, task: Entry) -> list[list[int]]:
        return [[task.table + 1]]

    def cells(self, task: Entry) -> Cells:
        return np.stack([task.index, task.targets])[:, None]

    def gates(self, make: ExpressionBuilder, advice: Sequence[int], fixed: Sequence[int]) -> list[tuple[str, int]]:
        return []

    def lookups(
        self, make: ExpressionBuilder, advice: Sequence[int], fixed: Sequence[int]
    ) -> list[tuple[str, str, tuple[int, ...]]]:
        return [("entry", "entries", (make.fixed(fixed[0]), *map(make.advice, advice)))]

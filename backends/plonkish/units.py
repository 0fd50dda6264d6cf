"""Units of a Plonkish circuit, which are groups of columns for one kind of work: the rows that a task takes, their
fixed cells, and the gates over them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.operation import Values

from .expressions import ExpressionBuilder
from .tasks import Range, Sum
from .witness import Solver

EMPTY = -1
"""The mark of a cell that holds no variable: its content follows from other cells in the row, or does not matter."""

Cells = NDArray[np.int32]
Computed = tuple[int, int, Values]
"""The column, row and values, one per element, of a cell that holds no variable."""


class Unit(ABC):
    """A unit: the advice columns of one lane, the fixed columns that all lanes share, and the gates over these columns.

    Every gate of a unit is a sum of products with a factor from a fixed column, so that the gate is 0 where these fixed
    columns are 0.
    """

    name: str
    """The name of the kind of work, in messages and in the names of gates."""
    phases: tuple[int, ...]
    """The phase of each of a lane's advice columns: 1 if a challenge enters its values."""
    fixed: int
    """How many fixed columns the lanes of a unit share."""
    copied: int | None = None
    """How many of a lane's columns hold variables, and therefore occur in copies; None: all."""

    @abstractmethod
    def height(self, task: Any) -> int:
        """Return the number of Plonkish rows that one element of a task takes."""

    def elements(self, task: Any) -> int:
        """Return the number of elements in a task, which is by default the number of its targets."""
        return len(task.targets)

    @abstractmethod
    def scalars(self, task: Any) -> list[list[int]]:
        """Return the entries of each fixed column over the rows of one element of a task."""

    @abstractmethod
    def cells(self, task: Any) -> Cells:
        """Return the variables in the cells of a task, as `[columns, height, elements]`."""

    def computed(self, task: Any, solver: Solver) -> Iterator[Computed]:
        """Yield the cells of a task that hold no variable but must hold a certain value, all of the phase of the lane's
        last column.
        """
        yield from ()

    def early(self, task: Any, solver: Solver) -> Iterator[Computed]:
        """Yield the cells of a task that hold no variable but must hold a certain value already in phase 0, although
        the lane's last column is of phase 1.
        """
        yield from ()

    @abstractmethod
    def gates(self, make: ExpressionBuilder, advice: Sequence[int], fixed: Sequence[int]) -> list[tuple[str, int]]:
        """Return the gates of one lane over the given columns: what each gate says, and its node."""

    def lookups(
        self, make: ExpressionBuilder, advice: Sequence[int], fixed: Sequence[int]
    ) -> list[tuple[str, str, tuple[int, ...]]]:
        """Return the lookups of one lane over the given columns: what each lookup says, the name of its table, and the
        nodes of its inputs.
        """
        return []


@dataclass(frozen=True)
class SumUnit(Unit):
    """A unit of sums with the columns v_0, ..., v_(w-1) and total, where total = kept * (total above) + offset + sum of
    c_j v_j.

    Soundness: the factor of total in a row is -1 (the fixed column `used` is 1), so that the other cells determine the
    total.
    """

    width: int

    @property
    def name(self) -> str:  # type: ignore[override]
        return "sum"

    @property
    def phases(self) -> tuple[int, ...]:  # type: ignore[override]
        return (0,) * (self.width + 1)

    @property
    def fixed(self) -> int:  # type: ignore[override]
        return self.width + 3

    def height(self, task: Sum) -> int:
        return max(1, -(-len(task.factors) // self.width))

    def scalars(self, task: Sum) -> list[list[int]]:
        height = self.height(task)
        factors = [*task.factors, *[0] * (height * self.width - len(task.factors))]
        columns = [factors[j :: self.width] for j in range(self.width)]
        return [*columns, [0] + [1] * (height - 1), [task.offset] + [0] * (height - 1), [1] * height]

    def cells(self, task: Sum) -> Cells:
        height, count = self.height(task), self.elements(task)
        made = np.full((height * self.width, count), EMPTY, np.int32)
        made[: len(task.factors)] = task.terms
        totals = np.full((height, count), EMPTY, np.int32)
        totals[-1] = task.targets
        return np.concatenate([made.reshape(height, self.width, count).transpose(1, 0, 2), totals[None]])

    def computed(self, task: Sum, solver: Solver) -> Iterator[Computed]:
        total: Values = np.full(self.elements(task), task.offset, object)
        for row in range(self.height(task) - 1):
            for j in range(row * self.width, (row + 1) * self.width):
                total = total + task.factors[j] * solver.read(task.terms[j]).astype(object)
            yield self.width, row, total

    def gates(self, make: ExpressionBuilder, advice: Sequence[int], fixed: Sequence[int]) -> list[tuple[str, int]]:
        *factors, kept, offset, used = fixed
        terms = [
            make.multiply(make.fixed(c), make.advice(v)) for c, v in zip(factors, advice[: self.width], strict=True)
        ]
        total = advice[self.width]
        terms.append(make.multiply(make.fixed(kept), make.advice(total, -1)))
        terms.append(make.fixed(offset))
        return [("total", make.subtract(make.sum(terms), make.multiply(make.fixed(used), make.advice(total))))]


@dataclass(frozen=True)
class RangeUnit(Unit):
    """A unit of range checks with the columns v_0, ..., v_(w-1), low limb and high limb, where offset + sum of c_j v_j
    = low + 2^b high + 2^(2b) (v_0 above).

    A number with more than two limbs takes several rows, with its highest limbs first; v_0 is then the sum of the limbs
    so far.

    Soundness: the argument for a range check is that of `Assembly.within`. A limb is looked up as (tag, limb), where
    the tag is in a fixed cell; the table contains (0, 0) and (t, v) for every v below the size with number t, counted
    from 1. The tag ensures that a limb is below its own size, and not just below the size of a wider limb. A limb that
    is not used has the size 1 or the tag 0, and is therefore 0.
    """

    width: int
    bits: int
    tags: tuple[int, ...]
    """The sizes that have a table; a tag is a place in it, plus 1."""

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"range of {self.width}"

    @property
    def copied(self) -> int:  # type: ignore[override]
        return self.width

    @property
    def phases(self) -> tuple[int, ...]:  # type: ignore[override]
        return (0,) * (self.width + 2)

    @property
    def fixed(self) -> int:  # type: ignore[override]
        return self.width + 5

    def height(self, task: Range) -> int:
        return -(-len(task.sizes) // 2)

    def elements(self, task: Range) -> int:
        return int(task.terms.shape[1])

    def scalars(self, task: Range) -> list[list[int]]:
        height = self.height(task)
        sizes = [*task.sizes, *[1] * (2 * height - len(task.sizes))]
        tags = [self.tags.index(size) + 1 for size in sizes]
        factors = [*task.factors, *[0] * (self.width - len(task.factors))]
        columns = [[int(j == 0)] * (height - 1) + [factor] for j, factor in enumerate(factors)]
        offset = [0] * (height - 1) + [task.offset]
        return [*columns, [0] + [1] * (height - 1), offset, [1] * height, tags[::2][::-1], tags[1::2][::-1]]

    def cells(self, task: Range) -> Cells:
        made = np.full((self.width + 2, self.height(task), self.elements(task)), EMPTY, np.int32)
        made[: len(task.factors), -1] = task.terms
        return made

    def computed(self, task: Range, solver: Solver) -> Iterator[Computed]:
        height, number = self.height(task), task.number(solver)
        mask = (1 << self.bits) - 1
        for row in range(height):
            above = number >> (2 * self.bits * (height - 1 - row))
            if row < height - 1:
                yield 0, row, above
            last = 2 * (height - 1 - row) + 1 >= len(task.sizes) - 1
            high = above >> self.bits if last and len(task.sizes) % 2 == 0 else (above >> self.bits) & mask
            lone = last and len(task.sizes) % 2 == 1
            yield self.width, row, above if lone else above & mask
            yield self.width + 1, row, number * 0 if lone else high

    def gates(self, make: ExpressionBuilder, advice: Sequence[int], fixed: Sequence[int]) -> list[tuple[str, int]]:
        *factors, kept, offset, used, _, _ = fixed
        terms = [
            make.multiply(make.fixed(c), make.advice(v)) for c, v in zip(factors, advice[: self.width], strict=True)
        ]
        low, high = advice[self.width :]
        limbs = make.add(make.advice(low), make.scale(1 << self.bits, make.advice(high)))
        above = make.scale(1 << 2 * self.bits, make.advice(advice[0], -1))
        right = make.add(make.multiply(make.fixed(used), limbs), make.multiply(make.fixed(kept), above))
        return [("limbs", make.subtract(make.add(make.sum(terms), make.fixed(offset)), right))]

    def lookups(
        self, make: ExpressionBuilder, advice: Sequence[int], fixed: Sequence[int]
    ) -> list[tuple[str, str, tuple[int, ...]]]:
        found: list[tuple[str, str, tuple[int, ...]]] = []
        for what, limb, tag in zip(("low limb", "high limb"), advice[self.width :], fixed[-2:], strict=True):
            found.append((what, "limbs", (make.fixed(tag), make.advice(limb))))
        return found

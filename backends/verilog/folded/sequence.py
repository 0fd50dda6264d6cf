"""Sequences of addresses: what a counter with a few loops runs through, or, where it cannot, a table."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]
Loops = tuple[tuple[int, int], ...]

DEEPEST = 5
"""Loops that a counter has where no more are allowed; a sequence that needs more is kept in a table."""


@dataclass(frozen=True)
class Sequence:
    """Numbers from 0 up, one a step, then over again from the first.

    `loops`, innermost first, are (count, stride): each number is the first one plus stride times index, summed over the
    loops. They are None for a sequence that is kept in a table.
    """

    values: Indices = field(repr=False, compare=False)
    loops: Loops | None

    @staticmethod
    def of(values: Indices, deepest: int = DEEPEST) -> Sequence:
        """Return the sequence of these numbers: as loops where at most `deepest` give it, else as a table."""
        return Sequence(values, _loops(values, deepest))

    @property
    def steps(self) -> int:
        """Return how many steps it takes before it begins again."""
        return len(self.values)

    @property
    def bits(self) -> int:
        """Return the width of its largest number."""
        return max(1, int(self.values.max()).bit_length())

    @property
    def constant(self) -> bool:
        """Return whether all numbers are equal."""
        return self.loops is not None and all(stride == 0 for _, stride in self.loops)

    @property
    def moving(self) -> Loops:
        """The loops without outermost ones that repeat: those need no counter, since the sequence starts over."""
        loops = list(self.loops or ())
        while loops and loops[-1][1] == 0:
            loops.pop()
        return tuple(loops)

    @property
    def counters(self) -> tuple[int, int]:
        """Estimated (LUTs, flip-flops) of the counter, without the table."""
        if self.constant:
            return 0, 0
        if self.loops is None:
            index = (self.steps - 1).bit_length()
            return index + index // 3, index + self.bits
        if len(self.moving) == 1 and self.moving[0][1] == 1 and int(self.values[0]) == 0:
            return self.bits // 3 + 1, self.bits
        inner = [(count - 1).bit_length() for count, _ in self.moving]
        return self.bits + sum(bits // 2 + 1 for bits in inner), self.bits + sum(inner)

    @property
    def cost(self) -> int:
        """Return the LUTs and flip-flops of its counters and its table, estimated."""
        table = self.bits * -(-self.steps // 64) if self.loops is None else 0
        return sum(self.counters) + table


def _loops(values: Indices, deepest: int) -> Loops | None:
    """The loops of a sequence, adjacent ones merged, or None if it has none or too many."""
    found: list[tuple[int, int]] = []
    rest = values
    while len(rest) > 1:
        if len(found) == deepest:
            return None
        stride = int(rest[1] - rest[0])
        breaks = np.flatnonzero(np.diff(rest) != stride)
        run = int(breaks[0]) + 1 if len(breaks) else len(rest)
        count = _period(rest, run)
        if count is None:
            return None
        found.append((count, stride))
        rest = rest[::count]
    return tuple(found) or ((1, 0),)


def _period(values: Indices, run: int) -> int | None:
    """The longest innermost loop, of at most `run` steps, that repeats with other starts all along."""
    for count in range(run, 1, -1):
        if len(values) % count:
            continue
        rows = values.reshape(-1, count)
        if (rows - rows[:, :1] == rows[0] - rows[0, 0]).all():
            return count
        if run - count > 64:
            break
    return None

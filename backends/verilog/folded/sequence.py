"""Sequences of addresses, which a counter with a few loops runs through or, if it cannot, a table holds."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .reads import contents

Indices = NDArray[np.int64]
Loops = tuple[tuple[int, int], ...]

DEEPEST = 5
"""Loops that a counter has where no more are allowed; a sequence that needs more is kept in a table."""

MOST = 16
"""Loops by which a sequence is known, also where a table keeps it: tables of the same numbers are then the same."""


@dataclass(frozen=True)
class Sequence:
    """A sequence of numbers that are not negative, one for each step, which begins again after its last number.

    `loops`, innermost first, are pairs (count, stride): each number is the first number plus the sum, over the loops,
    of stride times index. `loops` is None for a sequence that is kept in a table. `key` is the same for sequences of
    the same numbers.
    """

    first: int
    loops: Loops | None
    key: Hashable
    table: Indices | None = field(repr=False, compare=False)

    @staticmethod
    def of(values: Indices, deepest: int = DEEPEST) -> Sequence:
        """Return the sequence of the given numbers, as loops if at most `deepest` loops give them, else as a table."""
        found, first = _loops(values, MOST), int(values[0])
        if found is not None and len(found) <= deepest:
            return Sequence(first, found, ((first, 0), *found), None)
        key = contents(values) if found is None else ((first, 0), *found)
        return Sequence(first, None, key, values)

    @property
    def values(self) -> Indices:
        """Return the number of each step."""
        if self.table is not None:
            return self.table
        made = np.full(1, self.first, np.int64)
        for count, stride in reversed(self.loops or ()):
            made = (made[:, None] + stride * np.arange(count)).reshape(-1)
        return made

    @property
    def steps(self) -> int:
        """Return the number of steps after which the sequence begins again."""
        return math.prod(count for count, _ in self.loops or ()) if self.table is None else len(self.table)

    @cached_property
    def bits(self) -> int:
        """Return the number of bits of the greatest number of the sequence."""
        last = sum(max(0, stride) * (count - 1) for count, stride in self.loops or ())
        greatest = self.first + last if self.table is None else int(self.table.max())
        return max(1, greatest.bit_length())

    @property
    def constant(self) -> bool:
        """Return whether all numbers of the sequence are equal."""
        return self.loops is not None and all(stride == 0 for _, stride in self.loops)

    @property
    def moving(self) -> Loops:
        """Return the loops of the sequence without the outermost loops of stride 0, which need no counter, since the
        sequence starts over.
        """
        loops = list(self.loops or ())
        while loops and loops[-1][1] == 0:
            loops.pop()
        return tuple(loops)

    @property
    def counters(self) -> tuple[int, int]:
        """Return an estimate of the LUTs and flip-flops of the sequence's counter, without its table."""
        if self.constant:
            return 0, 0
        if self.loops is None:
            index = (self.steps - 1).bit_length()
            return index + index // 3, index + self.bits
        if len(self.moving) == 1 and self.moving[0][1] == 1 and self.first == 0:
            return self.bits // 3 + 1, self.bits
        inner = [(count - 1).bit_length() for count, _ in self.moving]
        return self.bits + sum(bits // 2 + 1 for bits in inner), self.bits + sum(inner)

    @property
    def cost(self) -> int:
        """Return an estimate of the LUTs and flip-flops that the counters and the table of the sequence take
        together.
        """
        table = self.bits * -(-self.steps // 64) if self.loops is None else 0
        return sum(self.counters) + table


def _loops(values: Indices, deepest: int) -> Loops | None:
    """Return the loops of a sequence, with adjacent loops merged, or None if the sequence follows no loops or
    too many.
    """
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
    """Return the count of the longest innermost loop, of at most `run` steps, that repeats with other starts throughout
    a sequence.
    """
    for count in range(run, 1, -1):
        if len(values) % count:
            continue
        rows = values.reshape(-1, count)
        if (rows - rows[:, :1] == rows[0] - rows[0, 0]).all():
            return count
        if run - count > 64:
            break
    return None

"""Notes of instructions of combinational logic, one after the other with their operands; the notes then become
columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from circuitize.circuits.errors import FormatError

from .logic import SLOTS, Integers, Kind, Logic, Reals, Table

Terms = Iterable[tuple[int, float]]
"""The terms of a sum: numbers of earlier instructions with their factors, where ONE stands for the number 1."""
ONE = -1
Interval = tuple[float, float, float]
"""The minimum, maximum and step of a number."""


@dataclass
class Notes:
    """Notes of the instructions of combinational logic read so far: their intervals as minimum, maximum and step, or
    their bits if these are known.
    """

    where: str
    kinds: list[int] = field(default_factory=list)
    intervals: list[Interval] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    tables: list[int] = field(default_factory=list)
    lows: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    factors: list[float] = field(default_factory=list)

    def add(
        self,
        kind: Kind,
        interval: Interval,
        *operands: Terms,
        place: int = 0,
        table: int = -1,
        low: int = 0,
    ) -> int:
        """Note an instruction of combinational logic; return its number."""
        number = len(self.kinds)
        for slot, terms in enumerate(operands):
            self._terms(SLOTS * number + slot, terms)
        self.kinds.append(kind)
        self.intervals.append(interval)
        self.places.append(place)
        self.tables.append(table)
        self.lows.append(low)
        return number

    def logic(self, inputs: int, outputs: Sequence[Terms], tables: Sequence[Table]) -> Logic:
        """Return the noted instructions of combinational logic as columns. Raise FormatError for an instruction whose
        interval has a step that is no power of two, and wherever `Logic` does.
        """
        count = len(self.kinds)
        for number, terms in enumerate(outputs):
            self._terms(SLOTS * count + number, terms)
        intervals = np.array(self.intervals, np.float64).reshape(-1, 3)
        signed, integer, fraction = bits_of(intervals, self.where)
        column = np.array(self.columns, np.int64)
        low, high, step = intervals.T
        return Logic(
            self.where,
            inputs,
            len(outputs),
            np.array(self.kinds, np.int64),
            signed,
            integer,
            fraction,
            np.array(self.places, np.int64),
            np.array(self.tables, np.int64),
            np.array(self.lows, np.int64),
            np.stack([np.rint(low / step), np.rint(high / step)], axis=1).astype(np.int64),
            np.array(self.rows, np.int64),
            np.where(column == ONE, count, column),
            np.array(self.factors, np.float64),
            tables,
        )

    def _terms(self, row: int, terms: Terms) -> None:
        for number, factor in terms:
            self.rows.append(row)
            self.columns.append(number)
            self.factors.append(float(factor))


def bits_of(intervals: Reals, where: str) -> tuple[Integers, Integers, Integers]:
    """Return the sign bit and the numbers of bits before and after the binary point of intervals [n, 3], given as
    minimum, maximum and step.

    The number of bits of an interval is the least in two's complement, and 0 for the interval that holds 0 alone.
    """
    low, high, step = intervals.T
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        fraction = -np.log2(step)
        units = np.stack([np.abs(low / step), np.abs(high / step + 1)]).max(axis=0)
        found = np.isfinite(intervals).all(axis=1) & (step > 0) & (fraction == np.rint(fraction)) & (low <= high)
        found &= units < 2.0**62
    if not found.all():
        at = int(np.argmin(found))
        raise FormatError(
            f"{where}: instruction {at}: expected an interval of at most 62 bits with a step that is a power of two, "
            f"found {intervals[at].tolist()}; save the logic again"
        )
    total = np.ceil(np.log2(np.maximum(units, 1)))
    alone = (low == 0) & (high == 0)
    fraction = np.where(alone, 0, fraction)
    integer = np.where(alone, 0, total - fraction)
    return (low < 0).astype(np.int64), integer.astype(np.int64), fraction.astype(np.int64)


def bits(interval: Interval) -> tuple[int, int, int]:
    """Return the sign bit and the numbers of bits before and after the binary point of one interval. Raise ValueError
    if the given minimum, maximum and step are no interval.
    """
    try:
        found = bits_of(np.array([interval], np.float64), "")
    except FormatError:
        raise ValueError(f"interval {list(interval)}") from None
    return int(found[0][0]), int(found[1][0]), int(found[2][0])

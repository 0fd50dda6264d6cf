"""Rows of registers in a datapath, which only delay a value: some families hold them in LUTs that are shift registers,
or in multipliers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from circuitize.circuits.integers import Add, Check, Multiply, Scale, Shift, Subtract
from circuitize.circuits.operation import Operation

from ..signals import Signal
from .size import is_power

ALL = 1 << 10
"""More bits than any signal has: so many of the lowest bits of 0 are 0."""

LEAST = 3
"""Registers in a row from which on yosys makes a shift register of them."""

LONGEST = 32
"""Registers that a LUT holds as a shift register."""

BEFORE = 2
"""Registers before a factor that a multiplier holds; behind the product's own register it holds one more."""


@dataclass
class Rows:
    """The values of a datapath, each with the clock from which on it is there and the clocks in which it is read.

    An operation that only names other bits of its source makes no new value. `zeros` says of each signal how many of
    its lowest bits are known to be 0.
    """

    _first: dict[str, int] = field(default_factory=dict)
    _reads: dict[str, set[int]] = field(default_factory=dict)
    _factors: set[tuple[str, int]] = field(default_factory=set)
    _products: set[str] = field(default_factory=set)
    _sums: dict[str, str] = field(default_factory=dict)
    _widths: dict[str, int] = field(default_factory=dict)
    zeros: dict[str, int] = field(default_factory=dict)
    _of: dict[str, str] = field(default_factory=dict)
    _sources: set[str] = field(default_factory=set)

    def source(self, signal: Signal) -> None:
        """Note a source of the datapath."""
        self._sources.add(signal.name)
        self.zeros[signal.name] = 0
        self.start(signal, 0)

    def constant(self, signal: Signal) -> None:
        """Note a signal that is always the same number."""
        self.zeros[signal.name] = (signal.low & -signal.low).bit_length() - 1 if signal.low else ALL

    def start(self, signal: Signal, cycle: int) -> None:
        """Note that a signal is there from a clock on."""
        if signal.name not in self._of:
            self._of[signal.name] = signal.name
            self._first[signal.name], self._reads[signal.name] = cycle, set()
        value = self._of[signal.name]
        self._widths[value] = min(self._widths.get(value, signal.width), signal.width)

    def read(self, operation: Operation, sources: Sequence[Signal], target: Signal, cycle: int, product: bool) -> None:
        """Note that an operation, which may be a product in multipliers, reads its sources in a clock."""
        named = self._named(operation, sources)
        self.zeros[target.name] = self._zeros(operation, sources)
        for source in sources:
            value = self._of.get(source.name)
            if value is not None and (source is not named or isinstance(operation, Check)):
                if product and cycle not in self._reads[value]:
                    self._factors.add((value, cycle))
                self._reads[value].add(cycle)
        if named is not None and named.name in self._of:
            self._of[target.name] = self._of[named.name]
        elif product:
            self._products.add(target.name)
        elif isinstance(operation, Add):
            for x in sources:
                if x.name in self._products and self._first[x.name] == cycle:
                    self._sums[target.name] = x.name

    def follows(self, name: str) -> bool:
        """Return whether a sum adds to a product that nothing else reads, so that a multiplier has its adder."""
        return name in self._sums and len(self._reads[self._sums[name]]) == 1

    def end(self, signal: Signal, cycle: int) -> None:
        """Note that a signal leaves the datapath in a clock."""
        if signal.name in self._of:
            self._reads[self._of[signal.name]].add(cycle)

    def held(self, reduced: str, after: int, late: int, multiplied: bool) -> tuple[int, int]:
        """Return the bits of the registers in rows of at least LEAST, of which only the last is read, and the LUTs that
        hold these rows. If `multiplied` is true, multipliers hold the last registers before their factors.

        So many registers more stand before the sources: `after` for the one of the name `reduced`, `late` for others.
        """
        held, luts = 0, 0
        for value, reads in self._reads.items():
            before = (after if value == reduced else late) if value in self._sources else 0
            width = self._widths[value]
            for start, last in pairwise([self._first[value] - before, *sorted(reads)]):
                row = last - start
                inside = min(row, BEFORE) if multiplied and (value, last) in self._factors else 0
                inside = max(inside, min(row, 1) if multiplied and self._made(value, start) else 0)
                row -= inside
                held += width * (inside + (row if row >= LEAST else 0))
                luts += width * -(-row // LONGEST) if row >= LEAST else 0
        return held, luts

    def _made(self, value: str, start: int) -> bool:
        """Return whether a row begins at a product or a sum that a multiplier makes, which has a register behind it."""
        return start == self._first[value] and (value in self._products or self.follows(value))

    def _named(self, operation: Operation, sources: Sequence[Signal]) -> Signal | None:
        """Return the source of which an operation only names bits: it shifts, checks, or adds or multiplies by a number
        that takes no cell.
        """
        x = sources[0]
        if isinstance(operation, Shift | Check):
            return x
        if isinstance(operation, Scale):
            return x if operation.factor > 0 and operation.factor & (operation.factor - 1) == 0 else None
        for known, other in (
            ((sources[1], x), (x, sources[1])) if isinstance(operation, Add | Multiply | Subtract) else ()
        ):
            if known.low < known.high or (isinstance(operation, Subtract) and known is x):
                continue
            if isinstance(operation, Multiply):
                free = is_power(known)
            else:
                free = 0 <= known.low < 1 << self.zeros[other.name] * isinstance(operation, Add)
            if free:
                return other
        return None

    def _zeros(self, operation: Operation, sources: Sequence[Signal]) -> int:
        """Return how many of the lowest bits of what an operation makes are known to be 0."""
        zeros = [self.zeros[source.name] for source in sources]
        if isinstance(operation, Scale):
            return zeros[0] + (operation.factor & -operation.factor).bit_length() - 1
        if isinstance(operation, Shift):
            return max(0, zeros[0] - operation.bits)
        if isinstance(operation, Multiply):
            return sum(zeros)
        return min(zeros) if isinstance(operation, Add | Subtract | Check) else 0

"""Notes of da4ml's and alkaid's instructions, one after the other, as sums, choices and rounded numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from circuitize.circuits.errors import FormatError

from .logic import MOST_BITS, Kind
from .writing import ONE, Interval, Notes, bits


@dataclass
class Instructions:
    """The instructions of one CombLogic: the list `made` gives for each instruction its number among all notes.

    The argument `tables` is the number of tables in the earlier stages of the combinational logic.
    """

    notes: Notes
    tables: int
    made: list[int] = field(default_factory=list)

    @contextmanager
    def reading(self, number: int) -> Iterator[None]:
        """Make a context that raises FormatError, naming the instruction of combinational logic, if its block fails on
        a malformed instruction.
        """
        try:
            yield
        except (TypeError, ValueError, IndexError, KeyError, OverflowError) as error:
            raise FormatError(
                f"{self.notes.where}: instruction {number}: expected operands, an operation and an interval that there "
                f"are, found {error}; save the logic again"
            ) from None

    def at(self, number: int) -> int:
        """Return the number that an earlier instruction of combinational logic has among all notes. Raise ValueError if
        there is no earlier instruction of combinational logic with that number.
        """
        if not 0 <= number < len(self.made):
            raise ValueError(f"operand {number}")
        return self.made[number]

    def leaving(self, output: int, number: int, shift: int, negative: bool) -> list[tuple[int, float]]:
        """Return the terms of an output: an instruction of combinational logic times a power of two and a sign; no
        terms if the instruction's number is negative.
        """
        if number < 0:
            return []
        if number >= len(self.made) or not abs(shift) <= MOST_BITS:
            raise FormatError(
                f"{self.notes.where}: output {output}: expected an instruction below {len(self.made)} and a shift "
                f"within {MOST_BITS}, found {number} and {shift}; save the logic again"
            )
        return [(self.made[number], (-1.0 if negative else 1.0) * 2.0**shift)]

    def interval(self, number: int) -> Interval:
        """Return the interval of values of an earlier instruction of combinational logic."""
        return self.notes.intervals[self.at(number)]

    def input(self, interval: Interval, place: int, shift: int) -> None:
        """Note an instruction that reads an element of the network's input."""
        if shift:
            raise ValueError(f"an input that is shifted, by {shift}")
        self.made.append(self.notes.add(Kind.INPUT, interval, place=place))

    def linear(self, interval: Interval, *terms: tuple[int, float]) -> None:
        """Note an instruction that adds earlier instructions, each times a factor."""
        self.made.append(self.notes.add(Kind.LINEAR, interval, terms))

    def rounded(self, kind: Kind, interval: Interval, number: int, factor: float) -> None:
        """Note an instruction that rounds an earlier instruction, times a factor, into the interval's bits."""
        self.made.append(self.notes.add(kind, interval, [(self.at(number), factor)]))

    def select(self, kind: Kind, interval: Interval, key: int, chosen: int, other: int, factor: float) -> None:
        """Note an instruction that chooses `chosen` where the first bit of the key is 1, else `other` times the factor.

        The first bit of the key of a choice is the key's sign bit, or, if the key is never negative, the highest bit of
        the key's interval.
        """
        a, b = [(self.at(chosen), 1.0)], [(self.at(other), factor)]
        ends = self.interval(key)
        if ends[0] < 0:
            self.made.append(self.notes.add(kind, interval, [(self.at(key), 1.0)], a, b))
            return
        half = 2.0 ** (bits(ends)[1] - 1)
        self.made.append(self.notes.add(kind, interval, [(self.at(key), 1.0), (ONE, -half)], b, a))

    def product(self, interval: Interval, first: int, second: int) -> None:
        """Note an instruction that multiplies two earlier instructions."""
        self.made.append(self.notes.add(Kind.PRODUCT, interval, [(self.at(first), 1.0)], [(self.at(second), 1.0)]))

    def look_up(self, interval: Interval, number: int, table: int) -> None:
        """Note an instruction that looks up a table whose first entry belongs to the least number of the argument's
        interval.
        """
        low, _, step = self.interval(number)
        index = [(self.at(number), 1 / step)]
        self.made.append(self.notes.add(Kind.TABLE, interval, index, table=self.tables + table, low=round(low / step)))

    def unary(self, interval: Interval, number: int, factor: float, code: int) -> None:
        """Note an instruction on the bits of a number: the negation of all bits (code 0), whether any bit is 1 (code
        1), or whether all bits are 1 (code 2).
        """
        ends = self.interval(number)
        signed, integer, fraction = bits(ends) if ends[:2] != (0.0, 0.0) else (0, 1, 0)
        total, units = signed + integer + fraction, factor * 2.0**fraction
        if code == 0:
            last = 2.0 ** -bits(interval)[2]
            most = -1.0 if signed else 2.0**total - 1
            terms = [(self.at(number), -units * last), (ONE, most * last)]
            self.made.append(self.notes.add(Kind.QUANTIZE, interval, terms))
        elif code in (1, 2):
            low = -total if signed else total
            kind = Kind.ANY if code == 1 else Kind.ALL
            self.made.append(self.notes.add(kind, interval, [(self.at(number), units)], low=low))
        else:
            raise ValueError(f"operation {code} of bits")

    def binary(self, interval: Interval, x: tuple[int, float], y: tuple[int, float], code: int) -> None:
        """Note an instruction on the bits of two numbers: the bits that are 1 in both (code 0), in at least one (code
        1), or in exactly one of them (code 2).

        For integers x and y in two's complement, x + y = (x | y) + (x & y), bit by bit.
        """
        if code not in (0, 1, 2):
            raise ValueError(f"operation {code} of bits")
        ends = [sorted(end * factor for end in self.interval(number)[:2]) for number, factor in (x, y)]
        step = min(self.interval(number)[2] * abs(factor) for number, factor in (x, y))
        signed, integer, fraction = bits((min(e[0] for e in ends), max(e[1] for e in ends), step))
        total = signed + integer + fraction
        low = -total if signed else total
        terms = [(self.at(x[0]), x[1]), (self.at(y[0]), y[1])]
        units = [[(at, factor / step)] for at, factor in terms]
        common = self.notes.add(Kind.AND, (-1.0 * bool(signed) * 2.0**total, 2.0**total, 1.0), *units, low=low)
        if code == 0:
            self.made.append(self.notes.add(Kind.QUANTIZE, interval, [(common, step)]))
        else:
            self.made.append(self.notes.add(Kind.QUANTIZE, interval, [*terms, (common, -code * step)]))

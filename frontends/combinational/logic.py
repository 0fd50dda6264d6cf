"""Combinational logic as columns: the kind, the bits in two's complement and the operands of each instruction,
checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError, FormatError

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

SLOTS = 3
"""The most operands of an instruction."""
MOST_BITS = 60
"""The most bits before and after the binary point, and the most places of shifts; wider numbers would leave 64-bit
integers.
"""


class Kind(IntEnum):
    """The kind of an instruction of combinational logic: what the instruction computes from its operands, each a sum of
    earlier numbers times powers of two.
    """

    LINEAR = 0
    """A LINEAR instruction gives its operand."""
    INPUT = 1
    """An INPUT instruction gives an element of the input, rounded down to its bits, which wrap."""
    QUANTIZE = 2
    """A QUANTIZE instruction gives its operand, rounded down to its bits, which wrap."""
    RELU = 3
    """A RELU instruction gives its operand, or 0 where that is negative, rounded down to its bits, which wrap."""
    SELECT = 4
    """A SELECT instruction gives its second operand where the first is negative, else its third."""
    WRAPPED_SELECT = 5
    """A WRAPPED_SELECT instruction gives what SELECT gives, rounded down to its bits, which wrap."""
    PRODUCT = 6
    """A PRODUCT instruction gives the product of its operands."""
    TABLE = 7
    """A TABLE instruction gives the entry of a table."""
    ANY = 8
    """An ANY instruction gives 1 where its operand is not 0, else 0."""
    ALL = 9
    """An ALL instruction gives 1 where all bits of its operand are 1, else 0."""
    AND = 10
    """An AND instruction gives the bits that both operands have in common."""


ARITY = {Kind.INPUT: 0, Kind.SELECT: 3, Kind.WRAPPED_SELECT: 3, Kind.PRODUCT: 2, Kind.AND: 2}
"""The number of operands by kind of instruction; kinds that are not listed have one operand."""


@dataclass(frozen=True, eq=False)
class Table:
    """A table of integers, which stand for multiples of 2^-fraction_bits."""

    entries: Integers
    fraction_bits: int


@dataclass(frozen=True, eq=False)
class Logic:
    """Combinational logic: instructions as columns, their operands and the outputs as rows of a sparse matrix.

    Instruction n of a Logic has `signed`, `integer` and `fraction` bits; `place` is the element of the input that it
    reads; `low` is the argument of its table's first entry in units of the operand's last bit, or the bits that ANY,
    ALL and AND read. Term t of a Logic adds to operand `row[t]` the value of instruction `column[t]` times `factor[t]`,
    or `factor[t]` itself if `column[t]` is `count`: row SLOTS * n + slot belongs to instruction n, and SLOTS * count +
    m is output m. The field `ends` [count, 2] of a Logic holds the least and the greatest number that each input takes,
    in units of the input's last bit. The field `where` of a Logic names the logic's file in messages.
    """

    where: str
    inputs: int
    outputs: int
    kind: Integers
    signed: Integers
    integer: Integers
    fraction: Integers
    place: Integers
    table: Integers
    low: Integers
    ends: Integers
    row: Integers
    column: Integers
    factor: Reals
    tables: Sequence[Table]

    @property
    def count(self) -> int:
        """Return how many instructions the combinational logic has."""
        return len(self.kind)

    @property
    def bits(self) -> Integers:
        """Return how many bits each instruction of combinational logic has, the sign included; 0 if its number is
        always 0.
        """
        found: Integers = np.maximum(self.signed + self.integer + self.fraction, 0)
        return found

    def __post_init__(self) -> None:
        """Raise FormatError, naming the instruction of combinational logic, for operands, places, tables or bits that
        cannot exist.
        """
        if not self.inputs or not self.outputs:
            raise FormatError(
                f"{self.where}: expected inputs and outputs, found {self.inputs} and {self.outputs}; save it again"
            )
        owner = self.row // SLOTS
        reading = self.kind == Kind.INPUT
        self._require((self.place >= 0) & (self.place < self.inputs) | ~reading, self.place, "an element of the input")
        wide = (np.abs(self.integer) <= MOST_BITS) & (np.abs(self.fraction) <= MOST_BITS) & (self.bits <= MOST_BITS)
        self._require(wide, self.signed + self.integer + self.fraction, f"at most {MOST_BITS} bits")
        looking = self.kind == Kind.TABLE
        self._require((self.table >= 0) & (self.table < len(self.tables)) | ~looking, self.table, "a table of the file")
        earlier = (self.column >= 0) & (self.column < np.minimum(owner, self.count)) | (self.column == self.count)
        if not earlier.all():
            at = int(np.argmin(earlier))
            raise self._fault(int(owner[at]), "operands that come before it", str(int(self.column[at])))
        size = np.abs(self.factor)
        if not (np.isfinite(size) & (size < 2.0**MOST_BITS)).all():
            at = int(np.argmin(np.isfinite(size) & (size < 2.0**MOST_BITS)))
            raise self._fault(int(owner[at]), f"factors below 2^{MOST_BITS}", f"{self.factor[at]:g}")

    def fault(self, instruction: int, expected: str, found: str) -> CircuitizeError:
        """Return the error for an instruction of combinational logic that is not as expected."""
        return self._fault(instruction, expected, found)

    def _require(self, holds: NDArray[np.bool_], found: Integers, expected: str) -> None:
        if not holds.all():
            at = int(np.argmin(holds))
            raise self._fault(at, expected, str(int(found[at])))

    def _fault(self, at: int, expected: str, found: str) -> FormatError:
        what = f"instruction {at}" if at < self.count else "an output"
        return FormatError(f"{self.where}: {what}: expected {expected}, found {found}; save the logic again")

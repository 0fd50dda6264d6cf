"""Table lookups: any function of one narrow integer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from circuitize.circuits.array_module import Table
from circuitize.circuits.errors import TypingError
from circuitize.circuits.operation import Values
from circuitize.circuits.requirement import require_between
from circuitize.circuits.types import Fixed

from .constant import frozen
from .language import IntegerOperation, Integers

ENTRIES = 1 << 16
"""The most entries of a table; wider functions are composed of narrow ones."""


@dataclass(frozen=True, eq=False)
class Lookup(IntegerOperation):
    """Lookup: the entry table[x - low], with `fraction_bits` fraction bits; x's interval lies inside [low, low +
    len(table)).
    """

    name = "integer.lookup"
    pointwise = True

    low: int
    table: Integers
    fraction_bits: int

    def __post_init__(self) -> None:
        table = frozen(self.table)
        if table.ndim != 1 or not 1 <= len(table) <= ENTRIES:
            raise TypingError(
                f"{self.name}: expected a table of 1 to {ENTRIES} entries, found shape {list(table.shape)}; "
                "compose narrower tables"
            )
        object.__setattr__(self, "table", table)

    @property
    def high(self) -> int:
        """Return the last argument for which the table has a value."""
        return self.low + len(self.table) - 1

    def target(self, *sources: Fixed) -> Fixed:
        (x,) = sources
        if x.low < self.low or x.high > self.high:
            raise TypingError(
                f"{self.name}: expected values in [{self.low}, {self.high}], found the interval [{x.low}, {x.high}]; "
                "Check it first or extend the table"
            )
        reached = self.table[x.low - self.low : x.high - self.low + 1]
        return Fixed(x.shape, self.fraction_bits, int(reached.min()), int(reached.max()))

    def value(self, *values: Integers) -> Values:
        (x,) = values
        require_between(self.name, self.low, self.high, x)
        return self._tables.like(x)[x - self.low]

    @cached_property
    def _tables(self) -> Table:
        return Table(self.table)

    @cached_property
    def _key(self) -> tuple[bytes, int, int]:
        return self.table.tobytes(), self.low, self.fraction_bits

    @cached_property
    def _hash(self) -> int:
        return hash(self._key)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Lookup) and self._key == other._key)

"""Check: the identity on an interval, undefined outside; the only operation that restricts the values of a program."""

from __future__ import annotations

from dataclasses import dataclass

from circuitize.circuits.errors import TypingError, Undefined
from circuitize.circuits.operation import Values
from circuitize.circuits.requirement import require_between
from circuitize.circuits.types import Fixed, Type, fixed

from .language import IntegerOperation, Integers


@dataclass(frozen=True)
class Check(IntegerOperation):
    """Check: y = x where low <= x <= high; undefined if any element is outside. The interval of the target of a Check
    is [low, high].
    """

    name = "integer.check"
    pointwise = True

    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise TypingError(f"{self.name}: expected low <= high, found [{self.low}, {self.high}]")

    def is_identity(self, source: Type) -> bool:
        format = fixed(source)
        return format.low == self.low and format.high == self.high

    def target(self, *sources: Fixed) -> Fixed:
        return sources[0].with_interval(self.low, self.high)

    def value(self, *values: Integers) -> Values:
        (x,) = values
        try:
            require_between(self.name, self.low, self.high, x)
        except Undefined as error:
            reached, held = max(abs(int(x.min())), abs(int(x.max()))), max(abs(self.low), abs(self.high))
            error.times = reached / held if held else None
            raise
        return x

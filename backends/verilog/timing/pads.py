"""Registers that lie beside pads far apart, since several pads show one bit.

Before a pad stands a register that holds the bit while the pad's taker waits, and a choice between the two:

    held <= bit;   pad = full ? held : bit

If one pad shows the bit, both may lie beside the bit's source, since nothing is said about the time to the pad. If
several pads show it, as they show the sign of a number on a bus that is wider than the number, each pad draws its own
register and choice to its place at the edge of the die, and the wire from the source spans the places of all these
pads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from ..certificate.checker.elaboration import Scope, number
from ..certificate.checker.refusal import Refused
from ..certificate.checker.syntax import (
    Binary,
    Choice,
    Expression,
    Join,
    Name,
    Number,
    Repeat,
    Signed,
    Slice,
    Unary,
    assignments,
)
from .bits import Times
from .loads import Loads
from .reading import Circuit

Bit = tuple[str, int]
"""A bit of a net."""
Place = tuple[Expression, int, Scope]
"""A bit of an expression."""


class Pads:
    """The registers beside pads, and for each of their bits how far the pads that show the same bit lie apart, as a
    part of the die: n places on a line that are drawn by lot span (n - 1) / (n + 1) of it.
    """

    def __init__(self, circuit: Circuit, loads: Loads) -> None:
        self.circuit, self.loads = circuit, loads
        self.apart: dict[str, Times] = {}
        self._numbers: dict[tuple[object, ...], int] = {}
        self._known: dict[Bit, int] = {}
        groups: dict[int, set[Bit]] = defaultdict(set)
        for port in circuit.modules[circuit.placed[""]].ports:
            for place in range(circuit.nets[port.name].width) if port.direction == "output" else ():
                for held, shown in self._beside((port.name, place)):
                    groups[shown].add(held)
        for held_bits in groups.values():
            for name, place in held_bits:
                spans = self.apart.setdefault(name, np.zeros(circuit.nets[name].width))
                spans[place] = (len(held_bits) - 1) / (len(held_bits) + 1)

    def _beside(self, bit: Bit) -> Iterator[tuple[Bit, int]]:
        """Yield the register beside a pad, if it has one, and the number of the function that both show."""
        found = self._driver(bit)
        while found is not None:
            value, place, scope = found
            if isinstance(value, Choice):
                held, shown = self._named(value.yes, place, scope), self._function(value.no, place, scope)
                if isinstance(held, tuple) and self._held(held) == shown:
                    yield held, shown
                return
            named = self._named(value, place, scope)
            found = self._driver(named) if isinstance(named, tuple) else None

    def _held(self, bit: Bit) -> int | None:
        """Return the number of the function that a register takes, if one assignment alone gives it a value."""
        name, place = bit
        clocked = self.circuit.nets[name].clocked
        if clocked is None:
            return None
        block, scope = clocked
        values = [part.value for part in assignments(block.body) if scope.names[part.target.name] == name]
        return self._function(values[0], place, scope) if len(values) == 1 else None

    def _driver(self, bit: Bit) -> Place | None:
        """Return the bit of an expression that drives a bit, through the ports of modules; None for registers, memories
        and inputs.
        """
        name, place = bit
        for driver in self.circuit.nets[name].drivers:
            if driver.low <= place < driver.low + driver.width:
                if driver.value is None:
                    return self._driver((driver.port, driver.from_bit + place - driver.low))
                return driver.value, place - driver.low, driver.scope
        return None

    def _inside(self, value: Expression, place: int, scope: Scope) -> tuple[Expression, int]:
        """Return the bit of an expression within signs, repetitions and concatenations that a bit of them is."""
        while True:
            match value:
                case Signed(inner):
                    value = inner
                case Repeat(_, inner):
                    value, place = inner, place % self.loads.width(inner, scope)
                case Join(parts):
                    ends = np.cumsum([self.loads.width(part, scope) for part in reversed(parts)])
                    if place >= ends[-1]:
                        return value, place
                    found = int(np.searchsorted(ends, place, side="right"))
                    value, place = parts[-1 - found], place - int(ends[found - 1] if found else 0)
                case _:
                    return value, place

    def _named(self, value: Expression, place: int, scope: Scope) -> Bit | int | None:
        """Return the bit of a net, or the number, that a bit of an expression only names; None if it is computed."""
        value, place = self._inside(value, place, scope)
        match value:
            case Name(name) if name in scope.names and not self.circuit.nets[scope.names[name]].entries:
                bit = scope.names[name], place
                return bit if place < self.circuit.nets[bit[0]].width else 0
            case Slice(name, low, _) if not self.circuit.nets[scope.names[name]].entries:
                try:
                    return scope.names[name], number(low, scope) + place
                except Refused:  # The place is no number before the design runs.
                    return None
            case Number(amount, _):
                return amount >> place & 1
        return None

    def _function(self, value: Expression, place: int, scope: Scope) -> int:
        """Return a number for the function that a bit of an expression is; equal functions of the same bits that are
        written alike have the same number.
        """
        named = self._named(value, place, scope)
        if isinstance(named, int):
            return self._number("number", named)
        if named is not None:
            return self._bit(named)
        value, place = self._inside(value, place, scope)
        match value:
            case Unary("~", inner):
                return self._number("~", self._function(inner, place, scope))
            case Binary("&" | "|" as operator, left, right):
                return self._gate(operator, self._function(left, place, scope), self._function(right, place, scope))
            case Choice(condition, yes, no):
                known = self._holds(condition, scope)
                if known is not None:
                    return self._function(yes if known else no, place, scope)
                sides = [self._function(part, place, scope) for part in (yes, no)]
                return self._number("?", self._function(condition, 0, scope), *sides)
            case Unary(operator, inner):
                bits = [self._function(inner, at, scope) for at in range(self.loads.width(inner, scope))]
                return self._number(operator, *bits)
        return self._number(id(value), place, scope.path)

    def _gate(self, operator: str, left: int, right: int) -> int:
        """Return the number of the function of two others, of which one may be a number."""
        ends, none = self._number("number", int(operator == "|")), self._number("number", int(operator == "&"))
        if ends in (left, right):
            return ends
        return left if right == none else right if left == none else self._number(operator, left, right)

    def _holds(self, condition: Expression, scope: Scope) -> bool | None:
        """Return whether a condition on parameters holds; None if it depends on a net."""
        try:
            return self.circuit.holds(condition, scope)
        except Refused:
            return None

    def _bit(self, bit: Bit) -> int:
        if bit not in self._known:
            driver = self._driver(bit)
            self._known[bit] = self._number(*bit) if driver is None else self._function(*driver)
        return self._known[bit]

    def _number(self, *function: object) -> int:
        return self._numbers.setdefault(function, len(self._numbers))

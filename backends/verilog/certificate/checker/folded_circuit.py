"""The nets, registers and memories of all modules of a folded design, with the assignments and the clocked blocks that
drive or write them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .circuit import Circuit
from .elaboration import Scope, compares, number
from .refusal import Refused
from .syntax import (
    Assignment,
    Binary,
    Branch,
    Clocked,
    Combinational,
    Declaration,
    Each,
    Expression,
    Initial,
    Join,
    Module,
    Name,
    Number,
    Slice,
    Statement,
    Store,
    Text,
    assignments,
    read_names,
)


@dataclass(frozen=True, slots=True)
class Writing:
    """A clocked block that writes to a memory: its statements, the scope of their names, and the clock."""

    body: tuple[Statement, ...]
    scope: Scope
    clock: str


class FoldedCircuit(Circuit):
    """The nets, registers and memories of a folded design, in the top module and in all modules below the top
    module.
    """

    def __init__(self, modules: Mapping[str, Module], top: str) -> None:
        self.texts: dict[int, str] = {}
        """Texts that are parameters, by the numbers that stand for them."""
        self.written: dict[str, Writing] = {}
        self.unordered: set[str] = set()
        self.first: dict[str, int] = {}
        """The numbers that registers hold before the first edge."""
        self.read_at_once: dict[str, Scope] = {}
        """Memories that combinational blocks read: what runs such a block is no change of an entry."""
        super().__init__(modules, top)
        for name in self.read_at_once.keys() & self.written.keys():
            raise Refused(f"{self.read_at_once[name].module.name}: {name} is written, and read in an always @* block")
        for name in sorted({name for net in self.nets.values() for driver in net.drivers for name in driver.sources}):
            self.require_ordered(name)

    def require_ordered(self, name: str) -> None:
        """Raise Refused if a net is an unordered memory, which only a register may read: a tool may move the register
        to the address, so that a read at the edge of a write gives any word.
        """
        if name in self.unordered:
            raise Refused(f"{self.nets[name].scope.module.name}: {name} has no_rw_check, and is not read by a register")

    def undriven(self) -> set[str]:
        """Return the nets that need no driver: inputs, and memories that a file loads or a clocked block writes."""
        return {*super().undriven(), *self.written}

    def holds(self, condition: Expression, scope: Scope) -> bool:
        """Return whether the condition of a generated block holds when the design is elaborated."""
        if isinstance(condition, Binary) and isinstance(condition.right, Text):
            if not isinstance(condition.left, Name) or condition.operator != "!=":
                raise Refused(f"{scope.module.name}: expected a parameter that differs from a text, found another")
            return self._text(condition.left, scope) != condition.right.value
        return super().holds(condition, scope)

    def _text(self, name: Name, scope: Scope) -> str:
        found = scope.numbers.get(name.name, 0)
        if found not in self.texts:
            raise Refused(f"{scope.module.name}: expected a text for {name.name}, found another parameter")
        return self.texts[found]

    def _parameter(self, name: str, value: Expression, scope: Scope, numbers: dict[str, int]) -> None:
        if isinstance(value, Text):
            # A number that no expression with a number of 32 bits can hold.
            numbers[name] = (1 << 40) + len(self.texts)
            self.texts[numbers[name]] = value.value
        else:
            super()._parameter(name, value, scope, numbers)

    def _file(self, file: str | Name, scope: Scope) -> str:
        return self._text(file, scope) if isinstance(file, Name) else file

    def _declare(self, made: Declaration, scope: Scope) -> None:
        super()._declare(made, scope)
        name = scope.names[made.name]
        if made.entries is not None:
            if not 1 <= self.nets[name].entries <= 1 << 24 or not made.register:
                raise Refused(f"{scope.module.name}: {made.name} is no memory of 1 to 2^24 entries")
            if made.unordered:
                self.unordered.add(name)

    def _initial(self, item: Initial, scope: Scope) -> None:
        name = self.net(item.name, scope)
        net = self.nets[name]
        first = _joined(item.value)
        if first.width != net.width or not net.register or net.entries:
            raise Refused(f"{scope.module.name}: expected {item.name} to begin with a number of its width")
        if name in self.first:
            raise Refused(f"{scope.module.name}: {item.name} begins twice")
        self.first[name] = first.value

    def _clocked(self, item: Clocked, scope: Scope) -> None:
        clock = self.net(item.clock, scope)
        body = tuple(self._unrolled(item.body, scope))
        for name in {self.net(part.name, scope) for part in _stores(body)}:
            if name in self.written or not self.nets[name].entries:
                raise Refused(f"{scope.module.name}: {name} is no memory, or is written by two blocks")
            self.written[name] = Writing(body, scope, clock)
        super()._clocked(replace(item, body=body), scope)

    def _combinational(self, item: Combinational, scope: Scope) -> None:
        super()._combinational(item, scope)
        for part in assignments(item.body):
            names = {scope.names[name] for name in read_names(part.value) if name in scope.names}
            self.read_at_once |= {name: scope for name in names if self.nets[name].entries}

    def _unrolled(self, body: Iterable[Statement], scope: Scope) -> Iterator[Statement]:
        """Yield the statements of a clocked block with its loops unrolled, and with each assignment to an entry of a
        memory as a `Store`.
        """
        for part in body:
            if isinstance(part, Branch):
                yes, no = (tuple(self._unrolled(side, scope)) for side in (part.yes, part.no))
                yield Branch(part.condition, yes, no)
            elif isinstance(part, Each):
                yield from self._loop(part, scope)
            elif isinstance(part, Store):
                yield replace(part, low=Number(number(part.low, scope)), width=Number(number(part.width, scope)))
            elif isinstance(part.target, Slice) and self.nets[self.net(part.target.name, scope)].entries:
                if part.target.width != Number(1):
                    raise Refused(f"{scope.module.name}: several entries of {part.target.name} are assigned at once")
                width = self.nets[self.net(part.target.name, scope)].width
                yield Store(part.target.name, part.target.low, Number(0), Number(width), part.value)
            else:
                yield part

    def _loop(self, part: Each, scope: Scope) -> Iterator[Statement]:
        first, end = number(part.first, scope), number(part.end, scope)
        if compares(part.first, part.end) or first < 0 or end - first > 1 << 16:
            raise Refused(f"{scope.module.name}: expected a loop over few numbers from 0 up")
        if part.variable in scope.names or part.variable in scope.numbers:
            raise Refused(f"{scope.module.name}: {part.variable} is a net, and a variable of a loop")
        for value in range(first, end):
            known = {part.variable: Number(value)}
            yield from self._unrolled((_with(statement, known) for statement in part.body), scope)


def _stores(body: Iterable[Statement]) -> Iterator[Store]:
    for part in body:
        if isinstance(part, Branch):
            yield from _stores(part.yes)
            yield from _stores(part.no)
        elif isinstance(part, Store):
            yield part


def _with(part: Statement, known: Mapping[str, Number]) -> Statement:
    """Return a statement in which numbers replace the variables of loops."""
    if isinstance(part, Branch):
        yes, no = (tuple(_with(inner, known) for inner in side) for side in (part.yes, part.no))
        return Branch(put(part.condition, known), yes, no)
    if isinstance(part, Store):
        return Store(part.name, *(put(value, known) for value in (part.index, part.low, part.width, part.value)))
    if isinstance(part, Assignment):
        target = put(part.target, known)
        if not isinstance(target, Name | Slice):
            raise Refused(f"{part.target.name} is a variable of a loop, and is assigned")
        return Assignment(target, put(part.value, known))
    body = tuple(_with(inner, known) for inner in part.body)
    return Each(part.variable, put(part.first, known), put(part.end, known), body)


def put(value: Expression, known: Mapping[str, Number]) -> Expression:
    """Return an expression in which the names that `known` lists are replaced by their numbers."""
    if isinstance(value, Name):
        return known.get(value.name, value)
    made: dict[str, Any] = {}
    for name in value.__dataclass_fields__:
        part = getattr(value, name)
        if isinstance(part, tuple):
            made[name] = tuple(put(inner, known) for inner in part)
        elif not isinstance(part, str | int | bool | None):
            made[name] = put(part, known)
    return replace(value, **made) if made else value


def _joined(value: Expression) -> Number:
    """Return the number that a literal is, or several side by side; without a width if they have none."""
    parts = value.parts if isinstance(value, Join) else (value,)
    bits, width = 0, 0
    for part in parts:
        if not isinstance(part, Number) or part.width is None:
            return Number(0)
        bits, width = bits << part.width | part.value & ((1 << part.width) - 1), width + part.width
    return Number(bits, width)

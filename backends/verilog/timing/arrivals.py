"""The times at which the nets of a circuit are known after a clock edge."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..certificate.checker.elaboration import Scope, number
from ..certificate.checker.refusal import Refused
from ..certificate.checker.syntax import (
    Assignment,
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
)
from ..devices.family import Family
from ..folded.counter import in_block, rom_in_block
from .bits import NEVER, Bits, Cells, joined, steady
from .delays import Delays
from .loads import BITWISE, Loads
from .reading import Circuit, clocked_blocks, ordered, within_branches


class Arrivals:
    """The times of the bits of all nets of a circuit, by the names of nets, in the cells of a family."""

    def __init__(self, circuit: Circuit, delays: Delays, family: Family) -> None:
        self.circuit, self.delays, self.family = circuit, delays, family
        self.cells = Cells(delays)
        order = ordered(circuit)
        self.loads = Loads(circuit, order)
        self.words = set(self._words())
        self.at: dict[str, Bits] = {}
        for name in order:
            self.at[name] = self._net(name)

    def block_of(self, value: Expression, scope: Scope) -> Expression | None:
        """Return the address of an expression that is a word of a memory in blocks, or None for any other."""
        if not isinstance(value, Slice) or not self._in_blocks(scope.names[value.name]):
            return None
        return value.low

    def value(self, value: Expression, scope: Scope) -> Bits:
        """Return the times of the bits of an expression."""
        match value:
            case Name(name):
                return self.at[scope.names[name]] if name in scope.names else steady(32)
            case Number(_, width):
                return steady(width or 32)
            case Slice(name, low, width):
                return self._slice(scope.names[name], low, width, scope)
            case Join(parts):
                return joined([self.value(part, scope) for part in reversed(parts)])
            case Repeat(count, inner):
                made, times = self.value(inner, scope), number(count, scope)
                return Bits(np.tile(made.time, times), np.tile(made.solid, times))
            case Signed(inner) | Unary("~", inner):
                return self.value(inner, scope)
            case Unary("-", inner):
                made = self.value(inner, scope)
                return self.cells.added(made, steady(made.width), made.width)
            case Unary(_, inner):
                return self.cells.reduced(self.value(inner, scope))
            case Binary():
                return self._binary(value, scope)
            case Choice(condition, yes, no):
                width = self.loads.width(value, scope)
                chosen = self.condition(condition, scope, width)
                return self.cells.gates([chosen, self.value(yes, scope), self.value(no, scope)], width)
        raise TypeError(f"expected an expression with bits, found {value}")

    def condition(self, condition: Expression, scope: Scope, readers: int) -> Bits:
        """Return the time of a condition of one bit that so many cells read."""
        made = self.value(condition, scope)
        made = made if made.width == 1 else self.cells.reduced(made)
        return made if isinstance(condition, Name | Slice) else made.later(self.delays.more(readers))

    def _in_blocks(self, name: str) -> bool:
        """Return whether a net is a memory in block memories, by the same sizes as the folded scheduler's."""
        net = self.circuit.nets[name]
        if not net.entries:
            return False
        large = in_block if name in self.circuit.written else rom_in_block
        return large(net.entries, net.width)

    def _words(self) -> Iterator[str]:
        """Yield the registers of words read from block memories, which are part of the blocks."""
        for body, scope in clocked_blocks(self.circuit):
            for part in within_branches(body):
                if isinstance(part, Assignment) and self.block_of(part.value, scope) is not None:
                    yield scope.names[part.target.name]

    def _net(self, name: str) -> Bits:
        net, delays = self.circuit.nets[name], self.delays
        more = delays.spread * np.log2(np.maximum(self.loads.of[name], 1.0))
        if net.clocked is not None:
            cell = delays.block + delays.column if name in self.words else delays.register
            return Bits(cell + delays.wire + more, cell + delays.wire + more)
        parts = []
        for driver in sorted(net.drivers, key=lambda driver: driver.low):
            if driver.value is None:
                parts.append(self.at[driver.port].part(driver.from_bit, driver.width))
                continue
            found = self.value(driver.value, driver.scope).wide(driver.width)
            if not wiring(driver.value):
                found = found.later(more[driver.low : driver.low + driver.width])
            parts.append(found)
        return joined(parts) if parts else steady(net.width)

    def _binary(self, value: Binary, scope: Scope) -> Bits:
        operator, cells = value.operator, self.cells
        if operator in BITWISE:
            operands = [self.value(part, scope) for part in _operands(value, operator)]
            return cells.gates(operands, max(operand.width for operand in operands))
        left, right = self.value(value.left, scope), self.value(value.right, scope)
        width = max(left.width, right.width)
        if operator in ("+", "-"):
            return cells.added(left, right, width)
        if operator == "*":
            bits = [self._significant(part, scope) for part in (value.left, value.right)]
            return cells.multiplied(left, right, width, self.family.multipliers(*bits), min(self.family.multiplier) - 1)
        if operator in ("==", "!="):
            known = [part for part in (left, right) if part.time.max() > NEVER / 2]
            return cells.reduced(joined(known or [left]))
        return cells.compared(left, right, any(self._signed(part, scope) for part in (value.left, value.right)))

    def _significant(self, value: Expression, scope: Scope) -> int:
        """Return the number of bits of an operand of a product, as a signed number without copies of its sign."""
        match value:
            case Signed(inner):
                return self._significant(inner, scope)
            case Number(amount, _):
                return amount.bit_length() + 1
            case Join((Repeat(_, repeated), *rest)):
                return isinstance(repeated, Number) + sum(self.loads.width(part, scope) for part in rest)
            case Name(name) if name in scope.names:
                drivers = self.circuit.nets[scope.names[name]].drivers
                if len(drivers) == 1 and drivers[0].value is not None:
                    return self._significant(drivers[0].value, drivers[0].scope)
        return self.loads.width(value, scope)

    def _signed(self, value: Expression, scope: Scope) -> bool:
        """Return whether an operand may be negative: it has a sign, and is neither a literal nor extended by zeros."""
        match value:
            case Name(name):
                return name in scope.names and self.circuit.nets[scope.names[name]].signed
            case Signed(Join((Repeat(_, Number(0)), *_))):
                return False
        return isinstance(value, Signed)

    def _slice(self, name: str, low: Expression, width: Expression, scope: Scope) -> Bits:
        """Return the times of some bits of a net, or of a word of a memory; a table whose address is a register has
        that register in the block memory.
        """
        net, delays = self.circuit.nets[name], self.delays
        if net.entries:
            if self._in_blocks(name):
                return steady(net.width, delays.block + delays.column + delays.wire)
            return self.cells.word(self.value(low, scope), net.entries, net.width)
        try:
            return self.at[name].part(number(low, scope), number(width, scope))
        except Refused:  # The place is no number before the design runs: multiplexers choose the bits.
            return self.cells.reduced(joined([self.value(low, scope), self.at[name]])).wide(number(width, scope))


def wiring(value: Expression) -> bool:
    """Return whether an expression only names bits, so that it takes no cell."""
    match value:
        case Join(parts):
            return all(wiring(part) for part in parts)
        case Repeat(_, inner) | Signed(inner):
            return wiring(inner)
    return isinstance(value, Name | Slice | Number)


def _operands(value: Expression, operator: str) -> Iterator[Expression]:
    """Yield the operands of a chain of one operator."""
    if isinstance(value, Binary) and value.operator == operator:
        yield from _operands(value.left, operator)
        yield from _operands(value.right, operator)
    else:
        yield value

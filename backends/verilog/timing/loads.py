"""How many cells read each bit of each net, since a wire to many readers is long."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..certificate.checker.elaboration import Scope, number
from ..certificate.checker.refusal import Refused
from ..certificate.checker.syntax import (
    Assignment,
    Binary,
    Branch,
    Choice,
    Expression,
    Join,
    Name,
    Number,
    Repeat,
    Signed,
    Slice,
    Statement,
    Store,
    Unary,
)
from .bits import Times
from .reading import Circuit, clocked_blocks, within_branches

SUMS = ("+", "-", "*", "/")
BITWISE = ("&", "|", "^")


class Loads:
    """The number of readers of each bit of the nets of a circuit, by the names of nets; a net that is only another name
    of a net passes its readers on.
    """

    def __init__(self, circuit: Circuit, order: Iterable[str]) -> None:
        self.circuit = circuit
        self.of: dict[str, Times] = {name: np.zeros(net.width) for name, net in circuit.nets.items()}
        for body, scope in clocked_blocks(circuit):
            self._clocked(body, scope)
        for name in reversed(list(order)):
            loads = self.of[name]
            for driver in circuit.nets[name].drivers:
                wanted = loads[driver.low : driver.low + driver.width]
                if driver.value is None:
                    self.of[driver.port][driver.from_bit : driver.from_bit + driver.width] += wanted
                else:
                    self._read(driver.value, driver.scope, wanted)

    def width(self, value: Expression, scope: Scope) -> int:
        """Return the number of bits of an expression by itself."""
        match value:
            case Name(name):
                return 32 if name in scope.numbers else self.circuit.nets[scope.names[name]].width
            case Number(_, width):
                return width or 32
            case Slice(name, _, width):
                net = self.circuit.nets[scope.names[name]]
                return net.width if net.entries else number(width, scope)
            case Join(parts):
                return sum(self.width(part, scope) for part in parts)
            case Repeat(count, inner):
                return number(count, scope) * self.width(inner, scope)
            case Signed(inner):
                return self.width(inner, scope)
            case Unary(operator, inner):
                return self.width(inner, scope) if operator in ("~", "-") else 1
            case Binary(operator, left, right):
                if operator not in SUMS + BITWISE:
                    return 1
                return max(self.width(left, scope), self.width(right, scope))
            case Choice(_, yes, no):
                return max(self.width(yes, scope), self.width(no, scope))
        raise TypeError(f"expected an expression with bits, found {value}")

    def written(self, body: Iterable[Statement], scope: Scope) -> int:
        """Return the number of cells that statements write: one for each bit of a register, and one for four bits of a
        memory's word.
        """
        found = 0
        for part in within_branches(body):
            if isinstance(part, Store):
                found += -(-number(part.width, scope) // 4)
            elif isinstance(part, Assignment):
                found += self.width(part.target, scope)
        return found

    def _clocked(self, body: Iterable[Statement], scope: Scope) -> None:
        for part in body:
            match part:
                case Branch(condition, yes, no):
                    self._once(condition, scope, self.written((*yes, *no), scope))
                    self._clocked((*yes, *no), scope)
                case Assignment(target, value):
                    self._read(value, scope, np.ones(self.width(target, scope)))
                case Store(_, index, _, width, value):
                    bits = number(width, scope)
                    self._read(value, scope, np.ones(bits))
                    self._once(index, scope, -(-bits // 4))

    def _once(self, value: Expression, scope: Scope, readers: float) -> None:
        self._read(value, scope, np.full(self.width(value, scope), readers))

    def _read(self, value: Expression, scope: Scope, wanted: Times) -> None:
        """Count the readers of the bits of an expression, the lowest first."""
        match value:
            case Name(name):
                if name in scope.names:
                    self._add(scope.names[name], 0, wanted)
            case Slice(name, low, _):
                self._slice(scope.names[name], low, scope, wanted)
            case Join(parts):
                at = 0
                for part in reversed(parts):
                    width = self.width(part, scope)
                    self._read(part, scope, wanted[at : at + width])
                    at += width
            case Repeat(count, inner):
                width, times = self.width(inner, scope), number(count, scope)
                whole = np.zeros(width * times)
                whole[: min(len(wanted), len(whole))] = wanted[: len(whole)]
                self._read(inner, scope, whole.reshape(times, width).sum(axis=0))
            case Signed(inner) | Unary("~", inner):
                self._read(inner, scope, wanted)
            case Unary(_, inner):
                self._once(inner, scope, 1.0)
            case Binary(_, left, right):
                self._once(left, scope, 1.0)
                self._once(right, scope, 1.0)
            case Choice(condition, yes, no):
                self._once(yes, scope, 1.0)
                self._once(no, scope, 1.0)
                self._once(condition, scope, float(len(wanted)))

    def _slice(self, name: str, low: Expression, scope: Scope, wanted: Times) -> None:
        net = self.circuit.nets[name]
        if net.entries:
            self._once(low, scope, float(len(wanted)) * -(-net.entries // 16) / 4)
            return
        try:
            start = number(low, scope)
        except Refused:
            self._once(low, scope, float(len(wanted)))
            self._add(name, 0, np.ones(net.width))
            return
        self._add(name, start, wanted)

    def _add(self, name: str, low: int, wanted: Times) -> None:
        loads = self.of[name]
        part = loads[low : low + len(wanted)]
        part += wanted[: len(part)]

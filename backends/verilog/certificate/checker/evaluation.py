"""The evaluation of a circuit's nets, each as bits of forms over the circuit's inputs, with the number of registers
that delay it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from .bits import CONTROL, After, Bits, Operators, made
from .circuit import DELAYED, Circuit
from .elaboration import Scope, number
from .forms import Form
from .nets import Driver, Net
from .refusal import Refused
from .symbols import Symbols
from .syntax import (
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
    Unary,
    is_plain,
    read_names,
)
from .tables import Numbers

WORD = re.compile(r"[0-9a-f]+")

WIDEST = 1 << 20
"""The most bits of an expression."""


class Evaluation:
    """The values of a circuit's nets by name, each of which is computed once.

    `given` holds the nets that are symbols: the inputs and the registers of the control. A register that is not in
    `given` must belong to the pipeline: it takes a value on every edge of `clk` at which `enable` is 1.
    """

    def __init__(
        self, circuit: Circuit, symbols: Symbols, given: Mapping[str, Bits], memories: Mapping[str, str]
    ) -> None:
        self.circuit, self.symbols = circuit, symbols
        self.operators = Operators(symbols)
        self.memories = memories
        self.found: dict[str, Bits] = {
            name: Bits(bits.parts, circuit.nets[name].signed, bits.stage)
            for name, bits in given.items()
            if name != "clk"
        }
        self._entries: dict[tuple[str, int, int], Numbers] = {}
        self._under_way: set[str] = set()

    def bits(self, name: str) -> Bits:
        """Return the value of a net as a vector of bits.

        Raise Refused, with the name of the module, for Verilog outside the certified subset and for anything that is
        not shown.
        """
        made = self.found.get(name)
        if made is None:
            if name not in self.circuit.nets:
                raise Refused(f"{self.circuit.placed['']}: expected a net {name}, found none")
            net = self.circuit.nets[name]
            if name in self._under_way:
                raise Refused(f"{net.scope.module.name}: {name} depends on itself")
            self._under_way.add(name)
            made = self.found[name] = self._registered(name, net) if net.clocked else self._driven(name, net)
        return made

    def following(self, name: str) -> list[Form]:
        """Return the bits that a register of the control has after the next edge of its clock, the lowest first."""
        net = self.circuit.nets[name]
        if net.clocked is None:
            raise Refused(f"{net.scope.module.name}: {name} is no register of a clock")
        process, scope = net.clocked
        self._require_source(process.clock, "clk", scope)
        return self._following(process.body, scope, name, self.operators.each(self.found[name]))

    def _following(self, body: tuple[Statement, ...], scope: Scope, name: str, now: list[Form]) -> list[Form]:
        for part in body:
            if isinstance(part, Branch):
                condition = self.operators.form(at_once(self.value(part.condition, scope, 1), name), False)
                yes = self._following(part.yes, scope, name, now)
                no = self._following(part.no, scope, name, now)
                now = [self.symbols.select(condition, a, b) for a, b in zip(yes, no, strict=True)]
            elif isinstance(part, Assignment) and self.circuit.net(part.target.name, scope) == name:
                _, low, width = self.circuit.place(part.target, scope)
                given = self.operators.each(at_once(self.value(part.value, scope, width), name))
                now = [*now[:low], *given, *now[low + width :]]
        return now

    def value(self, expression: Expression, scope: Scope, width: int | None = None) -> Bits:
        """Return the value of an expression, which must have `width` bits if `width` is given."""
        try:
            made = self._value(expression, scope)
            if width is not None and made.width != width:
                raise Refused(f"{made.width} bits where {width} are expected")
        except Refused as refusal:
            text = str(refusal)
            where = scope.module.name
            raise refusal if ": " in text else Refused(f"{where}: {text}") from None
        return made

    def _value(self, expression: Expression, scope: Scope) -> Bits:
        operators = self.operators
        if isinstance(expression, Name):
            if expression.name in scope.numbers:
                raise Refused(f"{expression.name} is a number without a width")
            net = self.circuit.nets[self.circuit.net(expression.name, scope)]
            if net.entries:
                raise Refused(f"{expression.name} is a memory")
            return self.bits(self.circuit.net(expression.name, scope))
        if isinstance(expression, Slice):
            return self._slice(expression, scope)
        if isinstance(expression, Number):
            if expression.width is None:
                raise Refused(f"{expression.value} has no width")
            return operators.number(expression.value, expression.width, expression.signed)
        if isinstance(expression, Join):
            return operators.join([self._value(part, scope) for part in expression.parts])
        if isinstance(expression, Repeat):
            count, part = number(expression.count, scope), self._value(expression.value, scope)
            if count * part.width > WIDEST:
                raise Refused(f"{scope.module.name}: {count} times {part.width} bits are too many")
            return operators.repeat(count, part)
        if isinstance(expression, Signed):
            made = self._value(expression.value, scope)
            return Bits(made.parts, True, made.stage)
        if isinstance(expression, Unary):
            return operators.unary(expression.operator, self._value(expression.value, scope))
        if isinstance(expression, Binary):
            left, right = self._value(expression.left, scope), self._value(expression.right, scope)
            return operators.binary(expression.operator, left, right)
        assert isinstance(expression, Choice)
        if isinstance(expression.condition, Binary) and not any(
            n in scope.names for n in read_names(expression.condition)
        ):
            yes, no = (self._value(part, scope) for part in (expression.yes, expression.no))
            if (yes.width, yes.signed) != (no.width, no.signed):
                raise Refused(f"a choice between {yes.width} and {no.width} bits, or of other signs")
            return yes if number(expression.condition, scope) else no
        parts = (self._value(part, scope) for part in (expression.condition, expression.yes, expression.no))
        return operators.choice(*parts)

    def _slice(self, expression: Slice, scope: Scope) -> Bits:
        name = self.circuit.net(expression.name, scope)
        net = self.circuit.nets[name]
        if not net.entries:
            low, width = (number(part, scope) for part in (expression.low, expression.width))
            return self.operators.slice(self.bits(name), low, width)
        index = self._value(expression.low, scope)
        if not is_plain(expression.low):
            raise Refused(f"{expression.name} has an index with an operator")
        if index.signed or expression.width != Number(1):
            raise Refused(f"{expression.name} has an index with a sign, or more than one entry")
        if 1 << index.width != net.entries:
            raise Refused(f"{expression.name} of {net.entries} entries has an index of {index.width} bits")
        entry = self.symbols.lookup(self.operators.form(index, False), self._memory(name, net), 0)
        return made(entry, net.width, net.signed, index)

    def _memory(self, name: str, net: Net) -> Numbers:
        """Return the entries of a memory, all of which must be in the memory's file."""
        file = self.circuit.memories.get(name, "")
        key = file, net.width, net.entries
        if key not in self._entries:
            words = re.split(r"[ \t\n]+", self.memories.get(file, "").strip(" \t\n"))
            numbers = [int(word, 16) for word in words if WORD.fullmatch(word)]
            whole = len(words) == len(numbers) == net.entries
            if not whole or max(numbers) >> net.width or net.width > 62:
                raise Refused(f"{file} is no file of {net.entries} entries of {net.width} bits")
            self._entries[key] = np.array(numbers, np.int64)
        return self._entries[key]

    def _driven(self, name: str, net: Net) -> Bits:
        if not net.drivers:
            raise Refused(f"{net.scope.module.name}: {name} has no value")
        parts = [self._driver(driver) for driver in sorted(net.drivers, key=lambda driver: driver.low)]
        found = parts[0] if len(parts) == 1 else self.operators.join(parts[::-1])
        (driver, *_) = net.drivers
        inside = driver.scope is net.scope and len(parts) == 1 and driver.value is not None
        if inside and net.scope.path and found.stage != CONTROL:
            found = self._exact(driver.value, net, found)
        return Bits(found.parts, net.signed, found.stage)

    def _driver(self, driver: Driver) -> Bits:
        if driver.value is not None:
            return self.value(driver.value, driver.scope, driver.width)
        made = self.bits(driver.port)
        if (driver.from_bit, driver.width) == (0, made.width):
            return made
        return self.operators.slice(made, driver.from_bit, driver.width)

    def _exact(self, value: Expression | None, net: Net, bits: Bits) -> Bits:
        """Return the integer that a net of a module holds, in the canonical way of writing a function of one form.

        A net that a check compares with the ends of its interval stands for the checked number, as long as the check
        passes. The design's status says in which frames a check does not pass.
        """
        if isinstance(value, Name | Slice) and DELAYED.sub("", value.name) in self.circuit.compared:
            for number, symbol in self.symbols.checks_of(self.operators.whole(bits)):
                if self._holds(net, symbol):
                    return Bits(((symbol, net.width, After(max(bits.last, number + 1))),), False, bits.stage)
        form = self.symbols.settled(self.operators.form(bits, net.signed))
        after = bits.parts[0][2] if net.width == 1 else After(bits.last)
        return Bits(((form, net.width, after),), False, bits.stage)

    def _holds(self, net: Net, symbol: Form) -> bool:
        low, high = self.symbols.interval(symbol)
        if net.signed:
            return -1 << (net.width - 1) <= low and high < 1 << (net.width - 1)
        return low >= 0 and high < 1 << net.width

    def _registered(self, name: str, net: Net) -> Bits:
        assert net.clocked is not None
        process, scope = net.clocked
        wrong = Refused(f"{scope.module.name}: {name} does not follow one value wherever enable is 1")
        if len(process.body) != 1 or not isinstance(process.body[0], Branch) or process.body[0].no:
            raise wrong
        branch = process.body[0]
        given = [part for part in branch.yes if isinstance(part, Assignment) and self._gives(part, scope, name)]
        if len(given) != 1 or not isinstance(given[0].target, Name) or not isinstance(branch.condition, Name):
            raise wrong
        if not all(isinstance(part, Assignment) for part in branch.yes):
            raise wrong
        self._require_source(process.clock, "clk", scope)
        self._require_source(branch.condition.name, "enable", scope)
        made = self.value(given[0].value, scope, net.width)
        if made.stage is None:
            raise Refused(f"{scope.module.name}: {name} holds a number, which it has after the first load alone")
        if made.stage == CONTROL:
            raise Refused(f"{scope.module.name}: {name} holds what is no part of a frame")
        return Bits(made.parts, net.signed, made.stage + 1)

    def _gives(self, part: Assignment, scope: Scope, name: str) -> bool:
        return self.circuit.net(part.target.name, scope) == name

    def _require_source(self, name: str, wanted: str, scope: Scope) -> None:
        found = self.circuit.source(self.circuit.net(name, scope))
        if found != wanted:
            raise Refused(f"{scope.module.name}: expected {wanted} at {name}, found {found}")


def at_once(bits: Bits, name: str) -> Bits:
    """Return bits that the control reads, after checking that the control may read them.

    The control must not read bits that rely on a check, since the control goes on if a check fails, nor bits that
    passed a register of the pipeline, since such a register holds nothing before its first load.
    """
    if bits.last:
        raise Refused(f"{name} relies on a check, and must not")
    if bits.stage not in (None, CONTROL, 0):
        raise Refused(f"{name} reads a register of the pipeline, and must not")
    return bits

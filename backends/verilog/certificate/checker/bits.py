"""Vectors of bits as parts side by side, each a form modulo a power of two; and Verilog's operators on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .forms import Form, known, total
from .refusal import Refused
from .symbols import Symbols

CONTROL = -1
"""The stage of what is no part of a frame; numbers and what is made of them alone are of no stage."""

Part = tuple[Form, int]
"""So many bits: the form modulo 2^bits."""


@dataclass(frozen=True, slots=True)
class Bits:
    """Parts, the lowest first; whether an operator reads them as two's complement; registers since the frame came in."""

    parts: tuple[Part, ...]
    signed: bool = False
    stage: int | None = None

    @property
    def width(self) -> int:
        """Bits of all parts together."""
        return sum(width for _, width in self.parts)

    @property
    def apart(self) -> bool:
        """Whether each part is one bit."""
        return all(width == 1 for _, width in self.parts)


class Operators:
    """The operators of the subset. Operands of different widths, or of different signs where it matters, are refused."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols

    def number(self, value: int, width: int, signed: bool) -> Bits:
        """A literal."""
        return Bits(((known(value), width),), signed)

    def slice(self, bits: Bits, low: int, width: int) -> Bits:
        """So many bits from bit `low` on, unsigned."""
        if low < 0 or width < 1 or low + width > bits.width:
            raise Refused(f"bits {low + width - 1} to {low} of a vector of {bits.width}")
        found: list[Part] = []
        start = 0
        for form, size in bits.parts:
            first, last = max(low, start), min(low + width, start + size)
            if first < last:
                found.append((form if first == start else self.symbols.floor(form, first - start), last - first))
            start += size
        return Bits(tuple(found), False, bits.stage)

    def join(self, values: list[Bits]) -> Bits:
        """Values side by side, the highest first."""
        parts = tuple(part for value in reversed(values) for part in value.parts)
        return Bits(parts, False, stage(*values))

    def repeat(self, count: int, value: Bits) -> Bits:
        """The same bits so many times. A bit repeated is 0 or -1."""
        if count < 1:
            raise Refused(f"a value repeated {count} times")
        if value.width == 1 and count > 1:
            return Bits(((self.form(value, False) * -1, count),), False, value.stage)
        return Bits(value.parts * count, False, value.stage)

    def whole(self, bits: Bits) -> Form:
        """A form that is the vector modulo 2^width."""
        if len(bits.parts) == 1:
            return bits.parts[0][0]
        terms, start = [], 0
        for form, width in bits.parts[:-1]:
            terms.append((1 << start, self.symbols.unsigned(form, width)))
            start += width
        terms.append((1 << start, bits.parts[-1][0]))
        return total(terms).without_multiples(bits.width)

    def form(self, bits: Bits, signed: bool) -> Form:
        """The integer that the bits are."""
        made = self.whole(bits)
        return self.symbols.signed(made, bits.width) if signed else self.symbols.unsigned(made, bits.width)

    def each(self, bits: Bits) -> list[Form]:
        """Each bit, the lowest first."""
        return [
            self.symbols.unsigned(self.symbols.floor(form, place), 1)
            for form, width in bits.parts
            for place in range(width)
        ]

    def unary(self, operator: str, value: Bits) -> Bits:
        """An operator of one operand."""
        if operator == "-":
            return Bits(((self.whole(value) * -1, value.width),), value.signed, value.stage)
        if operator == "~":
            parts = tuple((form * -1 + known(-1), width) for form, width in value.parts)
            if value.apart:
                parts = tuple((known(1) - bit, 1) for bit in self.each(value))
            return Bits(parts, value.signed, value.stage)
        return Bits(((self._reduced(operator, value), 1),), False, value.stage)

    def _reduced(self, operator: str, value: Bits) -> Form:
        symbols, bits = self.symbols, self.symbols.bits
        if operator == "^":
            return self._parity(value)
        wanted, made = operator.endswith("|"), 0
        for form, width in reversed(value.parts):
            number = symbols.unsigned(form, width)
            least = symbols.less(number, 1) if wanted else symbols.less(number, (1 << width) - 1)
            ends = symbols.decided(least)
            made = bits.either(bits.invert(ends) if wanted else ends, made)
        found = symbols.bit(made)
        return found if (operator in ("|", "~&")) else known(1) - found

    def _parity(self, value: Bits) -> Form:
        bits, made = self.symbols.bits, 0
        for bit in reversed(self.each(value)):
            function = self.symbols.decided(bit)
            made = bits.choose(function, bits.invert(made), made)
        return self.symbols.bit(made)

    def binary(self, operator: str, left: Bits, right: Bits) -> Bits:
        """An operator of two operands."""
        if left.width != right.width:
            raise Refused(f"operands of {left.width} and {right.width} bits beside {operator}")
        width, signed, when = left.width, left.signed and right.signed, stage(left, right)
        if operator in ("<", ">", "==", "!=") and left.signed != right.signed:
            raise Refused(f"a signed and an unsigned operand beside {operator}")
        if operator in ("+", "-"):
            a, b = self.whole(left), self.whole(right)
            return Bits(((self._sum(a, b, operator == "-"), width),), signed, when)
        if operator == "*":
            a, b = (self.form(value, signed) for value in (left, right))
            return Bits(((self.symbols.product(a, b), width),), signed, when)
        if operator in ("&", "|", "^"):
            return self._bitwise(operator, left, right, signed, when)
        if operator not in ("<", ">", "==", "!="):
            raise Refused(f"operator {operator} outside the subset")
        a, b = (self.form(value, signed) for value in (left, right))
        if operator in ("<", ">"):
            found = self.symbols.less(a - b if operator == "<" else b - a, 0)
        else:
            found = self.symbols.equal(a - b, 0)
        return Bits(((found if operator != "!=" else known(1) - found, 1),), False, when)

    def _sum(self, left: Form, right: Form, minus: bool) -> Form:
        """A sum, or a difference, which lies between the sums of the ends."""
        (low, high), (least, most) = self.symbols.interval(left), self.symbols.interval(right)
        if minus:
            return self.symbols.note(left - right, low - most, high - least)
        return self.symbols.note(left + right, low + least, high + most)

    def _bitwise(self, operator: str, left: Bits, right: Bits, signed: bool, when: int | None) -> Bits:
        symbols, width = self.symbols, left.width
        if width == 1 or (left.apart and right.apart):
            made = []
            for a, b in zip(self.each(left), self.each(right), strict=True):
                one, other = symbols.decided(a), symbols.decided(b)
                if operator == "&":
                    function = symbols.bits.both(one, other)
                elif operator == "|":
                    function = symbols.bits.either(one, other)
                else:
                    function = symbols.bits.choose(one, symbols.bits.invert(other), other)
                made.append((symbols.bit(function), 1))
            return Bits(tuple(made), signed, when)
        forms = [self.whole(value) for value in (left, right)]
        base = symbols.common(*forms)
        if base is None:
            raise Refused(f"{operator} of {width} bits that are not functions of one number with few enough values")
        a, b = (symbols.values(form, base) & ((1 << width) - 1) for form in forms)
        found = {"&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}[operator](a, b)
        return Bits(((symbols.from_table(base, found), width),), signed, when)

    def choice(self, condition: Bits, yes: Bits, no: Bits) -> Bits:
        """`yes` where the one bit of the condition is 1."""
        if condition.width != 1 or yes.width != no.width:
            raise Refused(f"a choice by {condition.width} bits between {yes.width} and {no.width}")
        symbols, width = self.symbols, yes.width
        bit, signed, when = self.form(condition, False), yes.signed and no.signed, stage(condition, yes, no)
        if yes.apart and no.apart:
            pairs = zip(self.each(yes), self.each(no), strict=True)
            return Bits(tuple((symbols.select(bit, a, b), 1) for a, b in pairs), signed, when)
        forms = [self.whole(value) for value in (yes, no)]
        base = symbols.common(bit, *forms)
        if base is not None:
            forms = [symbols.from_table(base, symbols.values(form, base) & ((1 << width) - 1)) for form in forms]
        return Bits(((symbols.select(bit, *forms), width),), signed, when)


def stage(*values: Bits) -> int | None:
    """The stage of what reads values of these stages. What came in with a frame may be read by the control, too."""
    found = {value.stage for value in values} - {None}
    if found == {CONTROL, 0}:
        return CONTROL
    if len(found) > 1:
        names = " and ".join("control" if s == CONTROL else f"stage {s}" for s in sorted(s for s in found if s is not None))
        raise Refused(f"an expression reads values of {names}")
    return found.pop() if found else None

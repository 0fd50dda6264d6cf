"""Vectors of bits, each a list of parts that are forms modulo powers of two, and Verilog's operators on such
vectors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .forms import Form, known, total
from .refusal import Refused
from .symbols import Symbols

CONTROL = -1
"""The stage of a value that belongs to no frame, such as a register of the control; a number, and what is computed from
numbers alone, has no stage.
"""


TABULATED = 62
"""The most bits of a vector that may be tabulated."""


@dataclass(frozen=True, slots=True)
class After:
    """The number of a program's checks, counted from the first one, that must pass for a value to be right.

    If a bit is the OR of other bits, `any_of` has the function of each of them, and the number of checks on which that
    function relies.
    """

    last: int = 0
    any_of: frozenset[tuple[int, int]] = frozenset()


Part = tuple[Form, int, After]
"""A part of a vector: `bits` bits, which are a form modulo 2^bits."""


@dataclass(frozen=True, slots=True)
class Bits:
    """A vector of bits: its parts, the lowest first, whether it is read as two's complement, and how many registers it
    has passed.
    """

    parts: tuple[Part, ...]
    signed: bool = False
    stage: int | None = None

    @property
    def width(self) -> int:
        """Return the number of bits of all parts of a vector together."""
        return sum(width for _, width, _ in self.parts)

    @property
    def last(self) -> int:
        """Return the number of the program's checks on which the vector relies."""
        return max(after.last for _, _, after in self.parts)

    @property
    def apart(self) -> bool:
        """Return whether each part of the vector is one bit."""
        return all(width == 1 for _, width, _ in self.parts)


class Operators:
    """The operators of the certified subset of Verilog. The checker refuses operands of different widths, and of
    different signs where the sign matters.
    """

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols

    def number(self, value: int, width: int, signed: bool) -> Bits:
        """Return a literal of Verilog as a vector of bits."""
        return Bits(((known(value), width, After()),), signed)

    def slice(self, bits: Bits, low: int, width: int) -> Bits:
        """Return the part select of a vector: `width` bits from bit `low` on, unsigned."""
        if low < 0 or width < 1 or low + width > bits.width:
            raise Refused(f"bits {low + width - 1} to {low} of a vector of {bits.width}")
        found: list[Part] = []
        start = 0
        for form, size, after in bits.parts:
            first, last = max(low, start), min(low + width, start + size)
            if first < last:
                kept = after if last - first == size else After(after.last)
                moved = form if first == start else self.symbols.floor(form, first - start)
                found.append((moved, last - first, kept))
            start += size
        return Bits(tuple(found), False, bits.stage)

    def join(self, values: list[Bits]) -> Bits:
        """Return the concatenation of vectors, the highest one first."""
        parts = tuple(part for value in reversed(values) for part in value.parts)
        return Bits(parts, False, stage(*values))

    def repeat(self, count: int, value: Bits) -> Bits:
        """Return the replication of a vector of bits.

        A bit that is replicated and read as two's complement is 0 or -1.
        """
        if count < 1:
            raise Refused(f"a value repeated {count} times")
        if value.width == 1 and count > 1:
            return made(self.form(value, False) * -1, count, False, value)
        return Bits(value.parts * count, False, value.stage)

    def whole(self, bits: Bits) -> Form:
        """Return a form that equals a vector of bits modulo 2^width."""
        if len(bits.parts) == 1:
            return bits.parts[0][0]
        terms, start = [], 0
        for form, width, _ in bits.parts[:-1]:
            terms.append((1 << start, self.symbols.unsigned(form, width)))
            start += width
        terms.append((1 << start, bits.parts[-1][0]))
        return total(terms).without_multiples(bits.width)

    def form(self, bits: Bits, signed: bool) -> Form:
        """Return the form of the integer that a vector of bits represents."""
        made = self.whole(bits)
        return self.symbols.signed(made, bits.width) if signed else self.symbols.unsigned(made, bits.width)

    def each(self, bits: Bits) -> list[Form]:
        """Return the form of each bit of a vector, the lowest bit first."""
        return [
            self.symbols.unsigned(self.symbols.floor(form, place), 1)
            for form, width, _ in bits.parts
            for place in range(width)
        ]

    def unary(self, operator: str, value: Bits) -> Bits:
        """Return the result of a Verilog operator on one vector."""
        if operator == "-":
            return made(self.whole(value) * -1, value.width, value.signed, value)
        if operator == "~":
            if value.apart:
                return together([known(1) - bit for bit in self.each(value)], value.signed, value)
            return made(self.whole(value) * -1 + known(-1), value.width, value.signed, value)
        return made(self._reduced(operator, value), 1, False, value)

    def _reduced(self, operator: str, value: Bits) -> Form:
        symbols, bits = self.symbols, self.symbols.bits
        if operator == "^":
            return self._parity(value)
        wanted, found = operator.endswith("|"), 0
        for form, width, _ in reversed(value.parts):
            number = symbols.unsigned(form, width)
            least = symbols.less(number, 1) if wanted else symbols.less(number, (1 << width) - 1)
            ends = symbols.decided(least)
            found = bits.either(bits.invert(ends) if wanted else ends, found)
        bit = symbols.bit(found)
        return bit if operator in ("|", "~&") else known(1) - bit

    def _parity(self, value: Bits) -> Form:
        bits, found = self.symbols.bits, 0
        for bit in reversed(self.each(value)):
            found = bits.choose(self.symbols.decided(bit), bits.invert(found), found)
        return self.symbols.bit(found)

    def binary(self, operator: str, left: Bits, right: Bits) -> Bits:
        """Return the result of a Verilog operator on two vectors."""
        if left.width != right.width:
            raise Refused(f"operands of {left.width} and {right.width} bits beside {operator}")
        width, signed = left.width, left.signed and right.signed
        if operator in ("<", ">", "==", "!=") and left.signed != right.signed:
            raise Refused(f"a signed and an unsigned operand beside {operator}")
        if operator in ("+", "-"):
            found = self._sum(self.whole(left), self.whole(right), operator == "-")
            return made(found, width, signed, left, right)
        if operator in ("&", "|", "^"):
            return self._bitwise(operator, left, right, signed)
        if operator not in ("*", "<", ">", "==", "!="):
            raise Refused(f"operator {operator} outside the subset")
        a, b = (self.form(value, signed) for value in (left, right))
        if operator == "*":
            return made(self.symbols.product(a, b), width, signed, left, right)
        if operator in ("<", ">"):
            found = self.symbols.less(a - b if operator == "<" else b - a, 0)
        else:
            found = self.symbols.equal(a - b, 0)
        return made(found if operator != "!=" else known(1) - found, 1, False, left, right)

    def _sum(self, left: Form, right: Form, minus: bool) -> Form:
        """Return the sum or the difference of two forms, and record the interval that follows from the intervals of the
        two.
        """
        (low, high), (least, most) = self.symbols.interval(left), self.symbols.interval(right)
        if minus:
            return self.symbols.note(self.symbols.joined(left - right), low - most, high - least)
        return self.symbols.note(self.symbols.joined(left + right), low + least, high + most)

    def _bitwise(self, operator: str, left: Bits, right: Bits, signed: bool) -> Bits:
        symbols, bits, width = self.symbols, self.symbols.bits, left.width
        if width == 1 or (left.apart and right.apart):
            found = []
            for a, b in zip(self.each(left), self.each(right), strict=True):
                one, other = symbols.decided(a), symbols.decided(b)
                ends = {"&": (other, 0), "|": (1, other), "^": (bits.invert(other), other)}[operator]
                found.append(symbols.bit(bits.choose(one, *ends)))
            if operator == "|" and width == 1:
                any_of = self.any_of(left) | self.any_of(right)
                return Bits(((found[0], 1, After(last(left, right), any_of)),), signed, stage(left, right))
            return together(found, signed, left, right)
        forms = [self.whole(value) for value in (left, right)]
        base = symbols.common(*forms)
        if base is None or width > TABULATED:
            raise Refused(f"{operator} of {width} bits that are not functions of one number with few enough values")
        x, y = (symbols.values(form, base) & ((1 << width) - 1) for form in forms)
        table = {"&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}[operator](x, y)
        return made(symbols.from_table(base, table), width, signed, left, right)

    def any_of(self, bit: Bits) -> frozenset[tuple[int, int]]:
        """Return the functions whose OR a bit is, each with the number of checks on which it relies."""
        ((form, _, after),) = bit.parts
        return after.any_of or frozenset({(self.symbols.decided(self.symbols.unsigned(form, 1)), after.last)})

    def choice(self, condition: Bits, yes: Bits, no: Bits) -> Bits:
        """Return the result of the conditional operator: `yes` where the one bit of the condition is 1, `no`
        elsewhere.
        """
        if condition.width != 1 or yes.width != no.width:
            raise Refused(f"a choice by {condition.width} bits between {yes.width} and {no.width}")
        symbols, width, signed = self.symbols, yes.width, yes.signed and no.signed
        bit = self.form(condition, False)
        if yes.apart and no.apart:
            pairs = zip(self.each(yes), self.each(no), strict=True)
            return together([symbols.select(bit, a, b) for a, b in pairs], signed, condition, yes, no)
        forms = [self.whole(value) for value in (yes, no)]
        base = symbols.common(bit, *forms)
        if base is not None and width <= TABULATED:
            forms = [symbols.from_table(base, symbols.values(form, base) & ((1 << width) - 1)) for form in forms]
        elif any(symbols.interval(form)[0] < 0 for form in forms):
            forms = [form if form.terms else known(symbols.signed(form, width).constant) for form in forms]
        return made(symbols.select(bit, *forms), width, signed, condition, yes, no)


def stage(*values: Bits) -> int | None:
    """Return the stage of the pipeline to which a value belongs that is computed from the given values.

    The control may also read values that came in with a frame.
    """
    found = {value.stage for value in values} - {None}
    if found == {CONTROL, 0}:
        return CONTROL
    if len(found) > 1:
        names = " and ".join(
            "control" if s == CONTROL else f"stage {s}" for s in sorted(s for s in found if s is not None)
        )
        raise Refused(f"an expression reads values of {names}")
    return found.pop() if found else None


def last(*values: Bits) -> int:
    """Return the number of checks on which a value relies that is computed from the given values."""
    return max(value.last for value in values)


def made(form: Form, width: int, signed: bool, *values: Bits) -> Bits:
    """Return a vector that consists of one form and is computed from the given values."""
    return Bits(((form, width, After(last(*values))),), signed, stage(*values))


def together(forms: list[Form], signed: bool, *values: Bits) -> Bits:
    """Return a vector of single bits, the lowest first, that is computed from the given values."""
    after = After(last(*values))
    return Bits(tuple((form, 1, after) for form in forms), signed, stage(*values))

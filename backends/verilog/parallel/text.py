"""The Verilog of single nodes: each node has one declaration or assignment, in which every operand has the width of the
result.
"""

from __future__ import annotations

from ...verilog.netlist import Kind
from ...verilog.signals import Literal, Signal, literal
from .signs import GATES

Operand = Signal | Literal


def expression(kind: Kind, made: Signal, operands: list[Operand], n: int, m: int, compared: int = 0) -> str:
    """Return the Verilog expression of a node's value, which is as wide as the node's signal; `compared` is the number
    of bits that decide the sign of a sum of which nothing else is read.
    """
    a, width = operands[0], made.width
    if kind is Kind.ADD and 0 < compared <= GATES:
        return _sign_of_sum(a, operands[1], bool(n), width)
    if kind is Kind.ADD:
        return _sum(a, operands[1], bool(n), m, width)
    if kind is Kind.MULTIPLY:
        return f"{_signed(a, 0, width)} * {_signed(operands[1], 0, width)}"
    if kind is Kind.SHIFT:
        return a.slice(n, width)
    if kind is Kind.LEFT:
        return f"{{{a.slice(0, width - n)}, {n}'d0}}"
    if kind in (Kind.NARROW, Kind.WRAP):
        return a.slice(0, width)
    if kind is Kind.BIT:
        return a.slice(n, 1)
    if kind is Kind.JOIN:
        return f"{{{operands[1].slice(0, width - m)}, {a.slice(0, m)}}}"
    if kind is Kind.CLAMP:
        assert isinstance(a, Signal)
        return _clamp(a, made.low, made.high, width)
    if kind is Kind.NEGATIVE:
        return a.slice(a.width - 1, 1)
    if kind is Kind.LESS:
        bits = max(a.width, operands[1].width) + 1
        return f"{a.extended(bits)} < {operands[1].extended(bits)}"
    if kind is Kind.EQUAL:
        if a.width == 1 and not a.signed:
            return a.slice(0, 1) if n else f"~{a.slice(0, 1)}"
        return f"{a.slice(0, a.width)} == {Literal(n).slice(0, a.width)}"
    if kind is Kind.OUTSIDE:
        assert isinstance(a, Signal)
        return _outside(a, n, m)
    if kind in (Kind.OR, Kind.AND):
        return f"{a.slice(0, 1)} {'|' if kind is Kind.OR else '&'} {operands[1].slice(0, 1)}"
    assert kind is Kind.SELECT, kind
    return f"{operands[2].slice(0, 1)} ? {a.slice(0, width)} : {operands[1].slice(0, width)}"


def extended(value: Operand, bits: int) -> str:
    """Return the Verilog of a node's value, sign-extended to a number of bits."""
    if isinstance(value, Signal) and value.width == bits:
        return value.name
    return value.slice(0, bits)


def _signed(x: Operand, start: int, count: int) -> str:
    """Return the Verilog of `count` bits of a node's value from a given bit on, as a signed expression."""
    if isinstance(x, Literal):
        value = (x.value >> start) & ((1 << count) - 1)
        return literal(value - (value >> (count - 1) << count), count)
    if start == 0 and count == x.width and x.signed:
        return x.name
    return f"$signed({x.slice(start, count)})"


def _sum(a: Operand, b: Operand, minus: bool, apart: int, width: int) -> str:
    """Return the Verilog of a + b or a - b, where b is shifted left by `apart`, or a by the negative of `apart`; the
    bits of a below the lowest bit of b are passed on.
    """
    sign = "-" if minus else "+"
    if apart < 0:
        # Where a is shifted past the width, nothing of it is left: 65535 x is 65536 x - x, of a bit x in 16 bits.
        shifted = f"{{{a.slice(0, width + apart)}, {-apart}'d0}}" if -apart < width else f"{width}'d0"
        return f"{shifted} {sign} {b.slice(0, width)}"
    if apart == 0:
        return f"{a.slice(0, width)} {sign} {b.slice(0, width)}"
    if apart >= width:
        return a.slice(0, width)
    upper = f"{a.slice(apart, width - apart)} {sign} {b.slice(0, width - apart)}"
    return f"{{{upper}, {a.slice(0, apart)}}}"


def _sign_of_sum(a: Operand, b: Operand, minus: bool, width: int) -> str:
    """Return the Verilog of a + b or a - b, one of which is a known number, with the sign as a comparison: gates take
    fewer LUTs than a carry chain if only the sign is read.
    """
    if isinstance(b, Signal):
        assert isinstance(a, Literal)
        sign = above(b, a.value) if minus else f"~{above(b, -a.value - 1)}"
    else:
        assert isinstance(a, Signal)
        sign = f"~{above(a, (b.value if minus else -b.value) - 1)}"
    return sign if width == 1 else f"{{{sign}, {_sum(a, b, minus, 0, width - 1)}}}"


def above(x: Signal, bound: int) -> str:
    """Return the Verilog of whether a signal is greater than a known number, in parentheses.

    From the lowest bit on: where the number has a 0, the bit of the signal or those below it decide; where it has a 1,
    the bit must be 1, too.
    """
    low, high = x.held
    if not low <= bound < high:
        return f"1'd{int(bound < low)}"
    bits, rest, found = x.width - x.signed, bound + 1, ""
    place = min(bits, (rest & -rest).bit_length() - 1) if rest else bits
    while place < bits:
        one = bound >> place & 1
        differs = (~(bound >> place) if one else bound >> place) & ((1 << (bits - place)) - 1)
        count = (differs & -differs).bit_length() - 1 if differs else bits - place
        sign = "&" if one else "|"
        run = x.slice(place, count) if count == 1 else f"({sign}{x.slice(place, count)})"
        found = f"({run} {sign} {found})" if found else run
        place += count
    if x.signed:
        top = f"~{x.slice(bits, 1)}"
        found = f"({top} {'|' if bound < 0 else '&'} {found})" if found else f"({top})"
    return found


def _clamp(a: Signal, low: int, high: int, width: int) -> str:
    below, above = a.low < low, a.high > high
    power = (high + 1) & high == 0 and high > 0
    if low == 0 and a.low < 0 and (power or not above):
        kept = a.slice(0, width)
        if above:
            kept = f"({kept} | {{{width}{{|{a.slice(width, a.width - 1 - width)}}}}})"
        return f"{{{width}{{~{a.slice(a.width - 1, 1)}}}}} & {kept}"
    if low >= 0 and power and above and not below:
        return f"{a.slice(0, width)} | {{{width}{{|{a.slice(width, a.width - width)}}}}}"
    if low == ~high and power and above and below:
        upper, sign = a.slice(width - 1, a.width - width + 1), a.slice(a.width - 1, 1)
        return f"(&{upper} | ~|{upper}) ? {a.slice(0, width)} : {{{sign}, {{{width - 1}{{~{sign}}}}}}}"
    bits = a.width + 1
    last = f"{width}'d{high & ((1 << width) - 1)}"
    first = f"{width}'d{low & ((1 << width) - 1)}"
    text = a.slice(0, width)
    if above:
        text = f"({a.extended(bits)} > {literal(high, bits)}) ? {last} : {text}"
    if below:
        if low == 0:
            text = f"{a.slice(a.width - 1, 1)} ? {first} : ({text})"
        else:
            text = f"({a.extended(bits)} < {literal(low, bits)}) ? {first} : ({text})"
    return text


def _outside(a: Signal, low: int, high: int) -> str:
    bits = a.width + 1
    found = []
    if a.low < low:
        found.append(f"({a.extended(bits)} < {literal(low, bits)})")
    if a.high > high:
        found.append(f"({a.extended(bits)} > {literal(high, bits)})")
    return " | ".join(found)

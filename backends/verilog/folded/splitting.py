"""Sums of products of wide factors, written as several sums whose products one multiplier takes."""

from __future__ import annotations

from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import OverflowRisk, TypingError
from circuitize.circuits.hypergraph import Arrow, fold
from circuitize.circuits.integers import Add, Contract, Scale, Shift, Wrap
from circuitize.circuits.operation import Operation

from ..signals import signed_width
from .core import core
from .size import FACTORS, LONG, SHORT, bits_fit


def split(arrow: Arrow) -> Arrow:
    """Return the core of an arrow with the same function whose contractions have, as far as possible, factors that one
    multiplier takes.

    A contraction with a wide operand y is 2^b times the one with y >> b, plus the one with y mod 2^b. An arrow stays as
    it is if some sum would then be too great, if an operation does not take the sum's interval, which may be wider, or
    if an output would have another type.
    """
    builder = Builder()

    def write(index: int, operation: Operation, sources: list[int]) -> list[int]:
        builder.provenance = arrow.edge(index).provenance
        if isinstance(operation, Contract) and not bits_fit(*(_bits(builder, wire) for wire in sources)):
            return [_sum(builder, operation, sources[0], sources[1])]
        return builder.apply(operation, *sources)

    try:
        wires = fold(arrow, builder.inputs(arrow.source), write)
        made = core(builder.build([wire for at in arrow.outputs.tolist() if (wire := wires[at]) is not None]))
    except (OverflowRisk, TypingError):
        return core(arrow)
    return made if made.target == arrow.target else core(arrow)


def _bits(builder: Builder, wire: int) -> int:
    format = builder.format(wire)
    return signed_width(format.low, format.high)


def _sum(builder: Builder, operation: Contract, x: int, y: int) -> int:
    """Return the wire of a contraction of x and y, made of contractions with parts of them."""
    sides = _bits(builder, x), _bits(builder, y)
    if bits_fit(*sides):
        return builder.add(operation, x, y)
    wide = x if sides[0] > sides[1] else y
    bits = LONG if min(sides) <= FACTORS[1] else SHORT
    above, below = builder.add(Shift(bits), wide), builder.add(Wrap(bits, False), wide)
    high, low = (
        _sum(builder, operation, part, y) if wide == x else _sum(builder, operation, x, part) for part in (above, below)
    )
    return builder.add(Add(), builder.add(Scale(1 << bits, bits), high), low)

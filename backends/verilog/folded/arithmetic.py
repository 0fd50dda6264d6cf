"""The size of a lane or a unit in a family of FPGAs: its multipliers, its LUTs, its tables, and which of its registers
are elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from circuitize.circuits.integers import Add, Check, Clamp, Lookup, Multiply, ReLU, Scale, Shift, Subtract
from circuitize.circuits.operation import Operation

from ..devices.family import Family
from ..signals import Signal, signed_width, width
from .datapath import Datapath
from .functions import Indices
from .graph import Node, Stage
from .lane_text import lane_bits
from .operators import carries, inside, luts
from .rows import ALL
from .size import in_parts, is_bit, is_power, parts


class Arithmetic(NamedTuple):
    """The size of a lane or a unit: LUTs (a carry cell of a family with LUTs of four inputs counts as two),
    multipliers, and the tables that it reads.

    `absorbed` is the number of register bits that the datapath counts but that are in multipliers or in LUTs that are
    shift registers, without the registers inside dividers and square roots, which the datapath does not count.
    """

    lut: float
    dsp: int
    tables: list[Table]
    absorbed: int


class Table(NamedTuple):
    """A table that an operation reads: its words, the bits of a word, and whether a multiplier holds the register that
    follows it.
    """

    words: Indices
    bits: int
    held: bool


def unit(stage: Stage, path: Datapath, split: int, family: Family, after: int = 0, late: int = 0) -> Arithmetic:
    """Return the size of a unit whose datapath is `path`: the adders of the shares of `split` lanes, and the
    operations.

    So many registers stand before the unit: `after` behind the lanes, and `late` behind memories.
    """
    found = _operations(stage, path, False, family, after, late)
    bits = lane_bits(stage, split) + 1 if split > 1 else 0
    shares = (split - 1) * (carries(bits) if family.inputs == 4 else bits)
    return found._replace(lut=found.lut + shares)


def lane(stage: Stage, path: Datapath, split: int, family: Family, late: int = 0) -> Arithmetic:
    """Return the size of one of `split` lanes whose datapath is `path`: the operations, and the adder of the sum or the
    comparison for the greatest term.

    A multiplier that accumulates has the adder of the sum. So many registers stand between memories and the lane as
    `late` says.
    """
    found = _operations(stage, path, True, family, 0, late)
    bits = lane_bits(stage, split)
    if family.inputs == 4:
        made = carries(bits) + bits
        made += carries(path.values[stage.term].width) + bits if stage.reduction == "argmax" else 0
    elif stage.reduction == "argmax":
        made = 2 * bits + path.values[stage.term].width // 2
    else:
        made = 0 if found.dsp else bits
    return found._replace(lut=found.lut + made)


def _operations(stage: Stage, path: Datapath, in_reduction: bool, family: Family, after: int, late: int) -> Arithmetic:
    lut, dsp, tables, absorbed = 0.0, 0, list[Table](), path.idle
    saturated, away = _saturated(stage), {one.name for one in path.away}
    multiplied = {name for node in stage.nodes if isinstance(node.operation, Multiply) for name in node.sources}
    for node in stage.nodes:
        target, operation = path.values.get(node.name), node.operation
        if node.in_reduction != in_reduction or target is None or node.name in away:
            continue
        if target.low < target.high or isinstance(operation, Check):
            sources = [path.values[name] for name in node.sources]
            passed = 0
            if isinstance(operation, Add | Subtract):
                passed = min(target.width, _passed(operation, sources, [path.zeros(name) for name in node.sources]))
            cut = stage.apart and in_parts(operation, sources)
            product = multipliers(operation, sources, target, family, cut)
            dsp += product
            if product and family.accumulates:
                absorbed += _kept(operation, sources) if cut else target.width
            absorbed -= inside(operation, sources, target, family)
            if not family.accumulates or not path.follows(node.name):
                lut += luts(operation, sources, target, family, passed, saturated.get(node.name, 0))
            if family.accumulates and _multiplies(operation, sources) and not product:
                lut += sources[0].width * sources[1].width
            if isinstance(operation, Lookup):
                words = operation.table[sources[0].low - operation.low : sources[0].high - operation.low + 1]
                tables.append(Table(words, target.width, family.accumulates and node.name in multiplied))
    if family.shifts:
        delayed, shifts = path.held(after, late, family.accumulates)
        lut, absorbed = lut + shifts, absorbed + delayed
    return Arithmetic(lut, dsp, tables, absorbed)


def _passed(operation: Operation, sources: Sequence[Signal], zeros: Sequence[int]) -> int:
    """Return how many of the lowest bits of a sum are those of one operand: where the other has only zeros, or
    everywhere if a known number lies below the lowest bit of the other operand that is not 0.
    """
    (x, y), known = zeros, sources[1]
    if isinstance(operation, Subtract):
        return y
    return ALL if known.low == known.high and 0 <= known.low < 1 << x else max(x, y)


def _saturated(stage: Stage) -> dict[str, int]:
    """Return the ReLU nodes that only a Clamp reads, directly or through shifts, each with the bits that the Clamp
    reads.
    """
    readers: dict[str, list[Node]] = defaultdict(list)
    for node in stage.nodes:
        for source in node.sources:
            readers[source].append(node)
    found = {}
    for node in stage.nodes:
        after, last = readers[node.name], node
        while len(after) == 1 and isinstance(after[0].operation, Shift):
            last = after[0]
            after = readers[last.name]
        if isinstance(node.operation, ReLU) and len(after) == 1 and isinstance(after[0].operation, Clamp):
            found[node.name] = width(last.low, last.high)
    return found


def _multiplies(operation: Operation, sources: Sequence[Signal]) -> bool:
    """Return whether an operation is a product of two numbers of which none is a single bit or a power of two."""
    return isinstance(operation, Multiply) and not any(is_bit(s) or is_power(s) for s in sources)


def multipliers(
    operation: Operation, sources: Sequence[Signal], target: Signal, family: Family, cut: bool = False
) -> int:
    """Return the multipliers that a product takes, whose wide factor may be `cut` in parts; 0 if the product is so
    narrow that yosys prefers LUTs, or if a factor is a power of two.

    On an ECP5 yosys never prefers LUTs for a product, unless an operand has only one bit.
    """
    if isinstance(operation, Scale):
        size = abs(operation.factor)
        if size & (size - 1) == 0:
            return 0
    elif not _multiplies(operation, sources):
        return 0
    factors = _factors(operation, sources)
    plain = all(s.low >= 0 for s in factors)
    bits = [signed_width(s.low, s.high) for s in factors]
    if min(bits) < 2 or target.width < family.least_product:
        return 0
    if cut:
        own, wide = sorted(bits)
        return sum(family.multipliers(part, own) for _, part in parts(wide))
    return family.multipliers(*bits, plain=plain)


def _factors(operation: Operation, sources: Sequence[Signal]) -> Sequence[Signal]:
    """Return the factors of a product, of which that of a Scale is a number."""
    if isinstance(operation, Scale):
        return [*sources, Signal(str(operation.factor), operation.factor, operation.factor)]
    return sources


def _kept(operation: Operation, sources: Sequence[Signal]) -> int:
    """Return the registers of the products of all parts of a wide factor."""
    own, wide = sorted(signed_width(s.low, s.high) for s in _factors(operation, sources))
    return sum(part + own for _, part in parts(wide))

"""The size of a lane or a unit in a family of FPGAs: its multipliers, and its LUTs if the family's LUTs have four
inputs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from circuitize.circuits.integers import (
    Add,
    Check,
    Clamp,
    Divide,
    IsNegative,
    Lookup,
    Maximum,
    Multiply,
    ReLU,
    Scale,
    Select,
    Shift,
    SquareRoot,
    Subtract,
)
from circuitize.circuits.operation import Operation

from ..devices.family import Family
from ..signals import Signal, signed_width, width
from .datapath import Datapath
from .graph import Node, Stage
from .lane_text import lane_bits
from .size import is_bit, quotient_bits


class Arithmetic(NamedTuple):
    """The size of a lane or a unit: LUTs of four inputs (a carry cell counts as two), multipliers, and tables by words
    and bits.

    `absorbed` is the number of register bits that multipliers hold. `spared` is the number of LUTs of six inputs that a
    datapath counts but yosys does not place: those of products in multipliers, and those of bits that a sum passes on
    unchanged.
    """

    lut: int
    dsp: int
    tables: list[tuple[int, int]]
    absorbed: int
    spared: int


def unit(stage: Stage, path: Datapath, split: int, family: Family) -> Arithmetic:
    """Return the size of a unit whose datapath is `path`: the adders of the shares of `split` lanes, and the
    operations.
    """
    found = _operations(stage, path, False, family)
    shares = (split - 1) * carries(lane_bits(stage, split) + 1) if split > 1 else 0
    return found._replace(lut=found.lut + shares)


def lane(stage: Stage, path: Datapath, split: int, family: Family) -> Arithmetic:
    """Return the size of one of `split` lanes whose datapath is `path`: the operations, and the adder of the sum or the
    comparison for the greatest term.
    """
    found = _operations(stage, path, True, family)
    bits = lane_bits(stage, split)
    made = carries(bits) + bits
    if stage.reduction == "argmax":
        made += carries(path.values[stage.term].width) + bits
    return found._replace(lut=found.lut + made)


def _operations(stage: Stage, path: Datapath, in_reduction: bool, family: Family) -> Arithmetic:
    lut, dsp, tables, absorbed, spared = 0, 0, [], 0, 0
    saturated, zeros = _saturated(stage), {name: _zeros(signal) for name, signal in path.values.items()}
    for node in stage.nodes:
        target, operation = path.values.get(node.name), node.operation
        if node.in_reduction != in_reduction or target is None:
            continue
        if target.low < target.high or isinstance(operation, Check):
            sources = [path.values[name] for name in node.sources]
            passed = 0
            if isinstance(operation, Scale):
                factor = abs(operation.factor)
                zeros[node.name] = zeros[node.sources[0]] + (factor & -factor).bit_length() - 1
            elif isinstance(operation, Add | Subtract):
                x, y = (zeros[name] for name in node.sources)
                zeros[node.name] = min(x, y)
                passed = min(target.width, y if isinstance(operation, Subtract) else max(x, y))
            product = multipliers(operation, sources, target, family)
            dsp += product
            absorbed += target.width if product and family.accumulates else 0
            spared += target.width if product and isinstance(operation, Scale) else passed
            lut += 0 if node.name in saturated else luts(operation, sources, target, passed)
            if isinstance(operation, Lookup):
                tables.append((1 << width(0, sources[0].high - sources[0].low), target.width))
    return Arithmetic(lut, dsp, tables, absorbed, spared)


def _zeros(signal: Signal) -> int:
    """Return how many of a signal's lowest bits are known to be 0, which is known only of a constant."""
    return (signal.low & -signal.low).bit_length() - 1 if signal.low == signal.high != 0 else 0


def _saturated(stage: Stage) -> set[str]:
    """Return the names of the ReLU nodes that only a Clamp reads, directly or through shifts: the Clamp's LUTs do their
    work.
    """
    readers: dict[str, list[Node]] = defaultdict(list)
    for node in stage.nodes:
        for source in node.sources:
            readers[source].append(node)
    found = set()
    for node in stage.nodes:
        after = readers[node.name]
        while len(after) == 1 and isinstance(after[0].operation, Shift):
            after = readers[after[0].name]
        if isinstance(node.operation, ReLU) and len(after) == 1 and isinstance(after[0].operation, Clamp):
            found.add(node.name)
    return found


def carries(bits: int) -> int:
    """Return the LUTs of an adder of `bits` bits: a carry cell counts as two LUTs and adds two bits."""
    return 2 * -(-bits // 2)


def multipliers(operation: Operation, sources: Sequence[Signal], target: Signal, family: Family) -> int:
    """Return the multipliers that a product takes; 0 if the product is so narrow that yosys prefers LUTs.

    On an ECP5 yosys never prefers LUTs for a product, unless an operand has only one bit.
    """
    if isinstance(operation, Scale):
        size = abs(operation.factor)
        if size & (size - 1) == 0:
            return 0
        sources = [*sources, Signal(str(operation.factor), operation.factor, operation.factor)]
    elif not isinstance(operation, Multiply) or any(map(is_bit, sources)):
        return 0
    bits = [signed_width(s.low, s.high) for s in sources]
    return family.multipliers(*bits) if min(bits) > 1 and target.width >= family.least_product else 0


def luts(operation: Operation, sources: Sequence[Signal], target: Signal, passed: int = 0) -> int:
    """Return the LUTs of four inputs that an operation takes; a sum passes its lowest `passed` bits on unchanged."""
    bits, made = (sources[0].width if sources else 0), target.width
    if isinstance(operation, Shift | IsNegative | Lookup):
        return 0
    if isinstance(operation, Add | Subtract):
        return carries(made - passed)
    if isinstance(operation, Scale):
        return carries(made) if operation.factor < 0 else 0
    if isinstance(operation, Multiply):
        if any(map(is_bit, sources)):
            return made
        return 0
    if isinstance(operation, ReLU | Select):
        return made
    if isinstance(operation, Maximum):
        return 2 * made + 2
    if isinstance(operation, Clamp):
        return _clamp(sources[0], operation.low, operation.high, made)
    if isinstance(operation, Check):
        ends = (sources[0].low < operation.low) + (sources[0].high > operation.high)
        return ends * carries(max(bits - made, 1))
    if isinstance(operation, Divide):
        return quotient_bits(sources[0]) * (2 * sources[1].width + 3)
    if isinstance(operation, SquareRoot):
        return 2 * bits * bits // 3
    return made


def _clamp(x: Signal, low: int, high: int, made: int) -> int:
    """Return the LUTs of a Clamp: carry cells that compare with each end that the value can pass, and LUTs that select
    the result.
    """
    above, below = x.high > high, x.low < low
    if above and not x.signed and high & (high + 1) == 0:
        return made + (x.width - made) // 3
    compared = (x.width - 2 if above else 0) + (x.width - made if below and low < 0 else 0)
    return made + compared + 1 + (below and low < 0)

"""The size of a netlist in an FPGA, estimated before anything is emitted: the size of each node follows from its widths
alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...verilog.devices.family import SEVEN, Family
from ...verilog.netlist import Integers, Kind, Netlist, widths
from .choices import Choices
from .pipeline import ROM_BITS, Pipeline
from .signs import GATES, compared

INPUTS = 6
"""The number of inputs of a look-up table."""

MERGED, SHARED = 0.45, 0.03
"""How yosys builds sums of three numbers: the LUTs for each bit where one number is known, and the factor by which
other sums grow; measured on the networks of docs/verilog-parallel.md.
"""

COMPRESSED = 0.08
"""The factor by which sums in LUTs of four inputs grow where yosys adds three numbers at once: measured on dense
networks of seeds 0 to 5.
"""

PARTS = (Kind.SHIFT, Kind.NARROW, Kind.BIT, Kind.NEGATIVE, Kind.WRAP)
"""The kinds of nodes that are some of the bits of another node."""

PRODUCT = 1.6
"""The LUTs for each pair of bits of a product that is too small for a DSP: measured with yosys 0.23 on 4 x 4 bits."""

Floats = NDArray[np.float64]


def estimate(
    net: Netlist,
    pipe: Pipeline,
    choices: Choices,
    inputs: int,
    outputs: int,
    family: Family = SEVEN,
    state: int = 0,
    totals: Integers | None = None,
) -> dict[str, int]:
    """Return the estimated size of a netlist with so many bits of state, and with registers of the nodes `totals` that
    these nodes add to: LUTs of a device family, flip-flops, DSPs, memory blocks and their bits, and the latency and
    interval in cycles.
    """
    words, bits = _blocks(net, pipe)
    multipliers = _multipliers(net, pipe, family)
    lut = luts(net, pipe) if family.inputs == INPUTS else narrow_luts(net, pipe)
    none = np.zeros(net.count, bool)
    sums, kept = _absorbed(net, pipe, multipliers, totals) if family.accumulates else (none, none)
    lut[(words > 0) | (multipliers > 0) | sums | choices.nodes] = 0
    registers = pipe.bits * np.maximum(pipe.delay - kept - in_common(net, pipe), 0)
    control = 2 * outputs + 2 * inputs + -(-inputs // INPUTS) + 1
    return {
        "lut": round(float(lut.sum()) + choices.luts(family.inputs)) + control,
        "ff": int(registers[~choices.nodes].sum()) + choices.registers + pipe.stages + outputs + inputs + state,
        "dsp": int(multipliers.sum()),
        "bram_bits": int((words * bits).sum()),
        "blocks": sum(family.blocks(int(words[at]), int(bits[at])) for at in np.flatnonzero(words)),
        "latency_cycles": pipe.stages + 1,
        "interval_cycles": pipe.stages + 1 if pipe.alone else 1,
    }


def luts(net: Netlist, pipe: Pipeline) -> Floats:
    """Return the number of LUTs that each node of a netlist takes.

    An adder takes a LUT for every pair of bits that it adds if neither bit is known; a pair of sign bits counts once,
    however often it is repeated, and carries ripple outside of LUTs.
    """
    made = widths(net.low, net.high)
    a, b = np.maximum(net.a, 0), np.maximum(net.b, 0)
    bits_a, bits_b = made[a], made[b]
    signed_a, signed_b = net.low[a] < 0, net.low[b] < 0
    known = (net.kind[a] == Kind.CONSTANT) | (net.kind[b] == Kind.CONSTANT)
    found = np.zeros(net.count)

    def put(kind: Kind, values: Floats | Integers) -> None:
        at = pipe.live & (net.kind == kind)
        found[at] = values[at]

    up_a, up_b = np.maximum(-net.m, 0), np.maximum(net.m, 0)
    top_a, top_b = bits_a + up_a, bits_b + up_b
    top = np.where(signed_a & signed_b, np.maximum(top_a, top_b), np.where(signed_a, top_b, top_a))
    top = np.where(~signed_a & ~signed_b, np.minimum(top_a, top_b), top)
    pairs = np.minimum(top, made) - np.maximum(up_a, up_b)
    adders = np.where(known, MERGED * made, (1 + SHARED) * np.maximum(pairs, 0))
    decided = compared(net, pipe)
    gates = np.ceil((decided - 1) / (INPUTS - 1))
    put(Kind.ADD, np.where((decided > 0) & (decided <= GATES), gates, adders))
    put(Kind.MULTIPLY, (PRODUCT * bits_a * bits_b).astype(np.float64))
    put(Kind.CLAMP, made + np.maximum(bits_a - made - 1, 0) / (INPUTS - 1))
    put(Kind.LESS, np.maximum(bits_a, bits_b) / np.where(known, 2, 1))
    put(Kind.EQUAL, bits_a / (INPUTS - 1))
    put(Kind.OUTSIDE, np.where(bits_a <= INPUTS, 1, bits_a / 2))
    put(Kind.OR, np.full(net.count, 1 / (INPUTS - 1)))
    put(Kind.AND, np.full(net.count, 1 / (INPUTS - 1)))
    put(Kind.SELECT, np.where(known, 0.5, 1.0) * made)
    put(Kind.TABLE, made * np.maximum(1.0, 2.0 ** (bits_a - INPUTS)))
    return found


def narrow_luts(net: Netlist, pipe: Pipeline) -> Floats:
    """Return the number of LUTs with four inputs that each node takes: adders and comparisons consist of carry cells,
    each of which takes two LUTs for two bits.
    """
    made = widths(net.low, net.high)
    a, b = np.maximum(net.a, 0), np.maximum(net.b, 0)
    bits_a, bits_b = made[a], made[b]
    signed_a = net.low[a] < 0
    known = (net.kind[a] == Kind.CONSTANT) | (net.kind[b] == Kind.CONSTANT)
    found = np.zeros(net.count)

    def put(kind: Kind, values: Floats | Integers) -> None:
        at = pipe.live & (net.kind == kind)
        found[at] = values[at]

    adders = np.float64(1 + COMPRESSED) * _carries(np.maximum(made - _passed(net), 0)).astype(np.float64)
    decided = compared(net, pipe)
    gates = np.where(decided <= GATES, (decided - 1) / 3, _carries(decided))
    put(Kind.ADD, np.where(decided > 0, gates, adders))
    put(Kind.MULTIPLY, (PRODUCT * bits_a * bits_b).astype(np.float64))
    power = (net.high & (net.high + 1)) == 0
    plain = (power & (net.low == 0)) | (net.low == ~net.high)
    limits = _carries(bits_a) * ((net.high < net.high[a]).astype(np.int64) + (signed_a & (net.low != 0)))
    put(Kind.CLAMP, made + np.where(plain, np.maximum(bits_a - made - 1, 0) / 3, limits))
    put(Kind.LESS, _carries(np.maximum(bits_a, bits_b)))
    put(Kind.EQUAL, bits_a / 3)
    put(Kind.OUTSIDE, _carries(bits_a - 1))
    put(Kind.OR, np.full(net.count, 1 / 3))
    put(Kind.AND, np.full(net.count, 1 / 3))
    put(Kind.SELECT, np.where(known, 0.5, 1.0) * made)
    put(Kind.TABLE, made * np.maximum(1.0, 2.0 ** (bits_a - 4.0)))
    return found


def _passed(net: Netlist) -> Integers:
    """Return the number of lowest bits of each sum that are copied from an operand: those below a shifted operand, and
    those below the lowest 1 of a constant.
    """
    passed = np.where((net.m > 0) | ((net.n == 0) & (net.m < 0)), np.abs(net.m), 0)
    b = np.maximum(net.b, 0)
    amount: Integers = net.low[b].astype(np.int64)
    last: Integers = amount & -amount
    zeros = widths(np.zeros(net.count, np.int64), last) - 1 + np.maximum(net.m, 0)
    return np.where((net.kind[b] == Kind.CONSTANT) & (amount != 0), np.maximum(passed, zeros), passed)


def _carries(bits: Integers) -> Integers:
    return 2 * -(-bits // 2)


def _multipliers(net: Netlist, pipe: Pipeline, family: Family) -> Integers:
    """Return the number of DSPs that each node takes: yosys makes products of few bits from LUTs."""
    made = np.zeros(net.count, np.int64)
    at = np.flatnonzero(pipe.live & (net.kind == Kind.MULTIPLY))
    a, b = net.a[at], net.b[at]
    bits, signed = widths(net.low, net.high), widths(np.minimum(net.low, -1), net.high)
    plain = (net.low[a] >= 0) & (net.low[b] >= 0)
    rows = np.stack([bits[a], bits[b], signed[a], signed[b], plain], axis=1)
    distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
    found = [
        family.multipliers(x, y, plain=bool(both))
        if min(narrow, other) > 1 and narrow + other >= family.least_product
        else 0
        for narrow, other, x, y, both in distinct.tolist()
    ]
    made[at] = np.array(found, np.int64)[inverse.reshape(-1)]
    return made


def in_common(net: Netlist, pipe: Pipeline) -> Integers:
    """Return how many registers each node has in common with the node of whose bits it is a part: synthesis keeps the
    bits of both once.
    """
    a = np.maximum(net.a, 0)
    part = pipe.live & np.isin(net.kind, PARTS) & (pipe.stage[a] == pipe.stage)
    return np.where(part, np.minimum(pipe.delay, pipe.delay[a]), 0)


def _absorbed(
    net: Netlist, pipe: Pipeline, multipliers: Integers, totals: Integers | None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which sums a DSP makes with its product, those of a product that nothing else reads, and which nodes have
    their first register in a DSP: products and such sums that are read in later stages only, and the totals to which a
    DSP adds its product.
    """
    reads, own = np.zeros(net.count, np.int64), np.zeros(net.count, bool)
    for column in (net.a, net.b, net.c):
        reader = np.flatnonzero(pipe.live & (column >= 0))
        np.add.at(reads, column[reader], 1)
        own[column[reader[pipe.stage[column[reader]] == pipe.stage[reader]]]] = True
    product = multipliers == 1
    alone = product & (reads == 1) & (pipe.delay <= 1)
    plain = pipe.live & (net.kind == Kind.ADD) & (net.n == 0) & (net.m == 0)
    sums: NDArray[np.bool_] = plain & (alone[np.maximum(net.a, 0)] | alone[np.maximum(net.b, 0)])
    kept = (product | sums) & (pipe.delay > 0) & ~own
    if totals is not None:
        narrowed = np.where(net.kind[totals] == Kind.NARROW, net.a[totals], totals)
        kept[totals[sums[narrowed]]] = True
    return sums, kept


def _blocks(net: Netlist, pipe: Pipeline) -> tuple[Integers, Integers]:
    """Return, for each node that is a table with an address long enough for block memory, the number of words of the
    table and the bits of a word, and 0 for all other nodes.
    """
    bits = widths(net.low, net.high)
    address = bits[np.maximum(net.a, 0)]
    large = pipe.live & (net.kind == Kind.TABLE) & (address >= ROM_BITS)
    return np.where(large, np.int64(1) << np.minimum(address, 20), 0), bits

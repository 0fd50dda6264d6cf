"""How large a netlist becomes in an FPGA, before anything is emitted: per node, from widths alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...verilog.netlist import Integers, Kind, Netlist, widths
from .pipeline import ROM_BITS, Pipeline

DSP = (25, 18)
"""Signed operands of one multiplier of a Xilinx 7 series."""

INPUTS = 6
"""Of a look-up table."""

MERGED, SHARED = 0.45, 0.03
"""What yosys makes of sums of three numbers: LUTs a bit where one is known, and the part that others grow by; measured
on the networks of docs/verilog-parallel.md."""

Floats = NDArray[np.float64]


def estimate(net: Netlist, pipe: Pipeline, inputs: int, outputs: int, dsp: bool) -> dict[str, int]:
    """LUTs of a Xilinx 7 series, flip-flops, DSPs, bits of block memory, latency and interval in cycles."""
    blocks = _blocks(net, pipe)
    multipliers = _multipliers(net, pipe) if dsp else np.zeros(net.count, np.int64)
    lut = luts(net, pipe)
    lut[(blocks > 0) | (multipliers > 0)] = 0
    control = 2 * outputs + 2 * inputs + -(-inputs // INPUTS) + 1
    return {
        "lut": round(float(lut.sum())) + control,
        "ff": int((pipe.bits * pipe.delay).sum()) + pipe.stages + outputs + inputs,
        "dsp": int(multipliers.sum()),
        "bram_bits": int(blocks.sum()),
        "latency_cycles": pipe.stages + 1,
        "interval_cycles": 1,
    }


def luts(net: Netlist, pipe: Pipeline) -> Floats:
    """LUTs of each node.

    An adder takes one for every pair of bits that it adds, where neither is known: a pair of sign bits is one pair
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
    put(Kind.ADD, np.where(known, MERGED * made, (1 + SHARED) * np.maximum(pairs, 0)))
    put(Kind.MULTIPLY, np.where(known, 1.2, 2.7) * bits_a * bits_b)
    put(Kind.CLAMP, made + np.maximum(bits_a - made - 1, 0) / (INPUTS - 1))
    put(Kind.LESS, np.maximum(bits_a, bits_b) / np.where(known, 2, 1))
    put(Kind.EQUAL, bits_a / (INPUTS - 1))
    put(Kind.OUTSIDE, bits_a / 2)
    put(Kind.OR, np.full(net.count, 1 / (INPUTS - 1)))
    put(Kind.AND, np.full(net.count, 1 / (INPUTS - 1)))
    put(Kind.SELECT, np.where(known, 0.5, 1.0) * made)
    put(Kind.TABLE, made * np.maximum(1.0, 2.0 ** (bits_a - INPUTS)))
    return found


def _multipliers(net: Netlist, pipe: Pipeline) -> Integers:
    """DSPs of each node: as many as it takes to tile the product."""
    signed_bits = widths(np.minimum(net.low, -1), net.high)
    x, y = signed_bits[np.maximum(net.a, 0)], signed_bits[np.maximum(net.b, 0)]
    long, short = np.maximum(x, y), np.minimum(x, y)
    tiles = -(-long // (DSP[0] - 1)) * -(-short // (DSP[1] - 1))
    tiles = np.where((long <= DSP[0]) & (short <= DSP[1]), 1, tiles)
    return np.where(pipe.live & (net.kind == Kind.MULTIPLY), tiles, 0)


def _blocks(net: Netlist, pipe: Pipeline) -> Integers:
    """Bits of block memory of each node: tables with long addresses."""
    bits = widths(net.low, net.high)
    address = bits[np.maximum(net.a, 0)]
    large = pipe.live & (net.kind == Kind.TABLE) & (address >= ROM_BITS)
    return np.where(large, bits << np.minimum(address, 20), 0)

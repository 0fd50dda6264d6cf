"""How large a netlist becomes in an FPGA, before anything is emitted."""

from __future__ import annotations

import numpy as np

from circuitize.backends.verilog.netlist import Kind, Netlist, widths

from .pipeline import Pipeline


def estimate(net: Netlist, pipe: Pipeline, inputs: int, outputs: int) -> dict[str, int]:
    """LUTs of a Xilinx 7 series, flip-flops, DSPs, bits of block memory, latency and interval in cycles."""
    registers = int((pipe.bits * pipe.delay).sum())
    bits = widths(net.low, net.high)
    adders = pipe.live & (net.kind == Kind.ADD)
    lut = int((bits - np.maximum(net.m, 0))[adders].sum())
    return {
        "lut": lut,
        "ff": registers + pipe.stages + outputs,
        "dsp": 0,
        "bram_bits": 0,
        "latency_cycles": pipe.stages,
        "interval_cycles": 1,
    }

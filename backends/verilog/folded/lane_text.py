"""Lanes and units as Verilog text: a lane adds up one term a clock, and a unit applies the operations that follow to
the sums.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from circuitize.circuits.integers import Add

from ..signals import Signal, element, signed_width
from .channel import HEAD, TAIL
from .counter import bits_of
from .datapath import Datapath
from .graph import REDUCED, Node, Operand, Stage
from .terms import indices


def literal_operand(operand: Operand) -> int | None:
    """Return the number that an operand always is, or None if it is in memory or has different elements."""
    if operand.amounts is None:
        return None
    at = indices(operand.at)
    found = np.where(at >= 0, operand.amounts[np.maximum(at, 0)], 0)
    first = int(found.flat[0])
    return first if (found == first).all() else None


def signal_of(operand: Operand, name: str) -> Signal:
    """Return the signal of an operand's value as it comes from memory."""
    low, high = interval_of(operand)
    return Signal(name, low, high)


def interval_of(operand: Operand) -> tuple[int, int]:
    """Return the interval of the values that memory may hold for an operand: that of the wire's format, and 0 where 0
    is read in place of an element, or, for a constant, that of its elements and 0.
    """
    if operand.amounts is not None:
        found = operand.amounts[np.maximum(indices(operand.at), 0)]
        low, high = int(found.min()), int(found.max())
        return (min(low, 0), max(high, 0))
    kind = element(operand.format)
    if not kind.low <= 0 <= kind.high and (indices(operand.at) < 0).any():
        return min(kind.low, 0), max(kind.high, 0)
    return kind.low, kind.high


def enter(path: Datapath, operands: Sequence[Operand]) -> list[Signal]:
    """Add the operands of a lane or a unit to its datapath, and return those operands that are ports."""
    ports = []
    for operand in operands:
        known = literal_operand(operand)
        if known is not None:
            path.source(operand.name, Signal(f"{operand.name}_is", known, known), constant=True)
            continue
        port = signal_of(operand, operand.name)
        path.source(operand.name, port)
        if port.signed:
            path.lines.append(f"  wire {port.declared} {port.name} = $signed({port.name}_in);")
        ports.append(port)
    return ports


def port_of(signal: Signal) -> str:
    """Return the declaration of an operand's port, which has no sign, because the ports of a module are vectors of
    bits.
    """
    return f"input wire [{signal.width - 1}:0] {signal.name}{'_in' if signal.signed else ''}"


def partial(stage: Stage, split: int) -> tuple[int, int]:
    """Return the interval of what one of `split` lanes makes of its share of the terms of a result."""
    if split == 1 or stage.reduction == "argmax":
        return stage.reduced
    low, high = stage.interval(stage.term)
    most = -(-stage.terms // split)
    fewest = most - (1 if most * split > stage.terms else 0)
    return min(most * low, fewest * low), max(most * high, fewest * high)


def lane_bits(stage: Stage, split: int) -> int:
    """Return the number of bits of what a lane makes."""
    return bits_of(stage.terms - 1) if stage.reduction == "argmax" else signed_width(*partial(stage, split))


def lane(name: str, stage: Stage, split: int) -> tuple[str, Datapath, int]:
    """Return the module of a lane, which adds up one term a clock, its datapath, and the cycle at which a term is
    ready.
    """
    path = Datapath(name, apart=stage.apart, lends=stage.lends)
    operands = [operand for operand in stage.operands if operand.in_reduction]
    ports = ["input wire clk", *(port_of(p) for p in enter(path, operands))]
    for node in stage.nodes:
        if node.in_reduction:
            path.node(node)
    value, fail, cycle = path.finish(stage.term, bool(path.fails))
    bits = lane_bits(stage, split)
    ports += ["input wire valid", "input wire first", f"output wire [{bits - 1}:0] result"]
    if stage.reduction == "sum":
        total = Signal("total", -(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        path.lines += [
            f"  reg {total.declared} total;",
            f"  wire {total.declared} term = $signed({path.bits(value, bits)});",
            f"  always @(posedge clk) if (valid) total <= term + (first ? {bits}'sd0 : total);",
            "  assign result = $unsigned(total);",
        ]
        path.ff += bits
        path.lut += 0 if path.dsp else bits
    else:
        best = Signal("best", value.low, value.high)
        path.lines += [
            f"  reg {best.declared} best;",
            f"  reg [{bits - 1}:0] place;",
            f"  reg [{bits - 1}:0] index;",
            f"  wire better = first | ({path.exact(value)} > best);",
            f"  wire [{bits - 1}:0] here = first ? {bits}'d0 : index;",
            "  always @(posedge clk)",
            "    if (valid) begin",
            f"      index <= here + {bits}'d1;",
            "      if (better) begin",
            f"        best <= {path.exact(value)};",
            "        place <= here;",
            "      end",
            "    end",
            "  assign result = place;",
        ]
        path.ff += bits * 2 + best.width
        path.lut += bits * 2 + best.width // 2
    if path.fails:
        ports.append("output wire fail")
        path.lines.append(f"  assign fail = {fail};")
    ports += _away_ports(path)
    comment = f"// A lane of {stage.name}: {stage.reduction} of up to {-(-stage.terms // split)} terms, one a clock."
    return _module(name, comment, ports, path.lines), path, cycle


def unit(name: str, stage: Stage, split: int) -> tuple[str, Datapath, int]:
    """Return the module of a unit, which adds the shares of a result and applies all operations that follow, its
    datapath, and its clocks.
    """
    path = Datapath(name, apart=stage.apart, lends=stage.lends)
    ports = ["input wire clk"]
    if stage.reduction:
        ports += _shares(path, stage, split)
    operands = [operand for operand in stage.operands if not operand.in_reduction]
    ports += [port_of(p) for p in enter(path, operands)]
    for node in stage.nodes:
        if not node.in_reduction:
            path.node(node)
    value, fail, cycle = path.finish(stage.result, stage.checks)
    out = element(stage.format)
    ports.append(f"output wire [{out.width - 1}:0] made")
    path.lines.append(f"  assign made = {path.bits(value, out.width)};")
    if any_result_check(stage):
        ports.append("output wire fail")
        path.lines.append(f"  assign fail = {fail};")
    ports += _away_ports(path)
    if not any("posedge clk" in line or ".clk(clk)" in line for line in path.lines):
        path.lines.append("  wire clk_unused = clk;")
    comment = f"// A unit of {stage.name}: {', '.join(stage.operations)}; makes {stage.format}; {stage.provenance}."
    return _module(name, comment, ports, path.lines), path, cycle


def _away_ports(path: Datapath) -> list[str]:
    """Return the ports through which factors leave and products come back."""
    ports = []
    for place, one in enumerate(path.away):
        x, y = one.bits
        ports += [f"output wire [{x - 1}:0] away{place}_x", f"output wire [{y - 1}:0] away{place}_y"]
        ports.append(f"input wire [{x + y - 1}:0] away{place}")
    return ports


def _shares(path: Datapath, stage: Stage, split: int) -> list[str]:
    """Add up the lanes' shares of a reduction's result in a datapath, and return the ports by which the shares
    enter.
    """
    bits, (low, high) = lane_bits(stage, split), partial(stage, split)
    names = []
    for place in range(split):
        name = REDUCED if split == 1 else f"share{place}"
        share = Signal(name, low, high)
        path.source(name, share)
        kept = share.width
        part = f"result{place}" if kept == bits else f"result{place}[{kept - 1}:0]"
        path.lines.append(f"  wire {share.declared} {name} = {f'$signed({part})' if share.signed else part};")
        if kept < bits:
            path.lines.append(f"  wire result{place}_unused = ^result{place};")
        names.append((name, low, high))
    while len(names) > 1:
        joined = []
        for pair in range(0, len(names) - 1, 2):
            (x, xl, xh), (y, yl, yh) = names[pair : pair + 2]
            ends = stage.reduced if len(names) == 2 else (xl + yl, xh + yh)
            made = REDUCED if len(names) == 2 else f"{x}_{y.removeprefix('share')}"
            path.node(Node(made, Add(), (x, y), *ends))
            joined.append((made, *ends))
        names = joined + names[len(names) - len(names) % 2 :]
    return [f"input wire [{bits - 1}:0] result{place}" for place in range(split)]


def any_result_check(stage: Stage) -> bool:
    """Return whether a stage has a Check of the result after its reduction."""
    return any(node.operation.name == "integer.check" and not node.in_reduction for node in stage.nodes)


def any_term_check(stage: Stage) -> bool:
    """Return whether a stage has a Check of each term before its reduction."""
    return any(node.operation.name == "integer.check" and node.in_reduction for node in stage.nodes)


def _module(name: str, comment: str, ports: Sequence[str], lines: Sequence[str]) -> str:
    body = "\n".join(lines)
    return f"{comment}\n{HEAD}module {name} (\n  " + ",\n  ".join(ports) + f"\n);\n{body}\n{TAIL}"

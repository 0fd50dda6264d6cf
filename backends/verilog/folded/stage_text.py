"""Stages as Verilog text: the control of a loop nest, its lanes, and the units that its results go through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from circuitize.circuits.integers import Add, Multiply

from ..signals import Signal, element, signed_width
from .channel import HEAD, TAIL, Counters
from .counter import bits_of
from .datapath import Datapath
from .graph import REDUCED, Node, Operand, Stage
from .sequence import Sequence as Numbers
from .tiling import Tiling


@dataclass
class Timing:
    """Clocks from the one in which a stage's `start` is 1, for one frame; `cycles` between starts at the soonest."""

    cycles: int
    last_term: int
    last_result: int
    last_write: int


@dataclass
class Body:
    """A stage's modules as text, and what they come to."""

    files: dict[str, str]
    timing: Timing
    lut: int
    ff: int
    dsp: int
    rom_bits: int


def literal_operand(operand: Operand) -> int | None:
    """The number that an operand always is, if it is."""
    if operand.amounts is None:
        return None
    found = np.where(operand.at >= 0, operand.amounts[np.maximum(operand.at, 0)], 0)
    first = int(found.flat[0])
    return first if (found == first).all() else None


def signal_of(operand: Operand, name: str) -> Signal:
    """An operand's value as it comes from memory."""
    low, high = interval_of(operand)
    return Signal(name, low, high)


def interval_of(operand: Operand) -> tuple[int, int]:
    """What memory may hold for an operand: that of the wire, with 0 where it reads outside."""
    if operand.amounts is not None:
        found = operand.amounts[np.maximum(operand.at, 0)]
        low, high = int(found.min()), int(found.max())
        return (min(low, 0), max(high, 0))
    kind = element(operand.format)
    return kind.low, kind.high


def _sources(path: Datapath, operands: Sequence[Operand], suffix: str) -> list[Signal]:
    """Give a datapath its operands; returns those that are ports."""
    ports = []
    for operand in operands:
        known = literal_operand(operand)
        if known is not None:
            path.source(operand.name + suffix, Signal(f"{operand.name}{suffix}_is", known, known), constant=True)
            continue
        port = signal_of(operand, operand.name + suffix)
        path.source(operand.name + suffix, port)
        if port.signed:
            path.lines.append(f"  wire {port.declared} {port.name} = $signed({port.name}_in);")
        ports.append(port)
    return ports


def _port(signal: Signal) -> str:
    """An operand enters without its sign: a module's ports are vectors of bits."""
    return f"input wire [{signal.width - 1}:0] {signal.name}{'_in' if signal.signed else ''}"


def lane(name: str, stage: Stage, tiling: Tiling) -> tuple[str, Datapath, int]:
    """A lane's module: the terms of a clock, added up; its datapath, and the cycle at which their sum is there."""
    path = Datapath(name)
    ports: list[Signal] = []
    operands = [operand for operand in stage.operands if operand.in_reduction]
    nodes = [node for node in stage.nodes if node.in_reduction]
    live = Signal("live", 0, 1)
    terms = []
    if tiling.spare:
        path.source("live", live)
    for place in range(tiling.split):
        ports += _sources(path, operands, f"_{place}")
        for node in nodes:
            sources = tuple(f"{source}_{place}" for source in node.sources)
            path.node(Node(f"{node.name}_{place}", node.operation, sources, node.low, node.high))
        low, high = stage.interval(stage.term)
        term = f"{stage.term}_{place}"
        if place >= tiling.split - tiling.spare:
            path.node(Node(f"{term}_live", Multiply(), ("live", term), min(low, 0), max(high, 0)))
            term = f"{term}_live"
        terms.append((term, *((min(low, 0), max(high, 0)) if tiling.spare else (low, high))))
    level = 0
    while len(terms) > 1:
        joined = []
        for pair in range(0, len(terms) - 1, 2):
            (x, xl, xh), (y, yl, yh) = terms[pair : pair + 2]
            made = f"sum{level}_{pair // 2}"
            path.node(Node(made, Add(), (x, y), xl + yl, xh + yh))
            joined.append((made, xl + yl, xh + yh))
        terms, level = joined + terms[len(terms) - len(terms) % 2 :], level + 1
    value, fail, cycle = path.finish(terms[0][0], bool(path.fails))
    text = [_port(p) for p in ports]
    text = ["input wire clk", *(["input wire live"] if tiling.spare else []), *text]
    text += ["input wire valid", "input wire first"]
    lines = list(path.lines)
    low, high = stage.reduced
    if stage.reduction == "sum":
        bits = signed_width(low, high)
        total = Signal("total", -(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        wide = path.bits(value, bits)
        lines = list(path.lines)
        text.append(f"output wire [{bits - 1}:0] result")
        lines += [
            f"  reg {total.declared} total;",
            f"  wire {total.declared} terms = $signed({wide});",
            "  always @(posedge clk) if (valid) total <= first ? terms : total + terms;",
            "  assign result = $unsigned(total);",
        ]
        path.ff += bits
        path.lut += bits
    else:
        bits = bits_of(stage.terms - 1)
        best = Signal("best", value.low, value.high)
        text.append(f"output wire [{bits - 1}:0] result")
        lines += [
            f"  reg {best.declared} best;",
            f"  reg [{bits - 1}:0] place;",
            f"  reg [{bits - 1}:0] index;",
            f"  wire better = first | ({value.name} > best);",
            f"  wire [{bits - 1}:0] here = first ? {bits}'d0 : index;",
            "  always @(posedge clk)",
            "    if (valid) begin",
            f"      index <= here + {bits}'d1;",
            "      if (better) begin",
            f"        best <= {value.name};",
            "        place <= here;",
            "      end",
            "    end",
            "  assign result = place;",
        ]
        path.ff += bits * 2 + best.width
        path.lut += bits * 2 + best.width // 2
    if path.fails:
        text.append("output wire fail")
        lines.append(f"  assign fail = {fail};")
    head = f"// A lane of {stage.name}: {stage.reduction} of {stage.terms} terms, {tiling.split} a clock.\n{HEAD}"
    return f"{head}module {name} (\n  " + ",\n  ".join(text) + "\n);\n" + "\n".join(lines) + "\n" + TAIL, path, cycle


def result_bits(stage: Stage) -> int:
    """Bits of what a lane hands to a unit."""
    low, high = stage.reduced
    return bits_of(stage.terms - 1) if stage.reduction == "argmax" else signed_width(low, high)


def unit(name: str, stage: Stage) -> tuple[str, Datapath, int]:
    """The module of a unit: what happens to a result before it is written; its datapath and its clocks."""
    path = Datapath(name)
    text = ["input wire clk"]
    lines: list[str] = []
    if stage.reduction:
        bits, (low, high) = result_bits(stage), stage.reduced
        text.append(f"input wire [{bits - 1}:0] result_in")
        reduced = Signal(REDUCED, low, high)
        path.source(REDUCED, reduced)
        kept = reduced.width
        part = "result_in" if kept == bits else f"result_in[{kept - 1}:0]"
        lines.append(f"  wire {reduced.declared} {REDUCED} = {f'$signed({part})' if reduced.signed else part};")
        if kept < bits:
            lines.append("  wire result_in_unused = ^result_in;")
    operands = [operand for operand in stage.operands if not operand.in_reduction]
    text += [_port(p) for p in _sources(path, operands, "")]
    for node in stage.nodes:
        if not node.in_reduction:
            path.node(node)
    value, fail, cycle = path.finish(stage.result, stage.checks)
    out = element(stage.format)
    text.append(f"output wire [{out.width - 1}:0] made")
    path.lines.append(f"  assign made = {path.bits(value, out.width)};")
    if any_result_check(stage):
        text.append("output wire fail")
        path.lines.append(f"  assign fail = {fail};")
    used = " ".join(path.lines)
    if "posedge clk" not in used and ".clk(clk)" not in used:
        path.lines.append("  wire clk_unused = clk;")
    words = ", ".join(stage.operations)
    head = f"// A unit of {stage.name}: {words}; makes {stage.format}; {stage.provenance}.\n{HEAD}"
    return (
        f"{head}module {name} (\n  " + ",\n  ".join(text) + "\n);\n" + "\n".join(lines + path.lines) + "\n" + TAIL,
        path,
        cycle,
    )


def any_result_check(stage: Stage) -> bool:
    return any(node.operation.name == "integer.check" and not node.in_reduction for node in stage.nodes)


def any_term_check(stage: Stage) -> bool:
    return any(node.operation.name == "integer.check" and node.in_reduction for node in stage.nodes)


def write_stage(stage: Stage, tiling: Tiling, slots: Mapping[str, Sequence[int]], flagged: bool) -> Body:
    """All modules of a stage. `slots` gives for each operand read from memory the column of each place of its table."""
    files: dict[str, str] = {}
    name = stage.name
    unit_text, path, after = unit(f"{name}_unit", stage)
    files[f"{name}_unit.v"] = unit_text
    files.update(path.files)
    made = Body(files, Timing(0, 0, 0, 0), path.lut * tiling.units, path.ff * tiling.units, path.dsp * tiling.units,
                path.rom_bits * tiling.units)  # fmt: skip
    columns = {operand.name: max(slots[operand.name]) + 1 for operand in stage.operands if operand.name in slots}
    ports = ["input wire clk", "input wire rst", "input wire go", "output wire start"]
    by_name = {operand.name: operand for operand in stage.operands}
    for operand, count in columns.items():
        bits = signal_of(by_name[operand], "").width
        ports += [f"input wire [{bits - 1}:0] {operand}_{column}" for column in range(count)]
    inner = any(operand.in_reduction for operand in stage.operands if operand.name in slots)
    outer = any(not operand.in_reduction for operand in stage.operands if operand.name in slots)
    ports += ["output wire t_step", "output wire t_last"] if inner else []
    ports += ["output wire e_step", "output wire e_last"] if outer else []
    ports += ["output wire out_valid", "output wire out_last"]
    width = element(stage.format).width
    ports += [f"output wire [{width - 1}:0] out{place}" for place in range(tiling.units)]
    ports += ["output wire fail"] if flagged else []
    if tiling.reduces:
        lane_text, inside, before = lane(f"{name}_lane", stage, tiling)
        files[f"{name}_lane.v"] = lane_text
        files.update(inside.files)
        count = tiling.lanes
        made.lut, made.ff = made.lut + inside.lut * count, made.ff + inside.ff * count
        made.dsp += inside.dsp * count
        made.rom_bits += inside.rom_bits * count
        body = _reduction(stage, tiling, slots, by_name, before, bool(inside.fails))
        made.ff += result_bits(stage) * (count + (tiling.units if tiling.drain > 1 else 0))
        made.lut += result_bits(stage) * -(-(count - tiling.units) // 3) + 12
        last = (tiling.passes - 1) * tiling.clocks + tiling.reading
        shown = last + before + 2 + (1 if tiling.drain > 1 else 0)
        made.timing = Timing(tiling.cycles, last, shown + tiling.drain - 1, shown + tiling.drain - 1 + 1 + after)
    else:
        body = _map(tiling)
        made.lut += 8
        made.timing = Timing(tiling.cycles, 0, tiling.cycles, tiling.cycles + 1 + after)
    counters = Counters(name, files)
    body += _units(stage, tiling, slots, by_name, after, flagged, counters)
    head = (
        f"// {name}: {', '.join(stage.operations)}; makes {stage.format}; {stage.provenance}.\n"
        f"// {tiling.lanes} lanes of {tiling.split} terms a clock, {tiling.passes} passes of {tiling.clocks} clocks, "
        f"{tiling.units} results a clock.\n{HEAD}"
    )
    files[f"{name}.v"] = f"{head}module {name} (\n  " + ",\n  ".join(ports) + "\n);\n" + "\n".join(body) + "\n" + TAIL
    return made


def _up(name: str, count: int, guard: str) -> list[str]:
    """A counter from 0 to count - 1 that moves where `guard` is 1, with the wire NAME_end."""
    if count == 1:
        return [f"  wire {name}_end = 1'b1;"]
    bits = bits_of(count - 1)
    return [
        f"  reg [{bits - 1}:0] {name};",
        f"  wire {name}_end = {name} == {bits}'d{count - 1};",
        "  always @(posedge clk)",
        f"    if (rst) {name} <= {bits}'d0;",
        f"    else if ({guard}) {name} <= {name}_end ? {bits}'d0 : {name} + {bits}'d1;",
    ]


def _runs(end: str) -> list[str]:
    return [
        "  reg running;",
        f"  wire ending = {end};",
        "  assign start = go & (~running | ending);",
        "  always @(posedge clk) running <= ~rst & (start | (running & ~ending));",
    ]


def _map(tiling: Tiling) -> list[str]:
    """Control without a reduction: a group of elements a clock."""
    step = _up("pass", tiling.passes, "running")
    return [*step, *_runs("pass_end"), "  wire e_go = running;", "  wire e_end = running & pass_end;"]


def _delays(name: str, source: str, cycles: int) -> list[str]:
    """NAME is the source so many clocks ago; the control bits that need it are reset."""
    if cycles == 0:
        return [f"  wire {name} = {source};"]
    if cycles == 1:
        return [f"  reg {name};", f"  always @(posedge clk) {name} <= ~rst & {source};"]
    return [
        f"  reg [{cycles - 1}:0] {name}_line;",
        f"  always @(posedge clk) {name}_line <= rst ? {cycles}'d0 : {{{name}_line[{cycles - 2}:0], {source}}};",
        f"  wire {name} = {name}_line[{cycles - 1}];",
    ]


def _reduction(
    stage: Stage,
    tiling: Tiling,
    slots: Mapping[str, Sequence[int]],
    operands: Mapping[str, Operand],
    before: int,
    fails: bool,
) -> list[str]:
    """Control with a reduction: terms are read, then added `1 + before` clocks later, then held and drained."""
    short = tiling.clocks > tiling.reading
    bits = bits_of(tiling.clocks - 1)
    many = tiling.clocks > 1
    reads = f"running & (t < {bits}'d{tiling.reading})" if short else "running"
    final = f"(t == {bits}'d{tiling.reading - 1})" if many else "1'b1"
    lines = [
        *_up("t", tiling.clocks, "running"),
        *_up("pass", tiling.passes, "running & t_end"),
        *_runs("t_end & pass_end"),
        f"  wire reads = {reads};",
        f"  wire opens = running & {f'(t == {bits}' + chr(39) + 'd0)' if many else '1' + chr(39) + 'b1'};",
        f"  wire closes = running & {final};",
        *_delays("added", "reads", 1 + before),
        *_delays("first", "opens", 1 + before),
        *_delays("full", "closes", 2 + before),
        *_delays("frame_full", "closes & pass_end", 2 + before),
    ]
    if any(operand.in_reduction for operand in stage.operands if operand.name in slots):
        lines += ["  assign t_step = reads;", "  assign t_last = closes & pass_end;"]
    if tiling.spare:
        lines += _delays("live", "~closes", 1)
    width = result_bits(stage)
    for place in range(tiling.lanes):
        wires = [".clk(clk)", *([".live(live)"] if tiling.spare else []), ".valid(added)", ".first(first)"]
        for operand in stage.operands:
            if operand.in_reduction and operand.name in slots:
                columns = slots[operand.name]
                signed = signal_of(operand, "").signed
                for part in range(tiling.split):
                    name = f"{operand.name}_{columns[place * tiling.split + part]}"
                    wires.append(f".{operand.name}_{part}{'_in' if signed else ''}({name})")
        wires += [f".result(lane{place})", *([f".fail(lane{place}_fail)"] if fails else [])]
        lines.append(f"  wire [{width - 1}:0] lane{place};")
        if fails:
            lines.append(f"  wire lane{place}_fail;")
        lines.append(f"  {stage.name}_lane lane{place}_i ({', '.join(wires)});")
    if fails:
        lines += [
            f"  wire term_fails = {' | '.join(f'lane{place}_fail' for place in range(tiling.lanes))};",
            "  reg term_failed;",
            "  reg held_failed;",
            "  always @(posedge clk) if (added) term_failed <= term_fails | (~first & term_failed);",
            "  always @(posedge clk) if (full) held_failed <= term_failed;",
        ]
    lines += [
        line
        for place in range(tiling.lanes)
        for line in (
            f"  reg [{width - 1}:0] held{place};",
            f"  always @(posedge clk) if (full) held{place} <= lane{place};",
        )
    ]
    if tiling.drain == 1:
        lines += [f"  wire [{width - 1}:0] unit{u} = held{u};" for u in range(tiling.units)]
        lines += ["  wire e_go = full;", "  wire e_end = frame_full;"]
        return lines
    size = bits_of(tiling.drain - 1)
    lines += [
        "  reg draining;",
        "  reg frame_drains;",
        f"  reg [{size - 1}:0] d;",
        f"  wire d_end = d == {size}'d{tiling.drain - 1};",
        "  always @(posedge clk)",
        "    if (rst) begin",
        "      draining <= 1'b0;",
        "      frame_drains <= 1'b0;",
        f"      d <= {size}'d0;",
        "    end else if (full) begin",
        "      draining <= 1'b1;",
        "      frame_drains <= frame_full;",
        f"      d <= {size}'d0;",
        "    end else if (draining) begin",
        "      draining <= ~d_end;",
        f"      d <= d + {size}'d1;",
        "    end",
        "  wire e_go = draining;",
        "  wire e_end = draining & d_end & frame_drains;",
    ]
    for u in range(tiling.units):
        choices = [f"      {size}'d{k}: unit{u} <= held{min(k * tiling.units + u, tiling.lanes - 1)};"
                   for k in range(tiling.drain - 1)]  # fmt: skip
        final = f"held{min((tiling.drain - 1) * tiling.units + u, tiling.lanes - 1)}"
        lines += [
            f"  reg [{width - 1}:0] unit{u};",
            "  always @(posedge clk)",
            "    case (d)",
            *choices,
            f"      default: unit{u} <= {final};",
            "    endcase",
        ]
    return lines


def _units(
    stage: Stage,
    tiling: Tiling,
    slots: Mapping[str, Sequence[int]],
    operands: Mapping[str, Operand],
    after: int,
    flagged: bool,
    counters: Counters,
) -> list[str]:
    """The units, and the frame's flag."""
    lines = [
        *_delays("made_valid", "e_go", 1 + after),
        *_delays("made_last", "e_end", 1 + after),
        "  assign out_valid = made_valid;",
        "  assign out_last = made_last;",
    ]
    if any(not operand.in_reduction for operand in stage.operands if operand.name in slots):
        lines += ["  assign e_step = e_go;", "  assign e_last = e_end;"]
    checked = any_result_check(stage)
    for u in range(tiling.units):
        wires = [".clk(clk)", *([f".result_in(unit{u})"] if tiling.reduces else [])]
        for operand in stage.operands:
            if not operand.in_reduction and operand.name in slots:
                name = f"{operand.name}_{slots[operand.name][u]}"
                signed = signal_of(operand, "").signed
                wires.append(f".{operand.name}{'_in' if signed else ''}({name})")
        wires.append(f".made(out{u})")
        if checked:
            lines.append(f"  wire fail{u};")
            wires.append(f".fail(fail{u})")
        lines.append(f"  {stage.name}_unit unit{u}_i ({', '.join(wires)});")
    if not flagged:
        return lines
    fails = []
    written = tiling.written()
    for u in range(tiling.units if checked else 0):
        real = written[:, u] >= 0
        if real.all():
            fails.append(f"fail{u}")
            continue
        live = counters.number(f"live{u}", Numbers.of(real.astype(np.int64)), "made_valid", 1)
        fails.append(f"(fail{u} & {live})")
    lines = [*counters.lines, *lines]
    if any_term_check(stage):
        lines += _delays("terms_failed", "held_failed", after + (tiling.drain > 1))
        fails.append("terms_failed")
    lines += [
        f"  wire fails = {' | '.join(fails) or chr(49) + chr(39) + 'b0'};",
        "  reg failed;",
        "  always @(posedge clk)",
        "    if (rst) failed <= 1'b0;",
        "    else if (made_valid) failed <= ~made_last & (failed | fails);",
        "  assign fail = failed | fails;",
    ]
    return lines

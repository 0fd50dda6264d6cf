"""Stages as Verilog text: the control of a loop nest, joined to the lanes and units of the stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from ..signals import element
from .channel import HEAD, TAIL, Counters
from .control import delays, drains, runs, up
from .counter import bits_of
from .graph import Operand, Stage
from .lane_text import any_result_check, lane, lane_bits, signal_of, unit
from .lending import Sent
from .lent_text import sent_factors, sent_lines, sent_ports, sent_wires
from .pool import Use
from .pool_text import Member
from .sequence import Sequence as Numbers
from .shared_text import shared_ports, shared_reduction
from .tiling import Tiling


@dataclass
class Body:
    """The modules of a stage as text, with estimates of their size in hardware."""

    files: dict[str, str]
    lut: int
    ff: int
    dsp: int
    rom_bits: int


def write_stage(
    stage: Stage,
    tiling: Tiling,
    slots: Mapping[str, Sequence[int]],
    flagged: bool,
    shared: tuple[Member, Use] | None = None,
    waits: bool = False,
    sent: Sent | None = None,
    taken: Mapping[str, frozenset[int]] = MappingProxyType({}),
) -> Body:
    """Return all Verilog modules of a stage as text.

    `slots` gives, for each operand that is read from memory, the column of each place of the operand's table. `shared`
    says how a stage that has no lanes of its own uses the pool, and `waits` whether the stage starts one clock after
    everything that it needs is there. `sent` lists the products that other multipliers make. `taken` has for each
    operand the columns that come from their memories a clock later anyway.
    """
    files: dict[str, str] = {}
    name = stage.name
    unit_text, path, after = unit(f"{name}_unit", stage, tiling.split)
    files[f"{name}_unit.v"] = unit_text
    files.update(path.files)
    made = Body(files, path.lut * tiling.units, path.ff * tiling.units, path.dsp * tiling.units,
                path.rom_bits * tiling.units)  # fmt: skip
    columns = {operand.name: max(slots[operand.name]) + 1 for operand in stage.operands if operand.name in slots}
    ports = ["input wire clk", "input wire rst", "input wire go", "output wire start"]
    by_name = {operand.name: operand for operand in stage.operands}
    for operand, count in columns.items():
        bits = signal_of(by_name[operand], "").width
        ports += [f"input wire [{bits - 1}:0] {operand}_{column}" for column in range(count)]
    inner = any(operand.in_reduction for operand in stage.operands if operand.name in slots)
    terms_fail = False
    outer = any(not operand.in_reduction for operand in stage.operands if operand.name in slots)
    ports += ["output wire t_step", "output wire t_last"] if inner else []
    ports += ["output wire e_step", "output wire e_last"] if outer else []
    ports += ["output wire out_valid", "output wire out_last"]
    width = element(stage.format).width
    ports += [f"output wire [{width - 1}:0] out{place}" for place in range(tiling.units)]
    ports += ["output wire fail"] if flagged else []
    ports += [] if sent is None else sent_ports(sent)
    if shared is not None:
        ports += shared_ports(shared[0], stage, tiling)
        body = shared_reduction(stage, tiling, *shared, lambda operand, column: _read(operand, column, tiling), files)
    elif tiling.reduces:
        lane_text, inside, before = lane(f"{name}_lane", stage, tiling.split)
        files[f"{name}_lane.v"] = lane_text
        files.update(inside.files)
        count = tiling.lanes * tiling.split
        made.lut, made.ff = made.lut + inside.lut * count, made.ff + inside.ff * count
        made.dsp += inside.dsp * count
        made.rom_bits += inside.rom_bits * count
        terms_fail = bool(inside.fails)
        body = _reduction(stage, tiling, slots, by_name, before + tiling.late[0], terms_fail, waits, sent)
        bits = lane_bits(stage, tiling.split) * tiling.split
        made.ff += bits * (tiling.lanes + (tiling.units if tiling.drain > 1 else 0))
        made.lut += bits * -(-(tiling.lanes - tiling.units) // 3) + 12
    else:
        body = _map(tiling, waits)
        made.lut += 8
    counters = Counters(name, files)
    body = [*([] if sent is None else sent_factors(sent)), *_late(tiling, columns, by_name, taken), *body]
    body += [] if sent is None else sent_lines(sent, tiling.late)
    body += _units(stage, tiling, slots, by_name, after, flagged, terms_fail, counters, sent)
    head = (
        f"// {name}: {', '.join(stage.operations)}; makes {stage.format}; {stage.provenance}.\n"
        f"// {tiling.lanes} lanes of {tiling.split} terms a clock, {tiling.passes} passes of {tiling.clocks} clocks, "
        f"{tiling.units} results a clock.\n{HEAD}"
    )
    files[f"{name}.v"] = f"{head}module {name} (\n  " + ",\n  ".join(ports) + "\n);\n" + "\n".join(body) + "\n" + TAIL
    return made


def _read(operand: Operand, column: int, tiling: Tiling) -> str:
    """Return the signal of a column of an operand, either as it comes from memory or one clock later."""
    return f"{operand.name}_{column}" + "_late" * tiling.late[0 if operand.in_reduction else 1]


def _late(
    tiling: Tiling,
    columns: Mapping[str, int],
    operands: Mapping[str, Operand],
    taken: Mapping[str, frozenset[int]],
) -> list[str]:
    """Return the registers between the memories and the lanes or units that read them, unless they are in the channel
    of the memories.
    """
    lines = []
    for name, count in columns.items():
        operand = operands[name]
        bits = signal_of(operand, "").width
        for column in range(count) if tiling.late[0 if operand.in_reduction else 1] else ():
            late = _read(operand, column, tiling)
            if column in taken.get(name, ()):
                lines.append(f"  wire [{bits - 1}:0] {late} = {name}_{column};")
            else:
                lines += [f"  reg [{bits - 1}:0] {late};", f"  always @(posedge clk) {late} <= {name}_{column};"]
    return lines


def _map(tiling: Tiling, waits: bool) -> list[str]:
    """Return the control of a stage without a reduction, which computes a group of elements a clock."""
    step = up("pass", tiling.passes, "running")
    ends = ["  wire e_go = running;", "  wire e_end = running & pass_end;"]
    return ["  reg running;", *step, *runs("pass_end", waits), *ends]


def _reduction(
    stage: Stage,
    tiling: Tiling,
    slots: Mapping[str, Sequence[int]],
    operands: Mapping[str, Operand],
    before: int,
    fails: bool,
    waits: bool,
    sent: Sent | None,
) -> list[str]:
    """Return the control of a stage with a reduction: terms are read, added `1 + before` clocks later, then held and
    drained.
    """
    short = tiling.clocks > tiling.reading
    bits = bits_of(tiling.clocks - 1)
    many = tiling.clocks > 1
    reads = f"running & (t < {bits}'d{tiling.reading})" if short else "running"
    final = f"(t == {bits}'d{tiling.reading - 1})" if many else "1'b1"
    lines = [
        "  reg running;",
        *up("t", tiling.clocks, "running"),
        *up("pass", tiling.passes, "running & t_end"),
        *runs("t_end & pass_end", waits),
        f"  wire reads = {reads};",
        f"  wire opens = running & {f'(t == {bits}' + chr(39) + 'd0)' if many else '1' + chr(39) + 'b1'};",
        f"  wire closes = running & {final};",
        *delays("added", "reads", 1 + before),
        *delays("first", "opens", 1 + before),
        *delays("full", "closes", 2 + before),
        *delays("frame_full", "closes & pass_end", 2 + before),
    ]
    if any(operand.in_reduction for operand in stage.operands if operand.name in slots):
        lines += ["  assign t_step = reads;", "  assign t_last = closes & pass_end;"]
    width = lane_bits(stage, tiling.split)
    if tiling.spare:
        lines += [*delays("closing", "closes", 1 + before), "  wire added_short = added & ~closing;"]
    for place in range(tiling.lanes * tiling.split):
        short = tiling.spare > 0 and place % tiling.split >= tiling.split - tiling.spare
        wires = [".clk(clk)", f".valid({'added_short' if short else 'added'})", ".first(first)"]
        for operand in stage.operands:
            if operand.in_reduction and operand.name in slots:
                sign = "_in" if signal_of(operand, "").signed else ""
                wires.append(f".{operand.name}{sign}({_read(operand, slots[operand.name][place], tiling)})")
        wires += [f".result(lane{place})", *([f".fail(lane{place}_fail)"] if fails else [])]
        wires += [] if sent is None else sent_wires(sent, "lane", place)
        lines.append(f"  wire [{width - 1}:0] lane{place};")
        if fails:
            lines.append(f"  wire lane{place}_fail;")
        lines.append(f"  {stage.name}_lane lane{place}_i ({', '.join(wires)});")
    if fails:
        lines += [
            f"  wire term_fails = {' | '.join(f'lane{place}_fail' for place in range(tiling.lanes * tiling.split))};",
            "  reg term_failed;",
            "  reg held_failed;",
            "  always @(posedge clk) if (added) term_failed <= term_fails | (~first & term_failed);",
            "  always @(posedge clk) if (full) held_failed <= term_failed;",
        ]
    lines += [
        line
        for place in range(tiling.lanes * tiling.split)
        for line in (
            f"  reg [{width - 1}:0] held{place};",
            f"  always @(posedge clk) if (full) held{place} <= lane{place};",
        )
    ]
    shares = [(u, part) for u in range(tiling.units) for part in range(tiling.split)]
    if tiling.drain == 1:
        lines += [f"  wire [{width - 1}:0] unit{u}_{part} = held{u * tiling.split + part};" for u, part in shares]
        lines += ["  wire e_go = full;", "  wire e_end = frame_full;"]
        return lines
    size = bits_of(tiling.drain - 1)
    lines += drains(tiling.drain, 0, "draining")
    for u, part in shares:
        held = [min(k * tiling.units + u, tiling.lanes - 1) * tiling.split + part for k in range(tiling.drain)]
        lines += [
            f"  reg [{width - 1}:0] unit{u}_{part};",
            "  always @(posedge clk)",
            "    case (d)",
            *(f"      {size}'d{k}: unit{u}_{part} <= held{place};" for k, place in enumerate(held[:-1])),
            f"      default: unit{u}_{part} <= held{held[-1]};",
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
    terms_fail: bool,
    counters: Counters,
    sent: Sent | None,
) -> list[str]:
    """Return the units of a stage, and the stage's flag, which says that a Check failed in the frame; `terms_fail` says
    whether one of a term can fail.
    """
    late = tiling.late[1]
    shares = [(u, part) for u in range(tiling.units) for part in range(tiling.split if tiling.reduces else 0)]
    share = "unit{}_{}_late" if late else "unit{}_{}"
    lines = [
        *delays("made_valid", "e_go", 1 + after + late),
        *delays("made_last", "e_end", 1 + after + late),
        "  assign out_valid = made_valid;",
        "  assign out_last = made_last;",
    ]
    if any(not operand.in_reduction for operand in stage.operands if operand.name in slots):
        lines += ["  assign e_step = e_go;", "  assign e_last = e_end;"]
    width = lane_bits(stage, tiling.split) if shares else 0
    for u, part in shares if late else ():
        lines.append(f"  reg [{width - 1}:0] {share.format(u, part)};")
        lines.append(f"  always @(posedge clk) {share.format(u, part)} <= unit{u}_{part};")
    checked = any_result_check(stage)
    for u in range(tiling.units):
        wires = [".clk(clk)"]
        wires += [f".result{part}({share.format(u, part)})" for unit, part in shares if unit == u]
        for operand in stage.operands:
            if not operand.in_reduction and operand.name in slots:
                sign = "_in" if signal_of(operand, "").signed else ""
                wires.append(f".{operand.name}{sign}({_read(operand, slots[operand.name][u], tiling)})")
        wires.append(f".made(out{u})")
        wires += [] if sent is None else sent_wires(sent, "unit", u)
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
    if terms_fail:
        lines += delays("terms_failed", "held_failed", after + (tiling.drain > 1) + late)
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

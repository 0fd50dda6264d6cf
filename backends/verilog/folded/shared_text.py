"""A stage on shared lanes as Verilog text: it gives factors, says when their products are added, and drains the
sums.
"""

from __future__ import annotations

from collections.abc import Callable

from .control import delays, drains, runs, up
from .counter import bits_of
from .feeding import feed_text
from .graph import Operand, Stage
from .lane_text import lane_bits, signal_of
from .pool import EARLY, Use
from .pool_text import Member
from .tiling import Tiling


def shared_ports(one: Member, stage: Stage, tiling: Tiling) -> list[str]:
    """Return the ports of a stage that lead to the pool and come from it."""
    bits = lane_bits(stage, tiling.split)
    ports = ["output wire pool_add", "output wire pool_last", "output wire pool_done"]
    ports += ["output wire pool_short"] if one.short else []
    for side, letter in enumerate("xy"):
        width = one.feeds[side].bits
        for n in range(len(one.made[side])):
            ports.append(f"output {'wire' if n in one.late[side] else 'reg'} [{width - 1}:0] pool_{letter}{n}")
    return ports + [
        f"input wire [{bits - 1}:0] sum{u}_{part}" for u in range(tiling.units) for part in range(tiling.split)
    ]


def shared_reduction(
    stage: Stage,
    tiling: Tiling,
    one: Member,
    use: Use,
    read: Callable[[Operand, int], str],
    files: dict[str, str],
) -> list[str]:
    """Return the control of a stage whose reduction is done on shared lanes.

    In a stage on shared lanes, terms are read, factors are given `1 + use.depth` clocks later, and sums are drained as
    they leave the lanes. `read` returns the name of a column of an operand.
    """
    short = tiling.clocks > tiling.reading
    bits = bits_of(tiling.clocks - 1)
    many = tiling.clocks > 1
    last = f"(t == {bits}'d{tiling.reading - 1})" if many else "1'b1"
    gives = delays("done", "closes & pass_end", use.hold)
    if tiling.reading > 2 and use.hold <= 0:
        gives = delays("done", f"running & (t == {bits}'d{tiling.reading - 2 + use.hold}) & pass_end", 1)
    elif use.hold == EARLY:
        gives = [f"  wire done = running & (t == {bits}'d{tiling.reading - 2}) & pass_end;"]
    lines = [
        "  reg running;",
        *up("t", tiling.clocks, "running"),
        *up("pass", tiling.passes, "running & t_end"),
        *runs("t_end & pass_end", waits=True),
        f"  wire reads = {f'running & (t < {bits}' + chr(39) + f'd{tiling.reading})' if short else 'running'};",
        f"  wire closes = running & {last};",
        *delays("feeds", "reads", use.depth),
        "  reg idle;",
        "  always @(posedge clk) idle <= rst | ~feeds;",
        *delays("added", "feeds", 3),
        *delays("filled", "closes", 3 + use.depth),
        *delays("full", "filled", 2),
        *delays("frame_full", "closes & pass_end", 5 + use.depth),
        *gives,
        "  assign pool_add = added;",
        "  assign pool_last = filled;",
        "  assign pool_done = done;",
    ]
    if one.short:
        lines += [*delays("closing", "closes", 3 + use.depth), "  assign pool_short = added & ~closing;"]
    if any(feed.operands for feed in one.feeds):
        lines += ["  assign t_step = reads;", "  assign t_last = closes & pass_end;"]
    for side in (0, 1):
        lines += _factors(stage, one, side, use.depth, read, files)
    lines += [
        f"  wire [{lane_bits(stage, tiling.split) - 1}:0] unit{u}_{part} = sum{u}_{part};"
        for u in range(tiling.units)
        for part in range(tiling.split)
    ]
    return lines + _drain(tiling)


def _factors(
    stage: Stage, one: Member, side: int, depth: int, read: Callable[[Operand, int], str], files: dict[str, str]
) -> list[str]:
    """Return the first or the second factors of a stage, each in a register; one signal, `idle`, clears all these
    registers, so that clearing takes no LUT. A factor that comes late has no register here, and is cleared by a gate.
    """
    feed, letter, lines = one.feeds[side], "xy"[side], list[str]()
    if one.late[side]:
        lines += [f"  reg idle_late_{letter};", f"  always @(posedge clk) idle_late_{letter} <= idle;"]
    plain = feed.number is not None or (feed.plain and not depth)
    module = f"{stage.name}_feed_{letter}"
    if not plain:
        files[f"{module}.v"] = feed_text(module, stage, feed, max(made.cycle for made in one.feeds))
    for n, columns in enumerate(one.made[side]):
        name = f"pool_{letter}{n}"
        if feed.number is not None:
            text = f"{feed.bits}'d{feed.number & ((1 << feed.bits) - 1)}"
        elif plain:
            text = read(feed.operands[0], columns[0])
        else:
            text = f"{letter}{n}_made"
            wires = [".clk(clk)", f".factor({text})"]
            for operand, column in zip(feed.operands, columns, strict=True):
                sign = "_in" if signal_of(operand, "").signed else ""
                wires.append(f".{operand.name}{sign}({read(operand, column)})")
            lines += [f"  wire [{feed.bits - 1}:0] {text};", f"  {module} {text}_i ({', '.join(wires)});"]
        if n in one.late[side]:
            lines.append(f"  assign {name} = idle_late_{letter} ? {feed.bits}'d0 : {text};")
        else:
            lines.append(f"  always @(posedge clk) {name} <= idle ? {feed.bits}'d0 : {text};")
    return lines


def _drain(tiling: Tiling) -> list[str]:
    """Return the logic that drains sums: the first sums are ready a clock after `full`, and each clock brings the next
    sum of each unit.
    """
    if tiling.drain == 1:
        return ["  wire e_go = full;", "  wire e_end = frame_full;"]
    return drains(tiling.drain, 1, "full | draining")

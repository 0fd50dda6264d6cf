"""Multipliers that stages use in turns, as Verilog text, and the registers of a stage through which factors leave."""

from __future__ import annotations

from collections.abc import Sequence

from .channel import HEAD, TAIL
from .control import delays
from .datapath import AWAY
from .lending import Sent
from .tokens import taking_turns


def sent_ports(sent: Sent) -> list[str]:
    """Return the ports of a stage that lead to multipliers and come from them."""
    ports = ["output wire away_done"]
    for place, (x, y) in enumerate(sent.bits):
        ports += [f"output reg [{x - 1}:0] away{place}_x", f"output reg [{y - 1}:0] away{place}_y"]
        ports.append(f"input wire [{x + y - 1}:0] away{place}")
    return ports


def sent_wires(sent: Sent, side: str, instance: int) -> list[str]:
    """Return the connections between a lane or a unit and the registers of its factors."""
    wires, first = [], sent.place(side, instance)
    for k in range(len(sent.lanes if side == "lane" else sent.units)):
        name = f"away{first + k}"
        wires += [f".away{k}_x({name}_made_x)", f".away{k}_y({name}_made_y)", f".away{k}({name})"]
    return wires


def sent_factors(sent: Sent) -> list[str]:
    """Return the wires of the factors of a stage, from its lanes and its units."""
    pairs = [(place, zip("xy", bits, strict=True)) for place, bits in enumerate(sent.bits)]
    return [f"  wire [{bits - 1}:0] away{place}_made_{letter};" for place, own in pairs for letter, bits in own]


def sent_lines(sent: Sent, late: tuple[bool, bool]) -> list[str]:
    """Return the registers of the factors of a stage, which are 0 while the stage multiplies nothing, and the signal
    that ends the stage's turn.

    So many registers stand between memories and lanes, and between memories and units, as `late` says.
    """
    lines: list[str] = []
    for side, products, count, reads, behind in (
        ("lane", sent.lanes, sent.lane_count, "reads", late[0]),
        ("unit", sent.units, sent.unit_count, "e_go", late[1]),
    ):
        for k, one in enumerate(products):
            idle = f"{side}_away{k}"
            lines += delays(f"{idle}_goes", reads, behind + one.cycle)
            lines += [f"  reg {idle}_idle;", f"  always @(posedge clk) {idle}_idle <= rst | ~{idle}_goes;"]
            for instance in range(count):
                name = f"away{sent.place(side, instance) + k}"
                for letter, bits in zip("xy", one.bits, strict=True):
                    made = f"{name}_made_{letter}"
                    lines.append(f"  always @(posedge clk) {name}_{letter} <= {idle}_idle ? {bits}'d0 : {made};")
    products, ends, behind = (
        (sent.units, "e_end", late[1]) if sent.units else (sent.lanes, "closes & pass_end", late[0])
    )
    lines += delays("away_ends", ends, 1 + behind + max(one.cycle for one in products))
    return [*lines, "  assign away_done = away_ends;"]


def lent_text(name: str, stages: Sequence[tuple[str, Sent]], size: int, bits: tuple[int, int]) -> str:
    """Return the module of `size` multipliers that the given stages, by name, use in this order.

    A factor is the OR of the factors of all stages, of which all are 0 but those of the stage whose turn it is, or
    whose factors are still on their way: each factor reaches its multiplier after the same number of clocks, and the
    product comes back AWAY clocks after the factors have left their unit.
    """
    x, y = bits
    ports = ["input wire clk", "input wire rst"]
    for k, (_, sent) in enumerate(stages):
        ports += [f"input wire m{k}_start", f"output wire m{k}_ready", f"input wire m{k}_done"]
        for place, own in enumerate(sent.bits):
            ports += [f"input wire [{own[0] - 1}:0] m{k}_x{place}", f"input wire [{own[1] - 1}:0] m{k}_y{place}"]
    ports += [f"output reg [{x + y - 1}:0] product{slot}" for slot in range(size)]
    lines = taking_turns([f"m{k}" for k in range(len(stages))], [""] * len(stages))
    for slot in range(size):
        for side, (letter, width) in enumerate(zip("xy", bits, strict=True)):
            some = [
                _extended(f"m{k}_{letter}{slot}", sent.bits[slot][side], width)
                for k, (_, sent) in enumerate(stages)
                if slot < len(sent.bits)
            ]
            lines += [
                f"  reg [{width - 1}:0] {letter}{slot};",
                f"  always @(posedge clk) {letter}{slot} <= {' | '.join(some)};",
            ]
        lines += [
            f"  wire signed [{x + y - 1}:0] wide_x{slot} = $signed({{{{{y}{{x{slot}[{x - 1}]}}}}, x{slot}}});",
            f"  wire signed [{x + y - 1}:0] wide_y{slot} = $signed({{{{{x}{{y{slot}[{y - 1}]}}}}, y{slot}}});",
            f"  always @(posedge clk) product{slot} <= wide_x{slot} * wide_y{slot};",
        ]
    assert AWAY == 3, "a register of the stage, one of the factors here, and one of the product"
    whom = ", then ".join(stage for stage, _ in stages)
    head = f"// {size} multipliers for {whom}.\n{HEAD}module {name} (\n  " + ",\n  ".join(ports) + "\n);\n"
    return head + "\n".join(lines) + "\n" + TAIL


def _extended(signal: str, own: int, bits: int) -> str:
    """Return a signed factor of `own` bits, extended to `bits` bits."""
    return signal if own == bits else f"{{{{{bits - own}{{{signal}[{own - 1}]}}}}, {signal}}}"

"""What every stage is controlled by, as Verilog text: counters, when it runs, and signals some clocks later."""

from __future__ import annotations

from .counter import bits_of


def up(name: str, count: int, guard: str) -> list[str]:
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


def runs(end: str) -> list[str]:
    """What starts and ends a frame; `running` is declared before the counters, which read it."""
    return [
        f"  wire ending = {end};",
        "  assign start = go & (~running | ending);",
        "  always @(posedge clk) running <= ~rst & (start | (running & ~ending));",
    ]


def delays(name: str, source: str, cycles: int) -> list[str]:
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

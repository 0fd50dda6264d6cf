"""The control of every stage as Verilog text: counters, the signal that the stage is running, and delayed signals."""

from __future__ import annotations

from .counter import bits_of


def up(name: str, count: int, guard: str) -> list[str]:
    """Return a counter from 0 to count - 1 that moves in clocks in which `guard` is 1, and the wire NAME_end, which is
    1 at the last number.
    """
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


def runs(end: str, waits: bool = False) -> list[str]:
    """Return the logic that starts and ends a frame of a stage; `running` is declared before the counters, which read
    it.

    A stage that `waits` starts one clock after everything that the stage needs is there, and not in the last clock of a
    frame. What the stage needs stays until the stage starts, so a register may stand between the two, and the paths to
    the start and from the start are short.
    """
    went = ["  reg went;", "  always @(posedge clk) went <= ~rst & go;"] if waits else []
    return [
        *went,
        f"  wire ending = {end};",
        f"  assign start = {'went & ~running' if waits else 'go & (~running | ending)'};",
        "  always @(posedge clk) running <= ~rst & (start | (running & ~ending));",
    ]


def delays(name: str, source: str, cycles: int) -> list[str]:
    """Return a signal `name` that is `source` delayed by `cycles` clocks; a reset clears the registers of the delay."""
    if cycles == 0:
        return [f"  wire {name} = {source};"]
    if cycles == 1:
        return [f"  reg {name};", f"  always @(posedge clk) {name} <= ~rst & {source};"]
    return [
        f"  reg [{cycles - 1}:0] {name}_line;",
        f"  always @(posedge clk) {name}_line <= rst ? {cycles}'d0 : {{{name}_line[{cycles - 2}:0], {source}}};",
        f"  wire {name} = {name}_line[{cycles - 1}];",
    ]


def drains(clocks: int, first: int, goes: str) -> list[str]:
    """Return the counter `d` of the clocks in which the results of a pass leave; `d` is `first` in the clock after
    `full`, and the stage computes while `goes` is 1.
    """
    size = bits_of(clocks - 1)
    return [
        "  reg draining;",
        "  reg frame_drains;",
        f"  reg [{size - 1}:0] d;",
        f"  wire d_end = d == {size}'d{clocks - 1};",
        "  always @(posedge clk)",
        "    if (rst) begin",
        "      draining <= 1'b0;",
        "      frame_drains <= 1'b0;",
        f"      d <= {size}'d{first};",
        "    end else if (full) begin",
        "      draining <= 1'b1;",
        "      frame_drains <= frame_full;",
        f"      d <= {size}'d{first};",
        "    end else if (draining) begin",
        "      draining <= ~d_end;",
        f"      d <= d + {size}'d1;",
        "    end",
        f"  wire e_go = {goes};",
        "  wire e_end = draining & d_end & frame_drains;",
    ]

"""The status of each frame as Verilog text, and the queues of what it is made of."""

from __future__ import annotations

from .counter import bits_of, counts
from .streams import module_text


def status(name: str, flags: int, states: int, kept: bool, waits: bool = False, rounds: int = 1) -> str:
    """Return the module of the status, which offers one beat a frame once every flag of the frame is ready and, if the
    frame changes state, all of this state has been read. A status that `waits` offers the beat one clock later, from
    registers.

    When a status of 0 is taken, the banks of all states change places if the frame `keeps` what it wrote: one register,
    which no reset clears, says for all states which bank holds the state that was kept last.

    Of several `rounds` of a frame, the last alone has a beat, which is 1 if any of them failed; the banks change places
    after each round that follows no failed one.
    """
    ports = ["input wire clk", "input wire rst"]
    ports += [f"input wire ready{k}" for k in range(flags)] + [f"input wire fail{k}" for k in range(flags)]
    ports += [f"input wire done{k}" for k in range(states)]
    ports += ["output wire take", "output wire [0:0] tdata", "output wire tvalid", "input wire tready"]
    ports += ["output wire tlast"] + (["input wire keeps", "output reg [0:0] bank"] if kept else [])
    ready = [f"ready{k}" for k in range(flags)] + [f"done{k}" for k in range(states)]
    failed, whole = " | ".join(f"fail{k}" for k in range(flags)), " & ".join(ready)
    fails, shows = (failed, whole) if not waits else ("failed", "shown")
    lines = ["  reg shown;", "  reg failed;"] * waits
    if rounds > 1:
        lines += [
            *counts("count", rounds - 1, "take"),
            "  reg sticky;",
            f"  assign tdata = sticky | {fails};",
            f"  wire there = {shows} & ~rst;",
            "  assign tvalid = there & count_ends;",
            "  assign take = there & (tready | ~count_ends);",
            "  always @(posedge clk)",
            "    if (rst) sticky <= 1'b0;",
            "    else if (take) sticky <= ~count_ends & tdata[0];",
        ]
    else:
        lines += [f"  assign tdata = {fails};", f"  assign tvalid = {shows} & ~rst;"]
        lines.append("  assign take = tvalid & tready;")
    lines.append("  assign tlast = 1'b1;")
    if waits:
        lines += [
            "  always @(posedge clk) begin",
            f"    shown <= ~rst & ~take & {whole};",
            f"    failed <= {failed};",
            "  end",
        ]
    if kept:
        lines += ["  initial bank = 1'b0;", "  always @(posedge clk) if (take & keeps & ~tdata[0]) bank <= ~bank;"]
    else:
        lines.append("  wire clk_unused = clk;")
    comment = "The status of each frame: 1 where a Check failed or its inputs were wrong." + (
        " State changes only where it is taken with 0." * kept
    )
    return module_text(name, comment, ports, lines)


def flags(name: str, depth: int) -> str:
    """Return the module of a queue of flags, one bit a frame in order; a place in the queue is taken when a stage
    starts a frame.
    """
    ports = ["input wire clk", "input wire rst", "input wire w_start", "output wire w_free", "input wire w_valid"]
    ports += ["input wire w_fail", "input wire r_take", "output wire r_ready", "output wire r_fail"]
    bits = bits_of(depth)
    shift = [f"fails <= {{fails[{depth - 2}:0], w_fail}}" if depth > 1 else "fails <= w_fail"]
    choices = [f"(filled == {bits}'d{k + 1}) ? fails[{k}] : " for k in range(depth - 1)]
    lines = [
        f"  reg [{depth - 1}:0] fails;",
        f"  reg [{bits - 1}:0] filled;",
        f"  reg [{bits - 1}:0] taken;",
        f"  assign w_free = taken != {bits}'d{depth};",
        f"  assign r_ready = filled != {bits}'d0;",
        f"  assign r_fail = {''.join(choices)}fails[{depth - 1}];",
        f"  always @(posedge clk) if (w_valid) {shift[0]};",
        "  always @(posedge clk)",
        "    if (rst) begin",
        f"      filled <= {bits}'d0;",
        f"      taken <= {bits}'d0;",
        "    end else begin",
        f"      if (w_valid & ~r_take) filled <= filled + {bits}'d1;",
        f"      if (~w_valid & r_take) filled <= filled - {bits}'d1;",
        f"      if (w_start & ~r_take) taken <= taken + {bits}'d1;",
        f"      if (~w_start & r_take) taken <= taken - {bits}'d1;",
        "    end",
    ]
    return module_text(
        name,
        "Whether a Check of a stage failed, or a frame's beats were wrong: one bit a frame, in order.",
        ports,
        lines,
    )

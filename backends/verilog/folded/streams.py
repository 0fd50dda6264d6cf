"""Streams as Verilog text: receivers at the inputs, senders at the outputs, and the status of each frame."""

from __future__ import annotations

from collections.abc import Sequence

from .channel import HEAD, TAIL
from .counter import bits_of


def receiver(name: str, comment: str, beats: int, lanes: int, width: int) -> str:
    """Takes a frame's beats once there is room for all of it."""
    ports = [
        "input wire clk",
        "input wire rst",
        f"input wire [{lanes * width - 1}:0] tdata",
        "input wire tvalid",
        "output wire tready",
        "input wire tlast",
        "input wire w_free",
        "output wire w_start",
        "output wire w_valid",
        "output wire w_last",
        *[f"output wire [{width - 1}:0] out{lane}" for lane in range(lanes)],
    ]
    lines = ["  wire tlast_unused = tlast;", "  assign w_valid = tvalid & tready;"]
    if beats == 1:
        lines += ["  assign tready = w_free;", "  assign w_start = w_valid;", "  assign w_last = 1'b1;"]
        lines += ["  wire clk_unused = clk ^ rst;"]
    else:
        bits = bits_of(beats - 1)
        lines += [
            f"  reg [{bits - 1}:0] beat;",
            f"  wire first = beat == {bits}'d0;",
            f"  assign w_last = beat == {bits}'d{beats - 1};",
            "  assign tready = w_free | ~first;",
            "  assign w_start = w_valid & first;",
            "  always @(posedge clk)",
            f"    if (rst) beat <= {bits}'d0;",
            f"    else if (w_valid) beat <= w_last ? {bits}'d0 : beat + {bits}'d1;",
        ]
    lines += [f"  assign out{lane} = tdata[{(lane + 1) * width - 1}:{lane * width}];" for lane in range(lanes)]
    return _module(name, comment, ports, lines)


def sender(name: str, comment: str, beats: int, lanes: int, width: int) -> str:
    """Sends a frame's beats, read a clock before."""
    ports = [
        "input wire clk",
        "input wire rst",
        *[f"input wire [{width - 1}:0] in{lane}" for lane in range(lanes)],
        "input wire r_ready",
        "output wire r_start",
        "output wire r_step",
        "output wire r_last",
        f"output wire [{lanes * width - 1}:0] tdata",
        "output wire tvalid",
        "input wire tready",
        "output wire tlast",
    ]
    bits = bits_of(beats - 1)
    lines = [
        "  reg active;",
        "  reg shown;",
        "  reg closing;",
        "  wire moves = ~shown | tready;",
        "  assign r_step = active & moves;",
        "  assign r_start = r_ready & (~active | (r_step & r_last));",
        "  assign tvalid = shown;",
        "  assign tlast = closing;",
        f"  assign tdata = {{{', '.join(f'in{lane}' for lane in reversed(range(lanes)))}}};",
        "  always @(posedge clk)",
        "    if (rst) begin",
        "      active <= 1'b0;",
        "      shown <= 1'b0;",
        "      closing <= 1'b0;",
        "    end else begin",
        "      active <= r_start | (active & ~(r_step & r_last));",
        "      if (moves) begin",
        "        shown <= active;",
        "        closing <= active & r_last;",
        "      end",
        "    end",
    ]
    if beats == 1:
        lines.append("  assign r_last = 1'b1;")
    else:
        lines += [
            f"  reg [{bits - 1}:0] beat;",
            f"  assign r_last = beat == {bits}'d{beats - 1};",
            "  always @(posedge clk)",
            f"    if (rst) beat <= {bits}'d0;",
            f"    else if (r_step) beat <= r_last ? {bits}'d0 : beat + {bits}'d1;",
        ]
    return _module(name, comment, ports, lines)


def status(name: str, flags: int, states: int) -> str:
    """One beat a frame, once every flag of the frame is there and, where there is state, all of it has been read."""
    ports = ["input wire clk", "input wire rst"]
    ports += [f"input wire ready{k}" for k in range(flags)] + [f"input wire fail{k}" for k in range(flags)]
    ports += [f"input wire done{k}" for k in range(states)]
    ports += ["output wire take", "output wire [0:0] tdata", "output wire tvalid", "input wire tready"]
    ports += ["output wire tlast"] + (["output wire keep"] if states else [])
    ready = [f"ready{k}" for k in range(flags)] + [f"done{k}" for k in range(states)]
    lines = [
        "  reg shown;",
        "  reg failed;",
        f"  wire fails = {' | '.join(f'fail{k}' for k in range(flags))};",
        f"  assign take = {' & '.join(ready)} & (~shown | tready);",
        "  assign tdata = failed;",
        "  assign tvalid = shown;",
        "  assign tlast = 1'b1;",
        "  always @(posedge clk) begin",
        "    shown <= ~rst & (take | (shown & ~tready));",
        "    if (take) failed <= fails;",
        "  end",
    ]
    if states:
        lines.append("  assign keep = ~fails;")
    comment = "The status of each frame: 1 where a Check failed." + (
        " State changes only where none did." * bool(states)
    )
    return _module(name, comment, ports, lines)


def flags(name: str, depth: int) -> str:
    """One bit a frame, in order; places are taken when a stage starts a frame."""
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
    return _module(name, "Whether a Check of a stage failed: one bit a frame, in order.", ports, lines)


def _module(name: str, comment: str, ports: Sequence[str], lines: Sequence[str]) -> str:
    body = "\n".join(lines)
    return f"// {comment}\n{HEAD}module {name} (\n  " + ",\n  ".join(ports) + f"\n);\n{body}\n{TAIL}"

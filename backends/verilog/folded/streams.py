"""Streams as Verilog text: receivers at the inputs, and senders at the outputs."""

from __future__ import annotations

from collections.abc import Sequence

from ..design import Stream
from ..signals import element, literal
from .channel import HEAD, TAIL
from .counter import bits_of, counts


def receiver(name: str, comment: str, stream: Stream, rounds: int = 1, once: bool = False) -> str:
    """Return the module of a receiver, which takes a frame's beats once there is room for the whole frame, and writes
    them a clock later.

    A receiver always writes as many beats as a frame has: after an early `tlast` it makes up the missing beats, and
    after a last beat without `tlast` it skips all beats up to the next `tlast`. `fail` is 1 with the last beat that is
    written if `tlast` came early or late, an element was outside its interval, or `tuser` was 1.

    If a frame has several `rounds`, the receiver writes the beats of one after another, as soon as there is room for
    the round. If it takes them `once`, the frame has the beats of the first round alone, and what is written in later
    rounds is never used.
    """
    beats, lanes, width = stream.beats, stream.lanes, stream.element_bits
    ports = [
        "input wire clk",
        "input wire rst",
        f"input wire [{stream.data_bits - 1}:0] tdata",
        "input wire tvalid",
        "output wire tready",
        "input wire tlast",
        "input wire tuser",
        "input wire w_free",
        "output wire w_start",
        "output reg w_valid",
        "output reg w_last",
        "output reg fail",
        *[f"output reg [{width - 1}:0] out{lane}" for lane in range(lanes)],
    ]
    lines = ["  reg skipping;"]
    if rounds > 1:
        lines += _receiving_rounds(stream, rounds, once)
    elif beats == 1:
        lines += [
            "  assign tready = ~rst & (skipping | w_free);",
            "  wire moves = tvalid & tready;",
            "  wire writes = moves & ~skipping;",
            "  assign w_start = writes;",
            "  wire last = 1'b1;",
            "  always @(posedge clk)",
            "    if (rst) skipping <= 1'b0;",
            "    else if (moves) skipping <= ~tlast;",
            f"  wire fails = {' | '.join(['~tlast', 'tuser', *_outside(stream)])};",
        ]
    else:
        bits = bits_of(beats - 1)
        lines += [
            "  reg filling;",
            "  reg failed;",
            f"  reg [{bits - 1}:0] beat;",
            f"  wire first = beat == {bits}'d0;",
            f"  wire last = beat == {bits}'d{beats - 1};",
            "  assign tready = ~rst & ~filling & (skipping | w_free | ~first);",
            "  wire moves = tvalid & tready;",
            "  wire writes = filling | (moves & ~skipping);",
            "  assign w_start = writes & first;",
            f"  wire fails = {' | '.join(['failed', 'tuser', '(tlast ^ last)', *_outside(stream)])};",
            "  always @(posedge clk)",
            "    if (rst) begin",
            "      skipping <= 1'b0;",
            "      filling <= 1'b0;",
            "      failed <= 1'b0;",
            f"      beat <= {bits}'d0;",
            "    end else begin",
            "      if (moves) skipping <= ~tlast & (skipping | last);",
            "      filling <= ~last & (filling | (moves & ~skipping & tlast));",
            "      if (writes) failed <= ~last & fails;",
            f"      if (writes) beat <= last ? {bits}'d0 : beat + {bits}'d1;",
            "    end",
        ]
    lines += [
        "  // What is written goes far: to every memory that keeps it.",
        "  always @(posedge clk) begin",
        "    w_valid <= writes & ~rst;",
        "    w_last <= last;",
        "    fail <= fails;",
        *[f"    out{lane} <= tdata[{(lane + 1) * width - 1}:{lane * width}];" for lane in range(lanes)],
        "  end",
    ]
    return module_text(name, comment, ports, lines)


def _receiving_rounds(stream: Stream, rounds: int, once: bool) -> list[str]:
    """Return the lines of a receiver that say when beats are taken and written, if a frame has several rounds."""
    first = f"beat == {bits_of(stream.beats - 1)}'d0" if stream.beats > 1 else "1'b1"
    closes = f"last & (count == {bits_of(rounds - 1)}'d0)" if once else "ends"
    fills = "(tlast | closes)" if once else "tlast"
    return [
        "  reg filling;",
        "  reg failed;",
        "  wire writes;",
        *counts("beat", stream.beats - 1, "writes"),
        *counts("count", rounds - 1, "writes & beat_ends"),
        f"  wire first = {first};",
        "  wire last = beat_ends;",
        "  wire ends = last & count_ends;",
        f"  wire closes = {closes};",
        "  wire room = w_free | ~first;",
        "  assign tready = ~rst & ~filling & (skipping | room);",
        "  wire moves = tvalid & tready;",
        "  assign writes = (filling & room) | (moves & ~skipping);",
        "  assign w_start = writes & first;",
        f"  wire fails = failed | (~filling & ({' | '.join(['tuser', '(tlast ^ closes)', *_outside(stream)])}));",
        "  always @(posedge clk)",
        "    if (rst) begin",
        "      skipping <= 1'b0;",
        "      filling <= 1'b0;",
        "      failed <= 1'b0;",
        "    end else begin",
        "      if (moves) skipping <= ~tlast & (skipping | closes);",
        f"      filling <= ~(writes & ends) & (filling | (moves & ~skipping & {fills}));",
        "      if (writes) failed <= ~ends & fails;",
        "    end",
    ]


def _outside(stream: Stream) -> list[str]:
    """Return expressions that are 1 if an element is outside its interval; none if its bits can hold nothing outside
    it.
    """
    signal = element(stream.format)
    width, signed = signal.width, signal.signed
    spare = stream.beats * stream.lanes - stream.format.size
    found = []
    for lane in range(stream.lanes):
        bits = f"tdata[{(lane + 1) * width - 1}:{lane * width}]"
        value = f"$signed({bits})" if signed else bits
        tests = []
        for sign, end, reached in zip("<>", (signal.low, signal.high), signal.held, strict=True):
            if end != reached:
                number = literal(end, width) if signed else f"{width}'d{end}"
                tests.append(f"({value} {sign} {number})")
        if not tests:
            return []
        past = lane >= stream.lanes - spare
        text = " | ".join(tests)
        found += [f"(~last & ({text}))"] if past else tests
    return found


def sender(
    name: str,
    comment: str,
    stream: Stream,
    waits: bool = False,
    late: bool = False,
    rounds: int = 1,
    once: bool = False,
) -> str:
    """Return the module of a sender, which sends the beats of a frame a clock after it reads them. A sender that
    `waits` sends them from a register, two clocks after it reads them.

    A sender that waits may take words that come a clock `late` from their memory, and sends them three clocks after it
    reads them. Its output `r_holds` is 1 if all that was read must stay as it is.

    If a frame has several `rounds`, it has the beats of all of them or, if the sender sends `once`, those of the last;
    the output `gone` is 1 where the last beat of a round leaves, or would leave if it was sent.
    """
    beats, lanes, width = stream.beats, stream.lanes, stream.element_bits
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
        *(["output wire r_holds"] if late else []),
        *(["output wire gone"] if rounds > 1 else []),
    ]
    bits = bits_of(beats - 1)
    beat = f"{{{', '.join(f'in{lane}' for lane in reversed(range(lanes)))}}}"
    moves, valid, closes = "  wire moves = ~shown | tready;", "shown & ~rst", "closing"
    if rounds > 1:
        closes = "closing & count_ends"
    if rounds > 1 and once:
        moves, valid = "  wire moves = ~shown | tready | ~count_ends;", "shown & ~rst & count_ends"
    registers = [
        "  reg read;",
        "  reg ends;",
        f"  reg [{lanes * width - 1}:0] held;",
        moves,
        f"  wire steps = {'moves' if late else '~read | moves'};",
        f"  always @(posedge clk) if (moves) held <= {beat};",
        "  always @(posedge clk)",
        "    if (rst) begin",
        "      read <= 1'b0;",
        "      ends <= 1'b0;",
        "    end else if (steps) begin",
        "      read <= active;",
        "      ends <= active & r_last;",
        "    end",
    ]
    shown, closing = ("read", "ends") if waits else ("active", "active & r_last")
    if late:
        shown, closing = "chosen", "chosen_ends"
        registers += [
            "  reg chosen;",
            "  reg chosen_ends;",
            "  assign r_holds = ~moves;",
            "  always @(posedge clk)",
            "    if (rst) begin",
            "      chosen <= 1'b0;",
            "      chosen_ends <= 1'b0;",
            "    end else if (moves) begin",
            "      chosen <= read;",
            "      chosen_ends <= ends;",
            "    end",
        ]
    lines = [
        *(counts("count", rounds - 1, "gone") if rounds > 1 else []),
        "  reg active;",
        "  reg shown;",
        "  reg closing;",
        *(registers if waits else [moves]),
        *(["  assign gone = shown & moves & closing;"] if rounds > 1 else []),
        f"  assign r_step = active & {'steps' if waits else 'moves'};",
        "  assign r_start = r_ready & (~active | (r_step & r_last));",
        f"  assign tvalid = {valid};",
        f"  assign tlast = {closes};",
        f"  assign tdata = {'held' if waits else beat};",
        "  always @(posedge clk)",
        "    if (rst) begin",
        "      active <= 1'b0;",
        "      shown <= 1'b0;",
        "      closing <= 1'b0;",
        "    end else begin",
        "      active <= r_start | (active & ~(r_step & r_last));",
        "      if (moves) begin",
        f"        shown <= {shown};",
        f"        closing <= {closing};",
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
    return module_text(name, comment, ports, lines)


def module_text(name: str, comment: str, ports: Sequence[str], lines: Sequence[str]) -> str:
    """Return a module with the given comment, ports and lines."""
    body = "\n".join(lines)
    return f"// {comment}\n{HEAD}module {name} (\n  " + ",\n  ".join(ports) + f"\n);\n{body}\n{TAIL}"

"""Streams as Verilog text: receivers at the inputs, senders at the outputs, and the status of each frame."""

from __future__ import annotations

from collections.abc import Sequence

from ..design import Stream
from ..signals import element, literal
from .channel import HEAD, TAIL
from .counter import bits_of


def receiver(name: str, comment: str, stream: Stream) -> str:
    """Return the module of a receiver, which takes a frame's beats once there is room for the whole frame, and writes
    them a clock later.

    A receiver always writes as many beats as a frame has: after an early `tlast` it makes up the missing beats, and
    after a last beat without `tlast` it skips all beats up to the next `tlast`. `fail` is 1 with the last beat that is
    written if `tlast` came early or late, an element was outside its interval, or `tuser` was 1.
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
    if beats == 1:
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
    return _module(name, comment, ports, lines)


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


def sender(name: str, comment: str, stream: Stream, waits: bool = False, late: bool = False) -> str:
    """Return the module of a sender, which sends the beats of a frame a clock after it reads them. A sender that
    `waits` sends them from a register, two clocks after it reads them.

    A sender that waits may take words that come a clock `late` from their memory, and sends them three clocks after it
    reads them. Its output `r_holds` is 1 if all that was read must stay as it is.
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
    ]
    bits = bits_of(beats - 1)
    beat = f"{{{', '.join(f'in{lane}' for lane in reversed(range(lanes)))}}}"
    registers = [
        "  reg read;",
        "  reg ends;",
        f"  reg [{lanes * width - 1}:0] held;",
        "  wire moves = ~shown | tready;",
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
        "  reg active;",
        "  reg shown;",
        "  reg closing;",
        *(registers if waits else ["  wire moves = ~shown | tready;"]),
        f"  assign r_step = active & {'steps' if waits else 'moves'};",
        "  assign r_start = r_ready & (~active | (r_step & r_last));",
        "  assign tvalid = shown & ~rst;",
        "  assign tlast = closing;",
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
    return _module(name, comment, ports, lines)


def status(name: str, flags: int, states: int, kept: bool, waits: bool = False) -> str:
    """Return the module of the status, which offers one beat a frame once every flag of the frame is ready and, if the
    frame changes state, all of this state has been read. A status that `waits` offers the beat one clock later, from
    registers.

    When a status of 0 is taken, the banks of all states change places if the frame `keeps` what it wrote: one register,
    which no reset clears, says for all states which bank holds the state that was kept last.
    """
    ports = ["input wire clk", "input wire rst"]
    ports += [f"input wire ready{k}" for k in range(flags)] + [f"input wire fail{k}" for k in range(flags)]
    ports += [f"input wire done{k}" for k in range(states)]
    ports += ["output wire take", "output wire [0:0] tdata", "output wire tvalid", "input wire tready"]
    ports += ["output wire tlast"] + (["input wire keeps", "output reg [0:0] bank"] if kept else [])
    ready = [f"ready{k}" for k in range(flags)] + [f"done{k}" for k in range(states)]
    failed, whole = " | ".join(f"fail{k}" for k in range(flags)), " & ".join(ready)
    lines = [f"  assign tdata = {failed};", f"  assign tvalid = {whole} & ~rst;"]
    if waits:
        lines = ["  reg shown;", "  reg failed;", "  assign tdata = failed;", "  assign tvalid = shown & ~rst;"]
    lines += ["  assign take = tvalid & tready;", "  assign tlast = 1'b1;"]
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
    return _module(name, comment, ports, lines)


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
    return _module(
        name,
        "Whether a Check of a stage failed, or a frame's beats were wrong: one bit a frame, in order.",
        ports,
        lines,
    )


def _module(name: str, comment: str, ports: Sequence[str], lines: Sequence[str]) -> str:
    body = "\n".join(lines)
    return f"// {comment}\n{HEAD}module {name} (\n  " + ",\n  ".join(ports) + f"\n);\n{body}\n{TAIL}"

"""A bench of one channel in Icarus: a writer, readers and a status that do at random clocks what they may."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
from tiers import count

from circuitize.backends.verilog.folded.channel import Channel, write_channel
from circuitize.backends.verilog.folded.guests import guest
from circuitize.backends.verilog.folded.layout import layout
from circuitize.backends.verilog.folded.reads import Reads

WORDS = 5
CLOCKS = count(2_500, deep=6_000)


def channel(readers: int, banks: int, shows: bool | None) -> Channel:
    """Five elements of a byte, written one a clock, read in order by one reader and backwards by the others.

    `shows` is None for what is queued; else it is state, and the last reader may be one of what is written.
    """
    written = np.arange(WORDS)[:, None]
    valid = np.ones(written.shape, bool)
    host = layout(Reads.of(written, valid), written, WORDS)
    others = [guest(host, Reads.of(written[::-1], valid[::-1]), written, WORDS) for _ in range(readers - 1)]
    layouts = (host, *(other for other in others if other is not None))
    assert len(layouts) == readers
    first = np.stack([written, value(0, written)], axis=2)
    parted, held = (frozenset[int](),) * readers, (False,) * readers
    return Channel("kept", 8, layouts, banks, "kept", parted, held, None if shows is None else first, bool(shows))


def value(frame: int, element: np.ndarray) -> np.ndarray:
    """What a frame holds."""
    return (frame * 37 + element * 11 + 5) % 256


def text(channel: Channel, slow: bool) -> str:
    """The bench: it says `wrong` at the first element that is not the frame's, and at last how many frames went by."""
    state, count = channel.initial is not None, len(channel.layouts)
    names = ["r" if k == 0 else f"r{k}" for k in range(count)]
    wires = [".clk(clk)", ".rst(rst)", ".w_valid(w_valid)", ".w_data0(w_value)"]
    wires += [] if state else [".w_start(w_start)"]
    wires += [".w_free(w_free)", ".w_last(w_last)"] if not state or channel.shows else []
    wires += [".commit(commit)", ".r_bank(bank)", ".all_done(all_done)", ".steady(1'b0)"] if state else []
    for name in names:
        wires += [f".{name}_{signal}({name}_{signal})" for signal in ("start", "ready", "step", "done")]
        wires.append(f".{name}_data0({name}_data)")
    readers = "".join(_reader(k, name, channel, state) for k, name in enumerate(names))
    opens = "commit" if state else "w_valid & w_last"
    return f"""\
module bench;
  reg clk = 0, rst = 1, open = 1, writing = 0, made = 0, bank = 0;
  integer seed = 1, element = 0, frame = {1 if state else 0}, kept = 0, ended = 0;
  reg [31:0] chance = 0;
  wire w_free;
  wire all_done;
{"" if not state or channel.shows else "  assign w_free = 1'b1;"}
  wire w_start = open & ~writing & w_free & chance[0] & ~rst;
  wire w_valid = writing & {"~chance[1] & ~chance[16]" if slow else "chance[1]"}, w_last = element == {WORDS - 1};
  wire [7:0] w_value = frame * 37 + element * 11 + 5;
  wire commit = {"all_done & made & chance[2]" if state else "1'b0"}, keeps = chance[3];
  always #1 clk = ~clk;
{_declared(names)}
  kept kept_i ({", ".join(wires)});
  always @(posedge clk) begin
    chance <= $urandom(seed) | $urandom(seed) >> 16;
    if (w_start) begin writing <= 1; open <= 0; end
    if (w_valid) element <= w_last ? 0 : element + 1;
    if (w_valid & w_last) begin writing <= 0; made <= 1; end
    if ({opens}) begin open <= 1; made <= 0; frame <= frame + 1; ended <= ended + 1; end
    if (commit & keeps) begin bank <= ~bank; kept <= frame; end
  end
{readers}
  initial begin
    #4 rst = 0;
    #{2 * CLOCKS} $display("ended %0d", ended);
    $finish;
  end
endmodule
"""


def _declared(names: list[str]) -> str:
    return "\n".join(f"  wire {n}_start, {n}_ready, {n}_step, {n}_done;\n  wire [7:0] {n}_data;" for n in names)


def _reader(number: int, name: str, channel: Channel, state: bool) -> str:
    """One that reads a frame as soon as it wants to; a sender, the last one, shows an element until it is taken."""
    sends = number == len(channel.layouts) - 1 and number > 0
    at = f"{name}_at" if number == 0 else f"{WORDS - 1} - {name}_at"
    own = "kept" if state and not (sends and channel.shows) else f"{name}_frame"
    seen = f"{name}_seen"
    bits = 4 + 3 * number
    step, done = f"{name}_active & chance[{bits}]", f"{name}_step & {name}_i == {WORDS - 1}"
    if sends:
        step = f"{name}_active & (~{name}_shown | chance[{bits}])"
        done = f"{name}_shown & chance[{bits}] & ~{name}_active"
    shown = f"{name}_step | ({name}_shown & ~chance[{bits}])" if sends else f"{name}_step"
    return f"""\
  reg {name}_active = 0, {name}_shown = 0;
  integer {name}_i = 0, {name}_at = 0, {seen} = 0, {name}_frame = {1 if state else 0};
  wire {name}_last = {name}_step & {name}_i == {WORDS - 1};
  wire {name}_idle = {f"~{name}_active & ~{name}_shown" if sends else f"~{name}_active | {name}_last"};
  assign {name}_start = {name}_ready & {name}_idle & chance[{bits + 1}] & ~rst;
  assign {name}_step = {step};
  assign {name}_done = {done};
  wire [7:0] {name}_wanted = {seen} * 37 + ({at}) * 11 + 5;
  always @(posedge clk) begin
    if ({name}_step) begin
      {name}_at <= {name}_i;
      {seen} <= {own};
      {name}_i <= {name}_i + 1;
      if ({name}_last) {name}_active <= 0;
    end
    if ({name}_start) begin {name}_active <= 1; {name}_i <= 0; end
    {name}_shown <= {shown};
    if ({name}_done) {name}_frame <= {name}_frame + 1;
    if ({name}_shown & {name}_data !== {name}_wanted) begin
      $display("wrong {name} %0d", {name}_frame);
      $finish;
    end
  end
"""


def run(channel: Channel, folder: Path, fault: tuple[str, str] | None = None) -> tuple[bool, int]:
    """Whether all readers got what they should, and how many frames ended at least, with quick and slow writers.

    `fault` is a guard of the channel and what stands there without it.
    """
    files: dict[str, str] = {}
    files["kept.v"] = write_channel(channel, files)
    if fault is not None:
        assert fault[0] in files["kept.v"], files["kept.v"]
        files["kept.v"] = files["kept.v"].replace(*fault)
    said = []
    for slow in (False, True):
        files["bench.v"] = "`default_nettype wire\n" + text(channel, slow)
        for name, content in files.items():
            (folder / name).write_text(content)
        sources = sorted(name for name in files if name.endswith(".v"))
        subprocess.run(["iverilog", "-g2005", "-o", "bench", *sources], cwd=folder, check=True)
        done = subprocess.run(["vvp", "-n", "bench"], cwd=folder, capture_output=True, text=True, check=True)
        said.append(done.stdout)
    ended = [int(one.rpartition("ended ")[2]) for one in said if "ended" in one]
    return not any("wrong" in one for one in said), min(ended, default=0)

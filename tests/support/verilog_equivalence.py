"""Whether a changed design equals the original, shown by yosys and ABC, which share nothing with the checker.

yosys makes gates and registers of a design, each register that has no first value with an input for it. Either the
changed modules have the same gates, or ABC shows that all outputs and all next states of both designs are equal for all
inputs and all states, or a sequence of clocks is unrolled from a reset, and ABC shows that all outputs are equal in
each clock, or that each stream has the same beats in the same order, if the clocks in which it has them are known.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import accumulate
from pathlib import Path

from circuitize.backends.verilog.design import STATUS

WRAPPER = "frames"
"""The module that surrounds a design and offers it frames."""


PATIENCE = 120
"""Seconds after which ABC leaves a comparison undecided."""

KEPT = "setattr -set keep 1 t:$dff* t:$sdff* t:$_*DFF*"
"""The command of yosys by which registers that nothing reads stay, since designs are compared register by register."""


PRODUCT_FILE = "product.map"
PRODUCT = """
(* techmap_celltype = "$mul" *)
module product (A, B, Y);
  parameter A_SIGNED = 0, B_SIGNED = 0, A_WIDTH = 1, B_WIDTH = 1, Y_WIDTH = 1;
  input [A_WIDTH-1:0] A;
  input [B_WIDTH-1:0] B;
  output [Y_WIDTH-1:0] Y;
  localparam SIGNED = A_SIGNED && B_SIGNED;
  wire [Y_WIDTH+A_WIDTH-1:0] a = {{Y_WIDTH{SIGNED & A[A_WIDTH-1]}}, A};
  wire [Y_WIDTH+B_WIDTH-1:0] b = {{Y_WIDTH{SIGNED & B[B_WIDTH-1]}}, B};
  wire [(Y_WIDTH+1)*Y_WIDTH-1:0] sums;
  assign sums[Y_WIDTH-1:0] = {Y_WIDTH{1'b0}};
  genvar i;
  generate for (i = 0; i < Y_WIDTH; i = i + 1) begin : row
    wire [Y_WIDTH-1:0] term = (b[Y_WIDTH-1:0] & {Y_WIDTH{a[i]}}) << i;
    assign sums[(i+1)*Y_WIDTH +: Y_WIDTH] = sums[i*Y_WIDTH +: Y_WIDTH] + term;
  end endgenerate
  assign Y = sums[Y_WIDTH*Y_WIDTH +: Y_WIDTH];
endmodule
"""
"""Products row by row. By itself yosys adds the rows in an order that any other name in the design changes, and ABC
cannot show that two large sums of the same rows are equal.
"""


class Equality(StrEnum):
    """How two designs were shown to be equal."""

    GATES = "same gates"
    STATES = "equal states"
    FRAMES = "equal frames"
    BEATS = "equal beats"


@dataclass(frozen=True)
class Timing:
    """Frames that are offered to a design after one clock of a reset: the beats of each input stream in a frame, after
    how many clocks the next frame begins, and in how many clocks outputs are compared.

    The beats of a frame are offered on all streams from its first clock on, a beat a clock until it is taken; an output
    is taken in the clock in which it is offered. All data, and the ready signals of outputs that are not offered, are
    free. With a frame a clock, the status comes with the outputs, and what leaves with status 1 is not compared.
    Registers and memories begin with any words, or with their first values if `starts` is true.
    """

    beats: Mapping[str, int]
    period: int
    clocks: int
    starts: bool = False


@dataclass
class Original:
    """A design that others are compared with: its top module, its files by name, the timings of which one is enough to
    show another design equal by its frames, and an empty folder for the files of yosys and ABC. Without timings,
    what is compared is only the changed module, with the modules in it.
    """

    top: str
    files: Mapping[str, str]
    timings: Sequence[Timing]
    folder: Path
    _made: dict[str, Path] = field(default_factory=dict)
    _netlists: dict[str, str] = field(default_factory=dict)

    def same_gates(self, files: Mapping[str, str]) -> bool:
        """Whether the modules of all changed files have the same gates, and no other file was changed."""
        changed = sorted(name for name in files if files[name] != self.files.get(name))
        if files.keys() != self.files.keys() or not all(name.endswith(".v") for name in changed):
            return False
        return all(self._own(name) == self._netlist(files, name) for name in changed)

    def equality(self, files: Mapping[str, str]) -> Equality | None:
        """How a changed design is shown to be equal to this one; None if it is not shown."""
        if self.same_gates(files):
            return Equality.GATES
        compared = self.top if self.timings else self._changed(files)
        if compared and _equal(self._states(self.files, compared), self._states(files, compared)):
            return Equality.STATES
        starts = self._starts(files) == self._starts(self.files)
        for number, timing in enumerate(self.timings):
            if starts or timing.starts:
                frames = [self._frames(which, number) for which in (self.files, files)]
                if _equal(*frames):
                    return Equality.FRAMES
                widths = _widths(_ports(self.files[f"{self.top}.v"]), timing)
                beats = [_beats(made, widths) for made in frames]
                if None not in beats and _equal(*filter(None, beats)):
                    return Equality.BEATS
        return None

    def _changed(self, files: Mapping[str, str]) -> str:
        """The only module that is changed, if it has no parameters, or an empty name."""
        changed = [name for name in files if files[name] != self.files.get(name)]
        plain = len(changed) == 1 and changed[0].endswith(".v") and "parameter" not in self.files[changed[0]]
        return changed[0].removesuffix(".v") if plain else ""

    def _starts(self, files: Mapping[str, str]) -> list[str]:
        """The first values of registers and memories."""
        texts = [files[name] for name in sorted(files)]
        lines = (line for text in texts for line in text.splitlines() if "initial" in line)
        return [*lines, *(files[name] for name in sorted(files) if name.endswith(".hex"))]

    def _own(self, name: str) -> str:
        if name not in self._netlists:
            self._netlists[name] = self._netlist(self.files, name)
        return self._netlists[name]

    def _netlist(self, files: Mapping[str, str], name: str) -> str:
        """The gates of a file's module, with all parameters with which the design places it, as text."""
        module, folder = name.removesuffix(".v"), self._folder(files)
        steps = [f"{step} N:*{module}*" for step in ("proc", "techmap", "opt_clean", "select")]
        yosys(f"{_read(files, self.top)}; {'; '.join(steps)}; write_rtlil -selected netlist", folder)
        text = re.sub(r"^\s*attribute \\src .*\n", "", (folder / "netlist").read_text(), flags=re.MULTILINE)
        return re.sub(r"^(\s*wire .*)signed ", r"\1", text, flags=re.MULTILINE)

    def _states(self, files: Mapping[str, str], top: str) -> Path:
        """The outputs and next states of a module, as a network without registers."""
        name = f"states of {top}"
        if files is self.files and name in self._made:
            return self._made[name]
        return self._kept(files, name, _abc(self._gates(files, top, ""), "read_aiger {0}; comb; write_aiger {1}"))

    def _frames(self, files: Mapping[str, str], number: int) -> Path:
        """What a design tells of frames in all clocks of a timing, as a network without registers."""
        name, timing = f"frames {number}", self.timings[number]
        if files is self.files and name in self._made:
            return self._made[name]
        surrounded = {**files, f"{WRAPPER}.v": wrapper(self.files[f"{self.top}.v"], self.top, timing)}
        gates = self._gates(surrounded, WRAPPER, "" if timing.starts else "setattr -unset init w:dut.*; ")
        return self._kept(
            files, name, _abc(gates, f"read_aiger {{0}}; frames -F {timing.clocks} -i; write_aiger {{1}}")
        )

    def _kept(self, files: Mapping[str, str], name: str, made: Path) -> Path:
        if files is self.files:
            self._made[name] = made
        return made

    def _gates(self, files: Mapping[str, str], top: str, unset: str) -> Path:
        """The gates of a design, in AIGER; `unset` is a command that leaves out the first values of registers."""
        folder = self._folder(files)
        (folder / PRODUCT_FILE).write_text(PRODUCT)
        script = (
            f"{_read(files, top)}; proc; flatten; {KEPT}; memory -nomap; memory_map; dffunmap; "
            f"techmap -map {PRODUCT_FILE}; techmap; dffunmap; "
            f"{KEPT}; opt_clean; setundef -undriven -anyseq; {unset}aigmap; write_rtlil gates.il"
        )
        yosys(script, folder)
        # What is read again is in the order of names, so that inputs for first values come in one order.
        yosys("read_rtlil gates.il; write_aiger -zinit gates.aig", folder)
        return folder / "gates.aig"

    def _folder(self, files: Mapping[str, str]) -> Path:
        """A folder with the files of a design, which is kept if it is the original."""
        folder = self.folder / ("original" if files is self.files else "other")
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text)
        return folder


def _read(files: Mapping[str, str], top: str) -> str:
    sources = " ".join(sorted(name for name in files if name.endswith(".v")))
    return f"read_verilog {sources}; hierarchy -check -top {top}"


def yosys(script: str, folder: Path) -> None:
    done = subprocess.run(["yosys", "-q", "-p", script], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(f"yosys: {(done.stdout + done.stderr)[-1000:]}")


def _abc(gates: Path, commands: str) -> Path:
    """What ABC makes of gates; {0} and {1} in its commands are the names of the files that it reads and writes."""
    with tempfile.NamedTemporaryFile(suffix=".aig", dir=gates.parent, delete=False) as file:
        made = Path(file.name)
    told = _abc_says(commands.format(gates, made))
    if not made.stat().st_size:
        raise ValueError(f"abc: {told[-1000:]}")
    return made


def _equal(one: Path, other: Path) -> bool:
    """Whether ABC shows that two networks without registers are equal."""
    return "Networks are equivalent" in _abc_says(f"&cec -C 100000 -T {PATIENCE} {one} {other}")


def _beats(frames: Path, widths: Sequence[int]) -> Path | None:
    """A network whose outputs are those of one that is unrolled, stream by stream, of the clocks with a beat; None if
    the clocks depend on inputs or first values. The lowest bit of a stream tells whether it has one.
    """
    header, rest = frames.read_bytes().split(b"\n", 1)
    most, inputs, latches, told, gates = map(int, header.split()[1:6])
    assert not latches
    *lines, tail = rest.split(b"\n", told)
    clocks = [lines[first : first + sum(widths)] for first in range(0, told, sum(widths))]
    kept: list[bytes] = []
    for first, width in zip(accumulate(widths, initial=0), widths, strict=False):
        stream = [clock[first : first + width] for clock in clocks]
        if any(moved not in {b"0", b"1"} for moved, *_ in stream):
            return None
        beats = [clock for clock in stream if clock[0] == b"1"]
        kept += [b"%d" % (len(beats) >> bit & 1) for bit in range(32)]
        kept += [bit for beat in beats for bit in beat[1:]]
    made = frames.with_suffix(".beats.aig")
    made.write_bytes(b"\n".join([b"aig %d %d 0 %d %d" % (most, inputs, len(kept), gates), *kept, tail]))
    return made


def _abc_says(commands: str) -> str:
    done = subprocess.run(["yosys-abc", "-c", commands], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def wrapper(text: str, top: str, timing: Timing) -> str:
    """A module that offers frames to the module `top` of a text, and whose outputs are what the design tells."""
    ports, free, lines = _ports(text), [], []
    for name in _streams(ports):
        lines.append(f"  wire {name}_tvalid, {name}_tready, {name}_tlast;")
        lines += [f"  wire [{ports[f'{name}_{wire}'] - 1}:0] {name}_{wire};" for wire in ("tdata", "tkeep")]
        free.append(f"input wire {name}_any")
        if name in timing.beats:
            free += [f"input wire [{ports[f'{name}_{wire}'] - 1}:0] {name}_{wire}_any" for wire in ("tdata", "tkeep")]
            lines += [f"  assign {name}_{wire} = {name}_{wire}_any;" for wire in ("tdata", "tkeep")]
            lines += _sender(name, timing.beats[name])
        else:
            lines.append(f"  assign {name}_tready = {name}_tvalid | {name}_any;")
    void = f"{STATUS}_tvalid & {STATUS}_tdata[0]" if timing.period == 1 else "1'b0"
    pins = ", ".join(f".{name}({name})" for name in ports)
    outputs = [f"output wire [{width - 1}:0] told{n}" for n, width in enumerate(_widths(ports, timing))]
    return "\n".join(
        [
            f"module {WRAPPER}(input wire clk, {', '.join([*free, *outputs])});",
            "  reg rst = 1'b1; always @(posedge clk) rst <= 1'b0;",
            "  reg [31:0] clock = 32'd0;",
            f"  wire again = rst | (clock == 32'd{timing.period - 1});",
            "  always @(posedge clk) clock <= again ? 32'd0 : clock + 32'd1;",
            *lines,
            f"  wire void = {void};",
            *(f"  assign told{n} = {_told(name, ports, timing)};" for n, name in enumerate(_streams(ports))),
            f"  {top} dut({pins});",
            "endmodule",
            "",
        ]
    )


def _ports(text: str) -> dict[str, int]:
    """The widths of the ports of the module that a text begins with."""
    return {name: int(most or 0) + 1 for most, name in re.findall(r"put wire (?:\[(\d+):0\] )?(\w+)[,\n]", text)}


def _streams(ports: Mapping[str, int]) -> list[str]:
    return [name.removesuffix("_tdata") for name in ports if name.endswith("_tdata")]


def _told(name: str, ports: Mapping[str, int], timing: Timing) -> str:
    """What a design tells of a stream: in the lowest bit whether a beat moves, above it what is in one that leaves."""
    if name in timing.beats:
        return f"{name}_tready & {name}_tvalid"
    seen = f"{name}_tvalid" if name == STATUS else f"{name}_tvalid & ~void"
    held = [f"{{{ports[f'{name}_{wire}']}{{{seen}}}}} & {name}_{wire}" for wire in ("tkeep", "tdata")]
    return f"{{{name}_tvalid & {name}_tlast, {', '.join(held)}, {name}_tvalid}}"


def _widths(ports: Mapping[str, int], timing: Timing) -> list[int]:
    """How many bits a design tells of each stream."""
    every = _streams(ports)
    return [1 if n in timing.beats else ports[f"{n}_tdata"] + ports[f"{n}_tkeep"] + 2 for n in every]


def _sender(name: str, beats: int) -> list[str]:
    """A counter of the beats of a frame that were taken. In the reset anything is offered."""
    return [
        f"  reg [31:0] {name}_beat = 32'd0;",
        f"  assign {name}_tvalid = rst ? {name}_any : {name}_beat < 32'd{beats};",
        f"  assign {name}_tlast = {name}_beat == 32'd{beats - 1};",
        f"  wire [31:0] {name}_next = {name}_beat + {{31'd0, {name}_tvalid & {name}_tready}};",
        f"  always @(posedge clk) {name}_beat <= again ? 32'd0 : {name}_next;",
    ]

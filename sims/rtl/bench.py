"""The test bench of a design: plain Verilog that drives every stream with random gaps and writes the outputs to
files.
"""

from __future__ import annotations

from circuitize.backends.verilog.design import CLOCK, RESET, STATUS, Bus, Design
from circuitize.backends.verilog.shell.registers import BUS, PORTS

from .beats import data_digits, line_length

TOP, CLOCKED = "bench", "bench_clock"
"""The two modules of a test bench: the bench takes the clock as an input, so that a simulator without delays can drive
it; the second module makes the clock.
"""

MOST_RESETS = 2048
"""The most resets in one simulation."""

_HEAD = """\
`default_nettype none

module {clocked};
  reg clk;
  initial clk = 1'b0;
  always #1 clk = ~clk;
  {top} bench(.clk(clk));
endmodule

module {top}(input wire clk);
  integer quiet_limit, quiet, drain;
  integer resets, turn, rest, length, closing, kept;
  reg [31:0] plan [0:{most}];
  reg [31:0] seed;
  reg gaps;
  reg rst, earlier_rst;
  wire aborts = rst & ~earlier_rst;
  reg [39:0] cycle;
  initial begin
    if (!$value$plusargs("quiet=%d", quiet_limit)) quiet_limit = 100000;
    seed = 0;
    gaps = $value$plusargs("seed=%d", seed) != 0;
    if (!$value$plusargs("resets=%d", resets)) resets = 0;
    if (resets > 0) $readmemh("resets.hex", plan);
    turn = 0;
    rst = 1'b1;
    earlier_rst = 1'b1;
    closing = 0;
    rest = 0;
    length = 1;
    kept = 0;
    cycle = 0;
    quiet = 0;
    drain = 0;
  end

  function [31:0] following(input [31:0] state);
    reg [31:0] x;
    begin
      x = state ^ (state << 13);
      x = x ^ (x >> 17);
      following = x ^ (x << 5);
    end
  endfunction

  // How many of 256 cycles go ahead, chosen anew every 64 cycles: nearly stopped, some, most, all.
  function [8:0] duty(input [1:0] choice);
    duty = choice == 0 ? 9'd12 : choice == 1 ? 9'd90 : choice == 2 ? 9'd200 : 9'd256;
  endfunction
"""

_STREAM = """
  reg [31:0] {n}_random;
  reg [8:0] {n}_duty;
  integer {n}_beats, {n}_file, {n}_total;
  wire {n}_go = !gaps || {{1'b0, {n}_random[15:8]}} < {n}_duty;
  always @(posedge clk) begin
    if (cycle < 9) begin
      {n}_random <= (seed * 32'h9e3779b9) ^ 32'd{number};
      {n}_duty <= 9'd128;
    end else if (gaps || cycle[5:0] == 6'd{phase}) begin
      {n}_random <= following({n}_random);
      if (cycle[5:0] == 6'd{phase}) {n}_duty <= duty({n}_random[25:24]);
    end
  end
"""

_INPUT = """
  reg [{high}:0] {n}_tdata;
  reg [{digits} * 4 + 3:0] {n}_line;
  reg {n}_tvalid, {n}_tlast;
  wire {n}_tready;
  integer {n}_place, {n}_found;
  initial begin
    {n}_file = $fopen("in_{n}.hex", "r");
    if (!$value$plusargs("beats_{n}=%d", {n}_total)) {n}_total = 0;
    {n}_beats = 0;
    {n}_place = 0;
    {n}_tvalid = 1'b0;
    {n}_tlast = 1'b0;
    {n}_tdata = 0;
  end
  always @(posedge clk) if (aborts) begin
    {n}_tvalid <= 1'b0;
    {n}_place = kept * {beats};
    {n}_found = $fseek({n}_file, {n}_place * {length}, 0);
  end else begin
    if ({n}_tvalid && {n}_tready) begin
      if ({n}_beats == 0) $display("first {n} %0d", cycle);
      {n}_beats = {n}_beats + 1;
    end
    if (!{n}_tvalid || {n}_tready) begin
      if ({n}_file != 0 && {n}_place < {n}_total && {n}_go) begin
        {n}_found = $fscanf({n}_file, "%h", {n}_line);
        if ({n}_found != 1) $display("missing {n} %0d", cycle);
        {n}_tdata <= {n}_line[{high}:0];
        {n}_tlast <= {n}_line[{digits} * 4];
        {n}_tvalid <= 1'b1;
        {n}_place = {n}_place + 1;
      end else begin
        if ({n}_tvalid) {n}_tdata <= ~{n}_tdata;
        {n}_tlast <= {n}_random[3];
        {n}_tvalid <= 1'b0;
      end
    end
    if ({n}_tready === 1'bx) $display("unknown {n}_tready %0d", cycle);
    if (rst && {n}_tready) $display("eager {n}_tready %0d", cycle);
  end
"""

_OUTPUT = """
  wire [{high}:0] {n}_tdata;
  wire {n}_tvalid, {n}_tlast;
  reg {n}_tready, {n}_stalled;
  integer {n}_ends;
  reg [{wide}:0] {n}_before;
  initial begin
    {n}_file = $fopen("out_{n}.hex", "w");
    if (!$value$plusargs("beats_{n}=%d", {n}_total)) {n}_total = {beats};
    {n}_beats = 0;
    {n}_ends = 0;
    {n}_tready = 1'b0;
    {n}_stalled = 1'b0;
    {n}_before = 0;
  end
  always @(posedge clk) begin
    if (!rst) begin
      if ({n}_tvalid && {n}_tready) begin
        $fwrite({n}_file, "%h%h%h\\n", cycle, {n}_tlast, {n}_tdata);
        {n}_beats = {n}_beats + 1;
        if ({n}_tlast) {n}_ends = {n}_ends + 1;
      end
      if ({n}_stalled && (!{n}_tvalid || {{{n}_tlast, {n}_tdata}} !== {n}_before)) $display("unsteady {n} %0d", cycle);
    end else if ({n}_tvalid) $display("eager {n}_tvalid %0d", cycle);
    {n}_stalled <= !rst && {n}_tvalid && !{n}_tready;
    {n}_before <= {{{n}_tlast, {n}_tdata}};
    {n}_tready <= {n}_go && (!(gaps && {n}_random[{patient}]) || {n}_tvalid);
    if ({n}_tvalid === 1'bx) $display("unknown {n}_tvalid %0d", cycle);
  end
"""


_KEEP = """
  wire [{bits}:0] {n}_tkeep = {n}_tlast ? {last} : {every};
"""

_KEPT = """
  wire [{bits}:0] {n}_tkeep;
  always @(posedge clk)
    if (!rst && {n}_tvalid && {n}_tkeep !== ({n}_tlast ? {last} : {every})) $display("kept {n} %0d", cycle);
"""


def bench(design: Design) -> str:
    """Return the Verilog text of the test bench. The test bench reads `in_NAME.hex`, with a line of last and data for
    each beat, and writes `out_NAME.hex`, with a line of cycle, last and data for each beat.

    The simulator's argument `+beats_NAME=N` says how many beats go in or come out; `+seed=N` asks for random gaps and
    stalls; `+quiet=N` says after how many cycles without a beat the bench gives up. The simulator's argument
    `+resets=N` resets the design N times: `resets.hex` has for each reset a line with the cycles before it and within
    it, and a last line with the cycles to the end. After a reset the test bench begins every input again with the first
    frame whose status was not taken. The test bench prints `first`, `reset` (and how many statuses were taken),
    `unknown`, `unsteady`, `eager`, `kept`, `beats`, `done` and `quiet`, each in a line with its place and time. In the
    test bench, data lines carry noise while `tvalid` is low, inputs are also offered during resets, and some ready
    signals wait for `tvalid`, as the protocol allows.
    """
    parts = [_HEAD.format(top=TOP, clocked=CLOCKED, most=2 * MOST_RESETS + 1)]
    for number, stream in enumerate(design.buses):
        fields = {
            "n": stream.name,
            "number": number * 7919 + 12345,
            "phase": number * 11 % 64,
            "high": stream.data_bits - 1,
            "wide": stream.data_bits,
            "beats": stream.beats,
            "patient": 16 + number % 4,
            "digits": data_digits(stream),
            "length": line_length(stream),
        }
        parts.append((_STREAM + (_OUTPUT if stream.output else _INPUT)).format(**fields))
        if stream.keep:
            bits = stream.data_bits // 8
            kept = {"every": f"{bits}'h{stream.every_keep:x}", "last": f"{bits}'h{stream.last_keep:x}"}
            parts.append((_KEPT if stream.output else _KEEP).format(n=stream.name, bits=bits - 1, **kept))
    parts.append(_instance(design))
    parts.append(_ending(design))
    return "".join(parts)


def _instance(design: Design) -> str:
    """Return the instance of a design in its bench, where nothing writes the design's registers, and which marks no
    beat as wrong.
    """
    pins = [f".{CLOCK}(clk)", f".{RESET}(rst)"]
    for bus in design.buses:
        pins += [f".{bus.name}_{wire}({_given(bus, wire)})" for wire in bus.wires]
    if design.control:
        pins += [f".{BUS}_{wire}({bits}'d0)" for wire, (way, bits) in PORTS.items() if way == "input"]
        pins += [f".{BUS}_{wire}()" for wire, (way, _) in PORTS.items() if way == "output"]
    return f"\n  {design.top} design_under_test(\n    " + ",\n    ".join(pins) + "\n  );\n"


def _given(bus: Bus, wire: str) -> str:
    return "1'b0" if wire == "tuser" else f"{bus.name}_{wire}"


def _ending(design: Design) -> str:
    buses = design.buses
    moves = " || ".join(f"({bus.name}_tvalid && {bus.name}_tready)" for bus in buses)
    complete = " && ".join(f"{bus.name}_beats >= {bus.name}_total" for bus in buses if bus.output)
    counts = "\n".join(f'      $display("beats {bus.name} %0d", {bus.name}_beats);' for bus in buses)
    telling = next((bus for bus in buses if any(stream.name == STATUS for stream in bus.streams)), None)
    taken = "0" if telling is None else f"{telling.name}_ends"
    return f"""
  always @(posedge clk) begin
    cycle <= cycle + 1;
    earlier_rst <= rst;
    if (cycle == 8) rst <= 1'b0;
    if (cycle > 8 && resets > 0) begin
      rest = rest - 1;
      if (rest == 0) rst <= 1'b1;
    end
    if (resets > 0 && (cycle == 8 || rest + length == 0)) begin
      rst <= 1'b0;
      if (cycle > 8) resets = resets - 1;
      rest = plan[2 * turn];
      length = plan[2 * turn + 1];
      turn = turn + 1;
      if (resets == 0) closing = rest;
    end
    if (rst && !earlier_rst) $display("reset %0d %0d", cycle, kept);
    if (!rst && ({moves})) quiet = 0;
    else quiet = quiet + 1;
    if (closing > 0) begin
      closing = closing - 1;
      if (closing == 0) drain = 100;
    end else if (resets == 0 && {complete}) drain = drain + 1;
    if (drain == 100 || quiet > quiet_limit) begin
      $display("%0s %0d", drain == 100 ? "done" : "quiet", cycle);
{counts}
      $finish;
    end
  end
  always @(negedge clk) kept = {taken};
endmodule

`default_nettype wire
"""

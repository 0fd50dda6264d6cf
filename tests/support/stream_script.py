"""Runs a design in Icarus by a script: beats one by one, resets and pauses where the script has them."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from circuitize.backends.verilog.design import Design

Event = tuple[str, int, int]
"""A beat that an output gave: the stream, its `tlast` and its data; ("reset", 0, 0) where a reset begins,
("stuck", 0, 0) at the end of a script that waits for ever."""


def scripted(design: Design, script: list[str]) -> list[Event]:
    """What comes out, in order. The script is Verilog, in cycles:

    `send_NAME(DATA, LAST);` offers a beat until it is taken; `pause(N);` waits; `reset(N);` holds `rst` for N cycles.
    Outputs are ready unless the script sets `NAME_tready`. Beats that enter in one cycle stand in `fork ... join`.
    """
    lines = ["module bench;", "reg clk, rst;", "initial begin clk = 0; rst = 1; end", "always #5 clk = ~clk;"]
    lines += ["task pause(input integer n); #(10 * n); endtask"]
    lines += ['task reset(input integer n); begin $display("reset 0 0"); rst = 1; #(10 * n); rst = 0; end endtask']
    pins = [".clk(clk)", ".rst(rst)"]
    for stream in design.streams:
        name, high = stream.name, stream.data_bits - 1
        pins += [f".{name}_{wire}({name}_{wire})" for wire in ("tdata", "tvalid", "tready", "tlast")]
        pins += [f".{name}_tuser(1'b0)"] * stream.user
        driven, seen = ("tready", "tvalid, {0}_tlast") if stream.output else ("tvalid, {0}_tlast", "tready")
        lines.append(f"reg {name}_{driven.format(name)}; wire {name}_{seen.format(name)};")
        lines.append(f"{'wire' if stream.output else 'reg'} [{high}:0] {name}_tdata;")
        if stream.output:
            lines.append(f"initial {name}_tready = 1;")
            lines.append(
                f"always @(posedge clk) if (!rst && {name}_tvalid && {name}_tready) "
                f'$display("{name} %b %h", {name}_tlast, {name}_tdata);'
            )
        else:
            lines.append(f"initial begin {name}_tvalid = 0; {name}_tlast = 0; {name}_tdata = 0; end")
            lines.append(
                f"task send_{name}(input [{high}:0] value, input last); begin {name}_tdata = value; "
                f"{name}_tlast = last; {name}_tvalid = 1; #8; while (!{name}_tready) #10; #2; "
                f"{name}_tvalid = 0; end endtask"
            )
    lines.append(f"{design.top} design_under_test({', '.join(pins)});")
    lines += ['initial begin #1000000; $display("stuck 0 0"); $finish; end']
    lines += ["initial begin", "#6;", "pause(4); rst = 0;", *script, "$finish;", "end", "endmodule"]
    with tempfile.TemporaryDirectory(prefix="circuitize-tests-") as made:
        folder = Path(made)
        for name, text in {**design.files, "bench.v": "\n".join(lines) + "\n"}.items():
            (folder / name).write_text(text)
        sources = ["bench.v", *(name for name in design.files if name.endswith(".v"))]
        built = ["iverilog", "-g2005", "-o", "bench.vvp", "-s", "bench", *sources]
        subprocess.run(built, cwd=folder, check=True, capture_output=True)
        done = subprocess.run(["vvp", "-n", "bench.vvp"], cwd=folder, check=True, capture_output=True, text=True)
    events = []
    for line in done.stdout.splitlines():
        name, last, data = line.split()
        known = set(last + data) <= set("0123456789abcdef")
        events.append((name, int(last) if known else -1, int(data, 16) if known else -1))
    return events

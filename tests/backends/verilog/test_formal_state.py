"""State of a parallel design for all inputs, pauses and resets within 24 clocks: proved by yosys, and refuted of seven
designs that differ in one place.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from folded_programs import named
from sat_proofs import never_bad

from circuitize.backends.verilog.parallel import schedule
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Add, Check
from circuitize.circuits.types import Fixed

STEPS = 24
WRAPPER = """module wrapper(
  input wire clk, input wire rst, input wire [3:0] more, input wire valid, input wire last, input wire user,
  input wire total_ready, input wire old_ready, input wire status_ready, output wire bad);
wire ready, total_valid, total_last, old_valid, old_last, status_valid, status_last, status;
wire [3:0] total, old;
parallel design_under_test(.clk(clk), .rst(rst),
  .more_tdata(more), .more_tvalid(valid), .more_tready(ready), .more_tlast(last), .more_tuser(user),
  .total_tdata(total), .total_tvalid(total_valid), .total_tready(total_ready), .total_tlast(total_last),
  .y0_tdata(old), .y0_tvalid(old_valid), .y0_tready(old_ready), .y0_tlast(old_last),
  .status_tdata(status), .status_tvalid(status_valid), .status_tready(status_ready), .status_tlast(status_last));
reg [3:0] kept; initial kept = 4'd5;
reg [3:0] before; reg [3:0] given; reg wrong; reg skips; reg running;
wire signed [4:0] sum = $signed({before[3], before}) + $signed({given[3], given});
wire fails = wrong | sum[4] != sum[3];
wire enters = valid & ready & ~skips & ~rst;
always @(posedge clk) begin
  if (rst) skips <= 1'b0; else if (valid & ready) skips <= ~last;
  if (rst) running <= 1'b0; else if (enters) running <= 1'b1; else if (status_valid & status_ready) running <= 1'b0;
  if (enters) begin given <= more; before <= kept; wrong <= ~last | user; end
  if (status_valid & status_ready & ~fails) kept <= sum[3:0];
end
assign bad = rst & (ready | total_valid | old_valid | status_valid)
  | enters & running | status_valid & (~running | status != fails)
  | total_valid & ~fails & total != sum[3:0] | old_valid & old != before;
endmodule
"""
"""An account of a frame apart: what it was given, the total before it, and the total that was kept last."""


def counter() -> dict[str, str]:
    """The files of a total that a frame adds to, which also tells the total before; it begins with 5."""
    builder, format = Builder(), Fixed((), 0, -8, 7)
    total, more = builder.input(format), builder.input(format)
    made = builder.add(Check(-8, 7), builder.add(Add(), total, more))
    program = named(builder, ["total", "more"], [made, total], held=["total"])
    return dict(schedule(program, initial={"total": np.array(5)}).files)


def test_state_is_that_of_the_last_frame_that_was_kept(tmp_path: Path) -> None:
    assert never_bad(counter(), WRAPPER, STEPS, tmp_path)


CHANGES = {
    "a failed frame is kept": ("status_tready & ~status_tdata[0];", "status_tready;"),
    "kept before it is taken": ("kept = status_tvalid & status_tready", "kept = status_tvalid"),
    "frames together": ("idle = ~(|occupied);", "idle = 1'b1;"),
    "enters as the state changes": ("idle = ~(|occupied);", "idle = enable & ~occupied[0];"),
    "another first value": ("state = {\n        4'd5", "state = {\n        4'd4"),
    "loads that go on": ("load1 = arrived;", "load1 = 1'b1;"),
    "valid during a reset": (
        "status_tvalid = occupied[1] & ~taken[2] & ~rst;",
        "status_tvalid = occupied[1] & ~taken[2];",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changes_are_refuted(change: str, tmp_path: Path) -> None:
    files, (right, wrong) = counter(), CHANGES[change]
    ((name, text),) = [(name, text) for name, text in files.items() if right in text]
    assert text.count(right) == 1
    assert not never_bad({**files, name: text.replace(right, wrong)}, WRAPPER, STEPS, tmp_path)

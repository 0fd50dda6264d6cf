"""Rounds of a parallel design for all inputs, pauses and resets within 26 clocks: proved by yosys, and refuted of
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
from circuitize.circuits.integers import Add, Check, Sum, View
from circuitize.circuits.types import Fixed

STEPS = 26
WRAPPER = """module wrapper(
  input wire clk, input wire rst, input wire [1:0] x, input wire valid, input wire last, input wire user,
  input wire total_ready, input wire y_ready, input wire status_ready, output wire bad);
wire ready, total_valid, total_last, y_valid, y_last, status_valid, status_last, status;
wire [3:0] total;
wire [1:0] y;
parallel design_under_test(.clk(clk), .rst(rst),
  .x_tdata(x), .x_tvalid(valid), .x_tready(ready), .x_tlast(last), .x_tuser(user),
  .total_tdata(total), .total_tvalid(total_valid), .total_tready(total_ready), .total_tlast(total_last),
  .y0_tdata(y), .y0_tvalid(y_valid), .y0_tready(y_ready), .y0_tlast(y_last),
  .status_tdata(status), .status_tvalid(status_valid), .status_tready(status_ready), .status_tlast(status_last));
reg [3:0] kept; initial kept = 4'd5;
reg [3:0] before; reg [1:0] first; reg [1:0] second;
reg [1:0] came; reg [1:0] gone; reg told; reg shown; reg wrong; reg skips;
wire signed [4:0] both = $signed({{3{first[1]}}, first}) + $signed({{3{second[1]}}, second});
wire signed [4:0] sum = $signed({before[3], before}) + both;
wire fails = wrong | sum[4] != sum[3];
wire enters = valid & ready & ~skips & ~rst;
wire begins = enters & came != 2'd1;
always @(posedge clk) begin
  if (rst) skips <= 1'b0;
  else if (valid & ready) skips <= ~last & (skips | came == 2'd1);
  if (rst) came <= 2'd0;
  else if (begins) came <= last ? 2'd2 : 2'd1;
  else if (enters) came <= 2'd2;
  if (begins) begin first <= x; before <= kept; wrong <= last | user; end
  else if (enters) begin second <= x; wrong <= wrong | ~last | user; end
  if (rst | begins) begin gone <= 2'd0; told <= 1'b0; shown <= 1'b0; end
  else begin
    if (y_valid & y_ready) gone <= gone + 2'd1;
    if (status_valid & status_ready) told <= 1'b1;
    if (total_valid & total_ready) shown <= 1'b1;
  end
  if (status_valid & status_ready & ~fails) kept <= sum[3:0];
end
wire over = told & shown & gone == 2'd2;
assign bad = rst & (ready | total_valid | y_valid | status_valid)
  | begins & came == 2'd2 & ~over
  | status_valid & (came != 2'd2 | told | status != fails | ~status_last)
  | total_valid & (came != 2'd2 | shown | ~total_last | ~fails & total != sum[3:0])
  | y_valid & (came == 2'd0 | gone == 2'd2 | came == 2'd1 & gone == 2'd1 | y_last != gone[0])
  | y_valid & ~wrong & y != (gone[0] ? second : first);
endmodule
"""
"""An account of a frame of two beats apart: what came, what has gone, and the total that was kept last."""


def counter() -> dict[str, str]:
    """The files of a total, at first 5, to which each frame adds two numbers, which it also gives; in two rounds."""
    builder = Builder()
    total, x = builder.input(Fixed((), 0, -8, 7)), builder.input(Fixed((2,), 0, -2, 1))
    more = builder.add(Sum(View.broadcast((2,), (0,))), x)
    made = builder.add(Check(-8, 7), builder.add(Add(), total, more))
    program = named(builder, ["total", "x"], [made, x], held=["total"])
    return dict(schedule(program, initial={"total": np.array(5)}, micro_batch=1).files)


def test_a_frame_is_its_two_rounds(tmp_path: Path) -> None:
    assert never_bad(counter(), WRAPPER, STEPS, tmp_path)


CHANGES = {
    "a round that failed is forgotten": ("failed <= ~last_round & status_tdata;", "failed <= 1'b0;"),
    "a frame that failed fails for ever": ("failed <= ~last_round & status_tdata;", "failed <= status_tdata;"),
    "what is missing is taken from the next frame": ("(ended[0] | x_tlast)", "ended[0]"),
    "what is missing stays missing": ("ended[0] <= ~last_round &", "ended[0] <="),
    "what is too much begins the next frame": ("~x_tlast & (skipping[0] | last_round)", "~x_tlast & skipping[0]"),
    "the first of two beats is skipped": ("~x_tlast & (skipping[0] | last_round)", "~x_tlast"),
    "an early end is no fault": ("~ended[0] & (x_tlast", "(x_tlast"),
    "a late end is no fault": ("(x_tlast | ~last_round)", "1'b1"),
    "a status in each round": ("~taken[2] & ~rst & last_round;", "~taken[2] & ~rst;"),
    "an end in each round": ("y0_tlast = last_round;", "y0_tlast = 1'b1;"),
    "rounds together": ("idle = ~(|occupied);", "idle = 1'b1;"),
    "nothing is added up": ("    .clear(clear)", "    .clear(1'b1)"),
    "a sum is forgotten after each round": ("round_ends & last_round", "round_ends"),
    "the frame before is added up": ("clear = rst | (round_ends & last_round)", "clear = rst"),
    "a frame that a reset cut off is added up": ("clear = rst | ", "clear = "),
    "a round is added up without its input": ("load2 = occupied[0]", "load2 = 1'b1"),
    "a sum of some rounds may fail": ("check_2__t0[0] & round__1[0]", "check_2__t0[0]"),
    "a sum of all rounds may not fail": ("check_2__t0[0] & round__1[0]", "1'b0"),
    "a sum has no room for its sign": ("check__value = add__value[2:0]", "check__value = {1'b0, add__value[1:0]}"),
    "a round is counted too early": ("wire round_ends = occupied[", "wire round_ends = leaves | occupied["),
}


@pytest.mark.parametrize("change", CHANGES)
def test_another_design_is_refuted(change: str, tmp_path: Path) -> None:
    right, wrong = CHANGES[change]
    files = counter()
    ((name, text),) = [(name, text) for name, text in files.items() if right in text]
    assert text.count(right) == 1
    assert not never_bad({**files, name: text.replace(right, wrong)}, WRAPPER, STEPS, tmp_path)

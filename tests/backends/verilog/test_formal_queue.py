"""The queue of a shell, for all beats, pauses and resets within 16 clocks: proved by yosys, and refuted of others."""

from __future__ import annotations

from pathlib import Path

import pytest
from sat_proofs import never_bad

from circuitize.backends.verilog.shell.enclose import primitive

STEPS = 16
WRAPPER = """module wrapper(input wire clk, input wire rst, input wire [1:0] data, input wire valid, input wire ready,
  output wire bad);
wire free, some;
wire [1:0] first;
queue #(.WIDTH(2)) design_under_test(.clk(clk), .rst(rst), .in_data(data), .in_valid(valid), .in_ready(free),
  .out_data(first), .out_valid(some), .out_ready(ready));
reg [2:0] number;
reg [1:0] a, b, c, d;
wire enters = valid & free, leaves = some & ready;
wire [2:0] left = number - {2'd0, leaves};
always @(posedge clk) begin
  number <= rst ? 3'd0 : left + {2'd0, enters};
  if (leaves) begin a <= b; b <= c; c <= d; end
  if (enters) case (left) 3'd0: a <= data; 3'd1: b <= data; 3'd2: c <= data; default: d <= data; endcase
end
assign bad = rst ? free | some : free != (number < 3'd4) | some != (number != 3'd0) | some & first != a;
endmodule
"""
"""Four places apart, of which the oldest beat is in the first."""


def test_beats_leave_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    assert never_bad({"queue.v": primitive("queue")}, WRAPPER, STEPS, tmp_path)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("full <= next == first;", "full <= 1'b0;"),
        ("some <= second != free;", "some <= 1'b1;"),
        ("if (leaves) first <= second;", "if (out_ready) first <= second;"),
        ("if (enters) beats[free] <= in_data;", "if (in_valid) beats[free] <= in_data;"),
        ("else if (leaves & ~enters)", "else if (leaves)"),
        ("assign out_valid = some & ~rst;", "assign out_valid = some;"),
    ],
    ids=["never full", "never empty", "leaves of itself", "written when full", "empty as one enters", "in a reset"],
)
def test_another_queue_is_refuted(right: str, wrong: str, tmp_path: Path) -> None:
    text = primitive("queue")
    assert text.count(right) == 1
    assert not never_bad({"queue.v": text.replace(right, wrong)}, WRAPPER, STEPS, tmp_path)

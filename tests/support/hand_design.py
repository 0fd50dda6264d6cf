"""A design written by hand, right and wrong in every way that the simulator must notice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from circuitize.backends.verilog.design import Design, Stream
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Check, Scale
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed

X, Y = Fixed((3,), 0, -100, 100), Fixed((3,), 0, -180, 180)


def program() -> IntegerProgram:
    """y = 2 x, defined where no element of y passes 180."""
    builder = Builder()
    x = builder.input(X)
    arrow = builder.build([builder.add(Check(Y.low, Y.high), builder.add(Scale(2, 0), x))])
    return IntegerProgram(arrow, (Port("x", Visibility.PUBLIC, X),), (Port("y", Visibility.PUBLIC, Y),))


def design(lanes: int = 1, **changed: str) -> Design:
    """That program, `lanes` elements a beat. `changed` replaces a line of it by a wrong one, by the line's name."""
    lines = {
        "ready": "x_tready = !rst && room_y && room_s",
        "value": "{x_tdata[8*lane +: 8], 1'b0}",
        "last": "x_tlast",
        "failed": "failed",
        "steady": "",
        "pads": "0",
    } | changed
    text = f"""`default_nettype none
module top(
  input wire clk, input wire rst,
  input wire [{8 * lanes - 1}:0] x_tdata, input wire x_tvalid, output wire x_tready, input wire x_tlast,
  output reg [{9 * lanes - 1}:0] y_tdata, output wire y_tvalid, input wire y_tready, output reg y_tlast,
  output reg status_tdata, output wire status_tvalid, input wire status_tready, output wire status_tlast
);
  assign status_tlast = 1'b1;
  reg y_shown, status_shown;
  assign y_tvalid = y_shown && !rst;
  assign status_tvalid = status_shown && !rst;
  reg earlier;
  reg [31:0] count;
  integer lane, at;
  reg failed;
  reg [8:0] value;
  wire room_y = !y_shown || y_tready;
  wire room_s = !status_shown || status_tready;
  assign {lines["ready"]};
  always @(*) begin
    failed = earlier;
    for (at = 0; at < {lanes}; at = at + 1) begin
      value = {{x_tdata[8*at +: 8], 1'b0}};
      if ($signed(value) > 9'sd180 || $signed(value) < -9'sd180) failed = 1'b1;
    end
  end
  always @(posedge clk) if (rst) begin
    y_shown <= 1'b0; status_shown <= 1'b0; earlier <= 1'b0; count <= 0;
  end else begin
    if (y_tready) y_shown <= 1'b0;
    if (status_tready) status_shown <= 1'b0;
    if (x_tvalid && x_tready) begin
      count <= count + 1;
      for (lane = 0; lane < {lanes}; lane = lane + 1) y_tdata[9*lane +: 9] <= {lines["value"]};
      y_shown <= 1'b1;
      y_tlast <= {lines["last"]};
      earlier <= x_tlast ? 1'b0 : failed;
      if (x_tlast) begin status_shown <= 1'b1; status_tdata <= {lines["failed"]}; end
    end
    {lines["steady"]}
  end
endmodule
"""
    streams = (
        Stream("x", "x", False, X, lanes),
        Stream("y", "y", True, Y, lanes),
        Stream("status", "", True, Fixed((), 0, 0, 1), 1),
    )
    report = {"lut": 0, "ff": 20, "dsp": 0, "bram_bits": 0, "latency_cycles": 4, "interval_cycles": 3}
    return Design("top", "hand", {"top.v": text}, streams, report=report)


def frames(count: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Values of x, both ends included; every fourth has no y."""
    x = np.random.default_rng(seed).integers(-90, 90, (count, 3), endpoint=True)
    x[3::4, 1] = np.resize([100, -100, 91, -91], len(x[3::4]))
    return {"x": x}


def without_status(made: Design) -> Design:
    return replace(made, streams=made.streams[:-1])

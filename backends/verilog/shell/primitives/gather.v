// PARTS parts, one after another, are one whole, the earliest in the lowest bits. The last whole of a tensor has FINAL
// parts and zeros behind them: a `last` after more or fewer is a wrong one.
`default_nettype none
module gather #(
  parameter WIDTH = 8,
  parameter PARTS = 2,
  parameter FINAL = 2
) (
  input wire clk,
  input wire rst,
  input wire [WIDTH-1:0] in_data,
  input wire in_valid,
  output wire in_ready,
  input wire in_last,
  input wire in_wrong,
  output wire [PARTS*WIDTH-1:0] out_data,
  output wire out_valid,
  input wire out_ready,
  output wire out_last,
  output wire out_wrong
);
  // One bit a part: that of the part which is next.
  reg [PARTS-1:0] place;
  reg failed;
  wire complete = in_last | place[PARTS-1];
  wire moves = in_valid & in_ready;
  genvar part;
  generate
    for (part = 0; part < PARTS - 1; part = part + 1) begin : parts
      reg [WIDTH-1:0] earlier;
      assign out_data[part*WIDTH +: WIDTH] = place[part] ? in_data : earlier;
      always @(posedge clk)
        if (rst | (moves & complete)) earlier <= {WIDTH{1'b0}};
        else if (moves & place[part]) earlier <= in_data;
    end
  endgenerate
  assign out_data[(PARTS-1)*WIDTH +: WIDTH] = in_data & {WIDTH{place[PARTS-1]}};
  assign out_valid = in_valid & complete;
  assign in_ready = out_ready | ~complete;
  assign out_last = in_last;
  assign out_wrong = failed | in_wrong | (in_last & ~place[FINAL-1]);
  always @(posedge clk)
    if (rst) begin
      place <= {{(PARTS-1){1'b0}}, 1'b1};
      failed <= 1'b0;
    end else if (moves) begin
      place <= complete ? {{(PARTS-1){1'b0}}, 1'b1} : {place[PARTS-2:0], 1'b0};
      failed <= ~complete & (failed | in_wrong);
    end
endmodule
`default_nettype wire

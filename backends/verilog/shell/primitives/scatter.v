// The PARTS parts of a whole, one after another, the lowest bits first; of the last whole of a tensor the first FINAL.
`default_nettype none
module scatter #(
  parameter WIDTH = 8,
  parameter PARTS = 2,
  parameter FINAL = 2
) (
  input wire clk,
  input wire rst,
  input wire [PARTS*WIDTH-1:0] in_data,
  input wire in_valid,
  output wire in_ready,
  input wire in_last,
  input wire in_wrong,
  output wire [WIDTH-1:0] out_data,
  output wire out_valid,
  input wire out_ready,
  output wire out_last,
  output wire out_wrong
);
  // One bit a part: that of the part which is next.
  reg [PARTS-1:0] place;
  wire complete = place[PARTS-1] | (in_last & place[FINAL-1]);
  genvar at, part;
  generate
    for (at = 0; at < WIDTH; at = at + 1) begin : bits
      wire [PARTS-1:0] column;
      for (part = 0; part < PARTS; part = part + 1) begin : parts
        assign column[part] = in_data[part*WIDTH + at];
      end
      assign out_data[at] = |(column & place);
    end
  endgenerate
  assign out_valid = in_valid;
  assign in_ready = out_ready & complete;
  assign out_last = in_last & complete;
  assign out_wrong = in_wrong;
  always @(posedge clk)
    if (rst) place <= {{(PARTS-1){1'b0}}, 1'b1};
    else if (in_valid & out_ready) place <= complete ? {{(PARTS-1){1'b0}}, 1'b1} : {place[PARTS-2:0], 1'b0};
endmodule
`default_nettype wire

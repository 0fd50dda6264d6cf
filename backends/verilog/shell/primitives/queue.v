// Up to PLACES beats, in the order in which they come; PLACES is the power of two of BITS, which are at least 2.
// `in_ready` comes from a register.
`default_nettype none
module queue #(
  parameter WIDTH = 8,
  parameter PLACES = 4,
  parameter BITS = 2
) (
  input wire clk,
  input wire rst,
  input wire [WIDTH-1:0] in_data,
  input wire in_valid,
  output wire in_ready,
  output wire [WIDTH-1:0] out_data,
  output wire out_valid,
  input wire out_ready
);
  reg [WIDTH-1:0] beats [0:PLACES-1];
  reg [BITS-1:0] first;
  reg [BITS-1:0] free;
  reg full;
  reg some;
  wire enters = in_valid & in_ready;
  wire leaves = out_valid & out_ready;
  wire [BITS-1:0] second = first + {{(BITS-1){1'b0}}, 1'b1};
  wire [BITS-1:0] next = free + {{(BITS-1){1'b0}}, 1'b1};
  assign in_ready = ~full & ~rst;
  assign out_valid = some & ~rst;
  assign out_data = beats[first];
  always @(posedge clk) if (enters) beats[free] <= in_data;
  always @(posedge clk)
    if (rst) begin
      first <= {BITS{1'b0}};
      free <= {BITS{1'b0}};
      full <= 1'b0;
      some <= 1'b0;
    end else begin
      if (enters) free <= next;
      if (leaves) first <= second;
      if (enters & ~leaves) begin
        full <= next == first;
        some <= 1'b1;
      end else if (leaves & ~enters) begin
        full <= 1'b0;
        some <= second != free;
      end
    end
endmodule
`default_nettype wire

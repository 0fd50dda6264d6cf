// One place for a beat that its taker could not take: `in_ready` is a register, and a beat that finds the way free passes
// in the same clock.
`default_nettype none
module skid #(
  parameter WIDTH = 8
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
  reg full;
  reg [WIDTH-1:0] held;
  assign in_ready = ~full & ~rst;
  assign out_valid = (full | in_valid) & ~rst;
  assign out_data = full ? held : in_data;
  always @(posedge clk) begin
    if (~full) held <= in_data;
    full <= out_valid & ~out_ready;
  end
endmodule
`default_nettype wire

// Bytes onto a serial line, as `uart_in` reads them.
`default_nettype none
module uart_out #(
  parameter DIVISOR = 50,
  parameter COUNT = 6
) (
  input wire clk,
  input wire rst,
  input wire [7:0] data,
  input wire valid,
  output wire ready,
  output wire line
);
  localparam [COUNT-1:0] BIT = DIVISOR - 1;
  localparam [COUNT-1:0] ONE = 1;
  reg [COUNT-1:0] rest;
  reg [3:0] place;
  reg [9:0] bits;
  assign ready = (place == 4'd0) & ~rst;
  assign line = bits[0];
  always @(posedge clk)
    if (rst) begin
      place <= 4'd0;
      rest <= {COUNT{1'b0}};
      bits <= 10'h3ff;
    end else if (place == 4'd0) begin
      rest <= BIT;
      if (valid) begin
        place <= 4'd10;
        bits <= {1'b1, data, 1'b0};
      end
    end else if (rest != {COUNT{1'b0}}) rest <= rest - ONE;
    else begin
      rest <= BIT;
      place <= place - 4'd1;
      bits <= {1'b1, bits[9:1]};
    end
endmodule
`default_nettype wire

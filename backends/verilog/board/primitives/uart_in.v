// Bytes out of a serial line: a start bit, 8 bits with the lowest first, a stop bit, each DIVISOR clocks long.
`default_nettype none
module uart_in #(
  parameter DIVISOR = 50,
  parameter COUNT = 6
) (
  input wire clk,
  input wire rst,
  input wire line,
  output reg [7:0] data,
  output reg valid
);
  localparam [COUNT-1:0] BIT = DIVISOR - 1;
  localparam [COUNT-1:0] HALF = DIVISOR / 2;
  localparam [COUNT-1:0] ONE = 1;
  // The line is not of this clock: two registers before anything looks at it.
  reg [1:0] seen;
  reg [COUNT-1:0] rest;
  reg [3:0] place;
  reg [7:0] taken;
  wire idle = place == 4'd0;
  always @(posedge clk) begin
    seen <= rst ? 2'b11 : {seen[0], line};
    valid <= 1'b0;
    if (rst) begin
      place <= 4'd0;
      rest <= HALF;
    end else if (idle) begin
      rest <= HALF;
      if (~seen[1]) place <= 4'd10;
    end else if (rest != {COUNT{1'b0}}) rest <= rest - ONE;
    else begin
      rest <= BIT;
      place <= place - 4'd1;
      // The middle of the start bit, of the data bits, and of the stop bit.
      if (place == 4'd10) begin
        if (seen[1]) place <= 4'd0;
      end else if (place != 4'd1) taken <= {seen[1], taken[7:1]};
      else begin
        valid <= seen[1];
        data <= taken;
      end
    end
  end
endmodule
`default_nettype wire

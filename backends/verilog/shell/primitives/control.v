// AXI4-Lite registers, 32 bits each:
//   00 identification  reads DIGEST, the first 32 bits of the program's digest
//   04 control         bit 0 holds the design in reset while it is 1; bit 1, written as 1, clears what is counted
//   08 status          bit 0: a frame is under way; bit 1: the status of the last frame
//   0c frames          statuses taken
//   10 failed          of these with 1
//   14 cycles, 18 high word: clocks in which a frame was under way; reading the low word keeps the high one
//   1c last cycles     clocks from the first beat of the last frame that began alone to its status
`default_nettype none
module control #(
  parameter DIGEST = 32'h0
) (
  input wire clk,
  input wire rst,
  input wire [4:0] awaddr,
  input wire [2:0] awprot,
  input wire awvalid,
  output reg awready,
  input wire [31:0] wdata,
  input wire [3:0] wstrb,
  input wire wvalid,
  output reg wready,
  output wire [1:0] bresp,
  output reg bvalid,
  input wire bready,
  input wire [4:0] araddr,
  input wire [2:0] arprot,
  input wire arvalid,
  output reg arready,
  output reg [31:0] rdata,
  output wire [1:0] rresp,
  output reg rvalid,
  input wire rready,
  output wire held,
  input wire begins,
  input wire ends,
  input wire fails
);
  reg stopped, clears, last_failed;
  reg [15:0] under_way;
  reg [31:0] frames, failed, last_cycles, this_cycles, high;
  reg [63:0] cycles;
  wire busy = under_way != 16'd0;
  wire unused = ^{awprot, arprot, awaddr[1:0], araddr[1:0], wdata[31:2], wstrb[3:1]};
  assign held = stopped;
  assign bresp = 2'b00;
  assign rresp = 2'b00;
  always @(posedge clk)
    if (rst) begin
      awready <= 1'b0;
      wready <= 1'b0;
      bvalid <= 1'b0;
      arready <= 1'b0;
      rvalid <= 1'b0;
      stopped <= 1'b0;
      clears <= 1'b0;
    end else begin
      // An address and its data are taken together, a clock after both are there.
      awready <= awvalid & wvalid & ~awready & ~bvalid;
      wready <= awvalid & wvalid & ~awready & ~bvalid;
      clears <= awready & wstrb[0] & (awaddr[4:2] == 3'd1) & wdata[1];
      if (awready & wstrb[0] & (awaddr[4:2] == 3'd1)) stopped <= wdata[0];
      bvalid <= awready | (bvalid & ~bready);
      arready <= arvalid & ~arready & ~rvalid;
      rvalid <= arready | (rvalid & ~rready);
    end
  always @(posedge clk)
    if (arready)
      case (araddr[4:2])
        3'd0: rdata <= DIGEST;
        3'd1: rdata <= {31'd0, stopped};
        3'd2: rdata <= {30'd0, last_failed, busy};
        3'd3: rdata <= frames;
        3'd4: rdata <= failed;
        3'd5: rdata <= cycles[31:0];
        3'd6: rdata <= high;
        default: rdata <= last_cycles;
      endcase
  always @(posedge clk)
    if (rst | stopped) under_way <= 16'd0;
    else if (begins & ~ends) under_way <= under_way + 16'd1;
    else if (~begins & ends) under_way <= under_way - 16'd1;
  always @(posedge clk)
    if (rst | clears) begin
      frames <= 32'd0;
      failed <= 32'd0;
      cycles <= 64'd0;
      last_cycles <= 32'd0;
      this_cycles <= 32'd0;
      last_failed <= 1'b0;
      high <= 32'd0;
    end else begin
      if (arready & (araddr[4:2] == 3'd5)) high <= cycles[63:32];
      if (busy | begins) cycles <= cycles + 64'd1;
      this_cycles <= (begins & ~busy) ? 32'd2 : this_cycles + 32'd1;
      if (ends) begin
        frames <= frames + 32'd1;
        if (fails) failed <= failed + 32'd1;
        last_failed <= fails;
        last_cycles <= begins & ~busy ? 32'd1 : this_cycles;
      end
    end
endmodule
`default_nettype wire

// Between a serial line's bytes and the words of a design's two buses, the lowest byte of a word first. The last word of a
// frame is that of number `final_word`, which may depend on `head`, the frame's first byte; where it has its top bit, no
// number ends the frame. One that stops for 2^PATIENCE clocks ends where it is, or with a word too many if only its last
// word is missing, and the design then says that it failed. A byte that the design has no room for is lost, and `lost`
// stays 1.
`default_nettype none
module serial_words #(
  parameter BYTES = 2,
  parameter COUNT = 2,
  parameter PATIENCE = 22
) (
  input wire clk,
  input wire rst,
  input wire [7:0] in_data,
  input wire in_valid,
  output wire [7:0] head,
  input wire [COUNT:0] final_word,
  output reg [8*BYTES-1:0] word_data,
  output reg word_valid,
  input wire word_ready,
  output reg word_last,
  input wire [8*BYTES-1:0] sent_data,
  input wire sent_valid,
  output wire sent_ready,
  output wire [7:0] out_data,
  output wire out_valid,
  input wire out_ready,
  output reg lost
);
  localparam [COUNT-1:0] ONE = 1;
  localparam [BYTES-1:0] FIRST = 1;
  // One bit a byte: that of the byte which is next.
  reg [BYTES-1:0] place, sending;
  reg [8*BYTES-1:0] sent;
  reg [COUNT-1:0] word;
  reg [7:0] first_byte;
  reg [PATIENCE-1:0] quiet;
  wire room = ~word_valid | word_ready;
  wire takes = in_valid & room;
  wire full = takes & place[BYTES-1];
  wire begun = ~place[0] | (word != {COUNT{1'b0}});
  reg closing;
  wire ends_frame = {1'b0, word} == final_word;
  wire cut = begun & (&quiet) & room & ~in_valid & ~closing;
  wire closes = (closing & room & ~in_valid) | (cut & ~ends_frame);
  wire ends = closes | (full & ends_frame);
  assign head = begun ? first_byte : in_data;
  wire [8*BYTES+7:0] shifted = {in_data, word_data};
  wire shifted_unused = ^shifted;
  always @(posedge clk)
    if (rst) begin
      place <= FIRST;
      word <= {COUNT{1'b0}};
      word_valid <= 1'b0;
      word_last <= 1'b0;
      closing <= 1'b0;
      quiet <= {PATIENCE{1'b0}};
      lost <= 1'b0;
    end else begin
      quiet <= (in_valid | ~begun | cut) ? {PATIENCE{1'b0}} : (&quiet) ? quiet : quiet + {{(PATIENCE-1){1'b0}}, 1'b1};
      if (room) word_valid <= full | cut | closes;
      if (takes & ~begun) first_byte <= in_data;
      if (takes) word_data <= shifted[8*BYTES+7:8];
      if (takes | cut | closes) place <= (full | cut | closes) ? FIRST : place << 1;
      if (full | cut | closes) begin
        word_last <= ends;
        word <= ends ? {COUNT{1'b0}} : (&word) ? word : word + ONE;
        closing <= cut & ends_frame;
      end
      if (in_valid & ~room) lost <= 1'b1;
    end
  assign sent_ready = (sending == {BYTES{1'b0}}) & ~rst;
  assign out_valid = sending != {BYTES{1'b0}};
  assign out_data = sent[7:0];
  always @(posedge clk)
    if (rst) sending <= {BYTES{1'b0}};
    else if (sent_valid & sent_ready) begin
      sending <= {BYTES{1'b1}};
      sent <= sent_data;
    end else if (out_valid & out_ready) begin
      sending <= sending >> 1;
      sent <= sent >> 8;
    end
endmodule
`default_nettype wire

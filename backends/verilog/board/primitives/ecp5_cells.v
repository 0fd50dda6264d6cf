// The parts of an ECP5 as place and route leaves them, for simulation: netlist.py connects them, with what configures them
// as inputs. An input that nothing drives is 1, as it is in the chip; netlist.py says so. The clock's loop makes one cycle of
// one.
`default_nettype none

// A table of four inputs, and the multiplexer of two tables, or of two multiplexers, behind it.
module ecp5_table (
  input wire [15:0] init,
  input wire a,
  input wire b,
  input wire c,
  input wire d,
  output wire f
);
  wire [7:0] upper = d ? init[15:8] : init[7:0];
  wire [3:0] half = c ? upper[7:4] : upper[3:0];
  wire [1:0] pair = b ? half[3:2] : half[1:0];
  assign f = a ? pair[1] : pair[0];
endmodule

// A table with a carry: f is its value plus the carry in. Where `injects`, it takes no part in the carry.
module ecp5_carry (
  input wire [15:0] init,
  input wire injects,
  input wire a,
  input wire b,
  input wire c,
  input wire d,
  input wire fci,
  output wire f,
  output wire fco
);
  wire passes, made;
  ecp5_table whole (.init(init), .a(a), .b(b), .c(c), .d(d), .f(passes));
  ecp5_table part (.init(init), .a(a), .b(b), .c(1'b0), .d(1'b0), .f(made));
  assign f = passes ^ (fci & ~injects);
  assign fco = passes ? fci : made & ~injects;
endmodule

// A memory of sixteen bits, read as a table: bits of the two addresses are in different orders.
module ecp5_memory (
  input wire [15:0] init,
  input wire a,
  input wire b,
  input wire c,
  input wire d,
  output wire f,
  input wire wck,
  input wire wre,
  input wire wd,
  input wire wad0,
  input wire wad1,
  input wire wad2,
  input wire wad3
);
  reg [15:0] kept;
  initial kept = init;
  assign f = kept[{d, c, b, a}];
  always @(posedge wck) if (wre) kept[{wad0, wad2, wad1, wad3}] <= wd;
endmodule

module ecp5_register (
  input wire clk,
  input wire ce,
  input wire lsr,
  input wire set,
  input wire d,
  output reg q
);
  initial q = set;
  always @(posedge clk)
    if (lsr) q <= set;
    else if (ce) q <= d;
endmodule

module ecp5_register_async (
  input wire clk,
  input wire ce,
  input wire lsr,
  input wire set,
  input wire d,
  output reg q
);
  initial q = set;
  always @(posedge clk or posedge lsr)
    if (lsr) q <= set;
    else if (ce) q <= d;
endmodule

// A multiplier, with its product in a register if `HELD` is 1.
module ecp5_multiplier #(parameter HELD = 0) (
  input wire clk,
  input wire ce,
  input wire rst,
  input wire [17:0] a,
  input wire [17:0] b,
  input wire signed_a,
  input wire signed_b,
  output wire [35:0] p
);
  wire signed [36:0] left = {{19{signed_a & a[17]}}, a};
  wire signed [36:0] right = {{19{signed_b & b[17]}}, b};
  wire signed [36:0] product = left * right;
  wire unused = product[36];
  reg [35:0] held;
  initial held = 36'd0;
  always @(posedge clk)
    if (rst) held <= 36'd0;
    else if (ce) held <= product[35:0];
  assign p = HELD ? held : product[35:0];
endmodule

// A block memory of 1024 words of 18 bits, which are 2048 bytes of 9: ports of 18, 9, 4, 2 or 1 bits, of which the last three
// do not reach the ninth bit of a byte. A port that writes shows what was there (`SHOWS` 0), what it writes (1), or what it
// showed before (2). Port A may write 36 bits, of which the upper half is at the inputs of port B; port B may read as many,
// of which the lower half is at the outputs of port A.
module ecp5_block #(
  parameter WIDTH_A = 18,
  parameter WIDTH_B = 18,
  parameter SHOWS_A = 0,
  parameter SHOWS_B = 0
) (
  input wire [18431:0] init,
  input wire clka,
  input wire cea,
  input wire wea,
  input wire [13:0] ada,
  input wire [17:0] dia,
  output wire [17:0] doa,
  input wire clkb,
  input wire ceb,
  input wire web,
  input wire [13:0] adb,
  input wire [17:0] dib,
  output wire [17:0] dob
);
  reg [17:0] words [0:1023];
  reg [17:0] shown_a, shown_b, lower;
  integer word;
  initial begin
    for (word = 0; word < 1024; word = word + 1) words[word] = init[18*word +: 18];
    shown_a = 18'd0;
    shown_b = 18'd0;
    lower = 18'd0;
  end
  // Where a port's bits lie in a word, and which of them it writes: 18 bits by the two lowest bits of the address.
  function [4:0] place(input integer width, input [3:0] low);
    place = (width >= 18) ? 5'd0 : (width == 9) ? (low[3] ? 5'd9 : 5'd0) : {1'b0, low & ~(width[3:0] - 4'd1)} + {4'd0, low[3]};
  endfunction
  function [17:0] all(input integer width);
    all = (width >= 18) ? 18'h3ffff : ~(18'h3ffff << width);
  endfunction
  function [17:0] both(input [1:0] bytes);
    both = {{9{bytes[1]}}, {9{bytes[0]}}};
  endfunction
  localparam WIDE_A = WIDTH_A == 36;
  localparam WIDE_B = WIDTH_B == 36;
  wire [9:0] word_a = WIDE_A ? {ada[13:5], 1'b0} : ada[13:4];
  wire [9:0] word_b = WIDE_B ? {adb[13:5], 1'b1} : adb[13:4];
  wire [9:0] upper = {ada[13:5], 1'b1};
  wire [4:0] at_a = place(WIDTH_A, ada[3:0]), at_b = place(WIDTH_B, adb[3:0]);
  wire [17:0] bits_a = (WIDTH_A >= 18) ? both(ada[1:0]) : all(WIDTH_A) << at_a;
  wire [17:0] bits_b = (WIDTH_B >= 18) ? both(adb[1:0]) : all(WIDTH_B) << at_b;
  wire [17:0] read_a = words[word_a], read_b = words[word_b];
  wire [17:0] next_a = (read_a & ~bits_a) | ((dia << at_a) & bits_a);
  wire [17:0] next_b = (read_b & ~bits_b) | ((dib << at_b) & bits_b);
  always @(posedge clka)
    if (cea) begin
      if (wea) words[word_a] <= next_a;
      if (wea & WIDE_A) words[upper] <= (words[upper] & ~both(ada[3:2])) | (dib & both(ada[3:2]));
      if (~wea | (SHOWS_A != 2)) shown_a <= ((wea & (SHOWS_A == 1) ? next_a : read_a) >> at_a) & all(WIDTH_A);
    end
  always @(posedge clkb)
    if (ceb) begin
      if (web) words[word_b] <= next_b;
      if (~web | (SHOWS_B != 2)) shown_b <= ((web & (SHOWS_B == 1) ? next_b : read_b) >> at_b) & all(WIDTH_B);
      lower <= words[{adb[13:5], 1'b0}];
    end
  assign doa = WIDE_B ? lower : shown_a;
  assign dob = shown_b;
endmodule
`default_nettype wire

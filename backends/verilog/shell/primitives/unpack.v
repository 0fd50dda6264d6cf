// Elements out of the slots of a beat. `wrong` is 1 where the rest of a slot is not the element's sign, or zeros, or where
// a byte that holds some of an element is not kept; lanes past the end of the tensor are not looked at.
`default_nettype none
module unpack #(
  parameter LANES = 1,
  parameter LAST = 1,
  parameter WIDTH = 8,
  parameter SIGNED = 0,
  parameter SLOT = 8,
  parameter BYTES = 1
) (
  input wire [8*BYTES-1:0] data,
  input wire [BYTES-1:0] keep,
  input wire last,
  output wire [LANES*WIDTH-1:0] elements,
  output wire wrong
);
  wire [LANES-1:0] absent, unfit, faults;
  wire data_unused = ^data;
  wire keep_unused = ^keep;
  assign wrong = |faults;
  genvar lane;
  generate
    for (lane = 0; lane < LANES; lane = lane + 1) begin : lanes
      assign absent[lane] = ~(&keep[(lane*SLOT+SLOT-1)/8 : (lane*SLOT)/8]);
    end
    // Loops within conditions, and not the other way round: each condition is a scope, of which wide beats have few.
    if (SLOT == WIDTH) begin : whole
      assign elements = data[LANES*WIDTH-1:0];
      assign unfit = absent;
    end else if (SIGNED != 0) begin : signs
      for (lane = 0; lane < LANES; lane = lane + 1) begin : lanes
        wire all, some;
        assign elements[lane*WIDTH +: WIDTH] = data[lane*SLOT +: WIDTH];
        assign all = &data[lane*SLOT+WIDTH-1 +: SLOT-WIDTH+1];
        assign some = |data[lane*SLOT+WIDTH-1 +: SLOT-WIDTH+1];
        assign unfit[lane] = absent[lane] | (some & ~all);
      end
    end else begin : zeros
      for (lane = 0; lane < LANES; lane = lane + 1) begin : lanes
        assign elements[lane*WIDTH +: WIDTH] = data[lane*SLOT +: WIDTH];
        assign unfit[lane] = absent[lane] | (|data[lane*SLOT+WIDTH +: SLOT-WIDTH]);
      end
    end
    if (LAST == LANES) begin : full
      wire last_unused = last;
      assign faults = unfit;
    end else begin : part
      for (lane = 0; lane < LANES; lane = lane + 1) begin : lanes
        if (lane < LAST) begin : always_there
          assign faults[lane] = unfit[lane];
        end else begin : unless_last
          assign faults[lane] = unfit[lane] & ~last;
        end
      end
    end
  endgenerate
endmodule
`default_nettype wire

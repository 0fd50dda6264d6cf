// Elements into the slots of a beat, each filled up with its sign, or with zeros.
`default_nettype none
module pack #(
  parameter LANES = 1,
  parameter WIDTH = 8,
  parameter SIGNED = 0,
  parameter SLOT = 8,
  parameter BYTES = 1
) (
  input wire [LANES*WIDTH-1:0] elements,
  output wire [8*BYTES-1:0] data
);
  genvar lane;
  generate
    for (lane = 0; lane < LANES; lane = lane + 1) begin : lanes
      assign data[lane*SLOT +: WIDTH] = elements[lane*WIDTH +: WIDTH];
    end
    // Loops within conditions, and not the other way round: each condition is a scope, of which wide beats have few.
    if (SLOT > WIDTH) begin : rest
      if (SIGNED != 0) begin : signs
        for (lane = 0; lane < LANES; lane = lane + 1) begin : lanes
          assign data[lane*SLOT+WIDTH +: SLOT-WIDTH] = {(SLOT-WIDTH){elements[lane*WIDTH+WIDTH-1]}};
        end
      end else begin : zeros
        for (lane = 0; lane < LANES; lane = lane + 1) begin : lanes
          assign data[lane*SLOT+WIDTH +: SLOT-WIDTH] = {(SLOT-WIDTH){1'b0}};
        end
      end
    end
    if (8*BYTES > LANES*SLOT) begin : spare
      assign data[8*BYTES-1 : LANES*SLOT] = {(8*BYTES-LANES*SLOT){1'b0}};
    end
  endgenerate
endmodule
`default_nettype wire

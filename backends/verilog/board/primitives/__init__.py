"""The Verilog that is around a design on a board: a serial line, and words of a frame out of its bytes."""

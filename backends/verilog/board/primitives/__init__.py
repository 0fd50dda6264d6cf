"""The Verilog around a design on a board: it sends and receives bytes on a serial line, and makes words of frames out
of bytes.
"""

"""A design on a board: its clock, reset, serial line and constraints, and the scripts that make and use the
bitstream.
"""

from .kinds import BOARDS, DEFAULT, Board
from .ulx3s import board_files, for_serial_line

__all__ = ["BOARDS", "DEFAULT", "Board", "board_files", "for_serial_line"]

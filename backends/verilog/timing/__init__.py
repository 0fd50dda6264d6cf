"""How fast the clock of a design can be: an estimate from its Verilog, before synthesis, and the pipelining that
reaches a clock.
"""

from .clock import LEVELS, Clock, clocked, with_mhz
from .delays import DELAYS
from .paths import MHZ, expected_mhz, timed

__all__ = ["DELAYS", "LEVELS", "MHZ", "Clock", "clocked", "expected_mhz", "timed", "with_mhz"]

"""The shell around a design: byte-wide AXI4-Streams behind skid buffers, one bus for all, registers, names."""

from .enclose import enclosed
from .interface import Interface

__all__ = ["Interface", "enclosed"]

"""The shell around a design: AXI4-Streams of whole bytes behind skid buffers, optionally one bus for all tensors,
registers, and prefixed names.
"""

from .enclose import enclosed
from .interface import Interface

__all__ = ["Interface", "enclosed"]

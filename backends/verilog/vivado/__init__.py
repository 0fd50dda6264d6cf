"""A design for Xilinx parts: scripts for Vivado, and a notebook for PYNQ that sends frames by a DMA."""

from .files import vivado_files
from .parts import DEFAULT, Vivado, for_dma

__all__ = ["DEFAULT", "Vivado", "for_dma", "vivado_files"]

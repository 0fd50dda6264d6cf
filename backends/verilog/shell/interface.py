"""The interface that a user wants for a design: its name, the layout of elements in beats, and the streams that share a
bus.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from circuitize.circuits.errors import CircuitizeError

from ..design import Stream

ELEMENTS = ("bytes", "packed")
"""How elements lie in beats: each in a slot of 1, 2, 4 or 8 bytes, as in an array in memory, or packed one after the
other, bit by bit.
"""

NARROWEST, WIDEST = 8, 1024
"""The widths in bits that a shared bus may have."""

KEYWORDS = frozenset(
    """
    always and assign automatic begin buf bufif0 bufif1 case casex casez cell cmos config deassign default defparam
    design disable edge else end endcase endconfig endfunction endgenerate endmodule endprimitive endspecify endtable
    endtask event for force forever fork function generate genvar highz0 highz1 if ifnone incdir include initial inout
    input instance integer join large liblist library localparam macromodule medium module nand negedge nmos nor
    noshowcancelled not notif0 notif1 or output parameter pmos posedge primitive pull0 pull1 pulldown pullup
    pulsestyle_ondetect pulsestyle_onevent rcmos real realtime reg release repeat rnmos rpmos rtran rtranif0 rtranif1
    scalared showcancelled signed small specify specparam strong0 strong1 supply0 supply1 table task time tran tranif0
    tranif1 tri tri0 tri1 triand trior trireg unsigned use vectored wait wand weak0 weak1 while wire wor xnor xor bit
    byte char const do enum int interface logic package program return struct type union var void
    """.split()  # noqa: SIM905
)
"""The words that are no name for a module: the keywords of Verilog-2005, and those of SystemVerilog that a user might
choose.
"""


@dataclass(frozen=True)
class Interface:
    """The user's choices for the interface of a design.

    The `name` of an interface is the name of the top module, and the beginning of the name of every other module, file
    and memory. If `bus_bits` is given, all inputs share one stream of that width, and all outputs another, as for a
    board with one DMA. A design whose interface has `control` has AXI4-Lite registers.
    """

    name: str = "circuitize"
    elements: str = "bytes"
    bus_bits: int | None = None
    control: bool = False

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,63}", self.name) or self.name in KEYWORDS:
            raise CircuitizeError(
                f"--name: expected a letter and up to 63 letters, digits and _, no word of Verilog's, "
                f"found {self.name!r}; choose another"
            )
        if self.elements not in ELEMENTS:
            raise CircuitizeError(f"--elements: expected {' or '.join(ELEMENTS)}, found {self.elements!r}; choose one")
        bits = self.bus_bits
        if bits is not None and (not NARROWEST <= bits <= WIDEST or bits & (bits - 1)):
            raise CircuitizeError(
                f"--bus-bits: expected a power of two from {NARROWEST} to {WIDEST}, found {bits}; 32 suits most DMAs"
            )
        if bits is not None and self.elements == "packed":
            raise CircuitizeError(
                "--bus-bits: expected elements in whole bytes, found --elements packed; leave one of the two out"
            )

    def slot(self, stream: Stream) -> int:
        """Return the distance in bits, within a beat, from the start of one element of the stream to the start of the
        next.
        """
        bits = stream.element_bits
        if self.elements == "packed":
            return bits
        return max(8, 1 << (bits - 1).bit_length())

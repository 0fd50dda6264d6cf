"""The Xilinx parts for which there are scripts, and the interface that a design for one has."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from circuitize.circuits.errors import CircuitizeError

from ..bound import Bound
from ..design import Stream
from ..shell import Interface

SLOWEST, FASTEST, DEFAULT = 10, 250, 100
"""The frequencies, in MHz, that the design's clock may have: those that the processor of a Zynq-7000 makes."""

BUSES = (32, 64)
"""The widths in bits that the bus may have, which are those of a memory port of a Zynq-7000."""

SERIES7 = r"x[caq]7(?:a|k|s|v|vx|vh|z)\d+[a-z]*\d+-\d[a-z]*"
"""The shape of a name of the 7 series, such as xc7z020clg400-1."""

ULTRASCALE = r"(?:x[caq]zu\d+[a-z]{2}|xck2[46]|xc[akv]u\d+p?)-[a-z]+\d+-\d[a-z]*(?:-[a-z])?"
"""The shape of a name of UltraScale and UltraScale+, such as xczu3eg-sbva484-1-e and xck26-sfvc784-2LV-c."""


@dataclass(frozen=True)
class Vivado:
    """A Xilinx part, by the name that Vivado gives it, and the frequency of the design's clock in MHz."""

    part: str
    mhz: int = DEFAULT

    def __post_init__(self) -> None:
        if not re.fullmatch(f"{SERIES7}|{ULTRASCALE}", self.part, re.IGNORECASE):
            raise CircuitizeError(
                f"--vivado: expected a part as Vivado names it, xc7z020clg400-1 or xczu3eg-sbva484-1-e, "
                f"found {self.part!r}; name the package and the speed grade, too"
            )
        if not SLOWEST <= self.mhz <= FASTEST:
            raise CircuitizeError(f"--mhz: expected {SLOWEST} to {FASTEST}, found {self.mhz}; choose a slower clock")

    @property
    def processor(self) -> str:
        """Return the processor of the part as the name of Vivado's block for it, or an empty text for none."""
        if re.match(r"x[caq]7z", self.part, re.IGNORECASE):
            return "processing_system7"
        return "zynq_ultra_ps_e" if re.match(r"x[caq]zu|xck2", self.part, re.IGNORECASE) else ""


def for_dma(interface: Interface, made: Bound) -> Interface:
    """Return an interface with registers and with one bus, whose width is 32 bits, or 64 if an element needs them,
    unless a width was given.

    Raise CircuitizeError for another width, and for packed elements.
    """
    if interface.elements == "packed":
        raise CircuitizeError("--vivado: expected elements in whole bytes, found --elements packed; leave it out")
    if interface.bus_bits is not None and interface.bus_bits not in BUSES:
        widths = " or ".join(map(str, BUSES))
        raise CircuitizeError(f"--vivado: expected --bus-bits {widths}, found {interface.bus_bits}; leave it out")
    leaving = made.program.outputs if made.modal is None else made.modal.leaving()
    formats = [port.format for port in (*made.streamed, *leaving)]
    widest = max((interface.slot(Stream("", "", False, format, 1)) for format in formats), default=0)
    return replace(interface, bus_bits=interface.bus_bits or max(widest, BUSES[0]), control=True)

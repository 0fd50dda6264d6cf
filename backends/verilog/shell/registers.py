"""The AXI4-Lite registers of a design: its identity, a reset, and counters of its work."""

from __future__ import annotations

from ..design import CLOCK, RESET, STATUS, Design
from .wiring import Wiring, instance

BUS = "s_axil"
"""The prefix of the names of the register bus's wires."""

PORTS = {
    "awaddr": ("input", 5),
    "awprot": ("input", 3),
    "awvalid": ("input", 1),
    "awready": ("output", 1),
    "wdata": ("input", 32),
    "wstrb": ("input", 4),
    "wvalid": ("input", 1),
    "wready": ("output", 1),
    "bresp": ("output", 2),
    "bvalid": ("output", 1),
    "bready": ("input", 1),
    "araddr": ("input", 5),
    "arprot": ("input", 3),
    "arvalid": ("input", 1),
    "arready": ("output", 1),
    "rdata": ("output", 32),
    "rresp": ("output", 2),
    "rvalid": ("output", 1),
    "rready": ("input", 1),
}
"""The wires of the AXI4-Lite bus, with direction and width."""

REGISTERS = {
    "identification": 0x00,
    "control": 0x04,
    "status": 0x08,
    "frames": 0x0C,
    "failed": 0x10,
    "cycles": 0x14,
    "cycles_high": 0x18,
    "last_cycles": 0x1C,
}
"""The addresses of the registers, in bytes; the contents are described in `primitives/control.v`."""


def registers(wiring: Wiring, design: Design, digest: str) -> None:
    """Add the AXI4-Lite bus and its registers to a shell; `rst` or the control register resets the design inside.

    For the registers, a frame begins with the first beat of the first input, and ends when its status is taken.
    """
    wiring.ports += [
        f"{way} wire {f'[{bits - 1}:0] ' if bits > 1 else ''}{BUS}_{wire}" for wire, (way, bits) in PORTS.items()
    ]
    first = next(bus for bus in design.buses if not bus.output)
    status = next(stream for stream in design.streams if stream.name == STATUS)
    taken = wiring.side(status)
    wiring.lines += [
        "  wire held;",
        "  wire inner_rst = rst | held;",
        "  reg entered;",
        f"  wire entering = {first.name}_tvalid & {first.name}_tready;",
        f"  always @(posedge {CLOCK})",
        "    if (inner_rst) entered <= 1'b0;",
        f"    else if (entering) entered <= ~{first.name}_tlast;",
        f"  wire status_taken = {taken}_valid & {taken}_ready;",
    ]
    wiring.reset = "inner_rst"
    pins = [f".{CLOCK}({CLOCK})", f".{RESET}({RESET})", *(f".{wire}({BUS}_{wire})" for wire in PORTS)]
    pins += [".held(held)", ".begins(entering & ~entered)", ".ends(status_taken)", f".fails({taken}_data[0])"]
    wiring.lines += instance("control", "registers", {"DIGEST": f"32'h{digest[:8]}"}, pins)

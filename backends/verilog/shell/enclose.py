"""Enclosing a scheduler's design in a shell: the streams carry the same tensors in whole bytes, and no ready signal
depends on another one.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib.resources import files as resources

from ..design import CLOCK, RESET, STATUS, Bus, Design, Stream
from .incoming import shared_inputs
from .interface import Interface
from .naming import prefixed
from .registers import registers
from .shared import require_fit, shared_outputs
from .sizes import outer, queued, with_shell
from .wiring import Wiring, instance

SHELL = "shell"
"""The top module, before it gets the design's name."""

PRIMITIVES = ("skid", "queue", "unpack", "pack", "gather", "scatter", "control")
"""The modules that a shell is made of: Verilog files beside this one."""

LITERAL = 1 << 12
"""The most bits that are written as one literal."""


def enclosed(core: Design, interface: Interface, digest: str = "0" * 8) -> Design:
    """Return a design inside its shell; every module and file is named after `interface.name`. The argument `digest` is
    the digest of the program in hexadecimal.

    The streams of a design keep their names in its shell. Every `tready` signal of the enclosed design depends only on
    registers and on `rst`. The status of a design with state is not buffered, since the state changes in the clock
    cycle in which the reader takes the status.
    """
    streams = tuple(outer(stream, interface) for stream in core.streams)
    made = replace(core, top=interface.name, streams=streams, control=interface.control)
    wiring = Wiring()
    for bus in made.buses:
        wiring.ports += bus.ports
    if interface.control:
        registers(wiring, made, digest)
    inner = {stream.name: stream for stream in core.streams}
    waiting = queued(core) if interface.bus_bits is not None else []
    for bus in made.buses:
        if bus.shared:
            require_fit(bus, inner)
            if bus.output:
                shared_outputs(wiring, made, bus, inner, waiting)
            else:
                shared_inputs(wiring, made, bus, inner, waiting)
        elif bus.output:
            _output(wiring, bus.streams[0], buffered=not (core.held and bus.name == STATUS))
        else:
            _input(wiring, bus.streams[0])
    pins = [f".{CLOCK}({CLOCK})", f".{RESET}({wiring.reset})"]
    for stream in core.streams:
        wires = Bus((stream,)).wires
        pins += [f".{stream.name}_{wire}({wiring.side(stream)}_{wire.removeprefix('t')})" for wire in wires]
    wiring.lines += instance(core.top, "core", {}, pins)
    text = "\n".join(
        [
            f"// {core.scheduler} design {core.top} with its streams in whole bytes, each behind a skid buffer.",
            "`default_nettype none",
            f"module {SHELL} (",
            ",\n".join(f"  {port}" for port in [f"input wire {CLOCK}", f"input wire {RESET}", *wiring.ports]),
            ");",
            *wiring.ordered(),
            "endmodule",
            "`default_nettype wire",
            "",
        ]
    )
    used = {f"{name}.v": primitive(name) for name in PRIMITIVES if f"  {name} " in text}
    own = {**used, f"{SHELL}.v": text}
    assert not own.keys() & core.files.keys(), sorted(core.files)
    files = prefixed({**core.files, **own}, SHELL, interface.name)
    report = with_shell(core.report, core.streams, bool(core.held), interface, waiting)
    return replace(made, files=files, report=report)


@cache
def primitive(name: str) -> str:
    """Return the Verilog text of one of the shell's modules."""
    return (resources(f"{__package__}.primitives") / f"{name}.v").read_text()


def _input(wiring: Wiring, stream: Stream) -> None:
    side, bits = wiring.side(stream), stream.lanes * stream.element_bits
    wiring.core(stream, bits)
    wiring.wire(f"{side}_elements", bits)
    wiring.wire(f"{side}_wrong")
    wiring.unpack(stream, stream.name, side, f"{stream.name}_tdata", f"{stream.name}_tkeep", f"{stream.name}_tlast")
    wiring.skid(
        side,
        bits + 2,
        (f"{{{side}_wrong, {stream.name}_tlast, {side}_elements}}", f"{stream.name}_tvalid", f"{stream.name}_tready"),
        (f"{{{side}_user, {side}_last, {side}_data}}", f"{side}_valid", f"{side}_ready"),
    )


def _output(wiring: Wiring, stream: Stream, buffered: bool) -> None:
    side, bits = wiring.side(stream), stream.lanes * stream.element_bits
    wiring.core(stream, bits)
    name, elements = stream.name, f"{side}_data"
    if buffered:
        elements = wiring.wire(f"{side}_kept", bits)
        wiring.skid(
            side,
            bits + 1,
            (f"{{{side}_last, {side}_data}}", f"{side}_valid", f"{side}_ready"),
            (f"{{{name}_tlast, {elements}}}", f"{name}_tvalid", f"{name}_tready"),
        )
    else:
        wiring.lines += [
            f"  assign {name}_tvalid = {side}_valid;",
            f"  assign {name}_tlast = {side}_last;",
            f"  assign {side}_ready = {name}_tready;",
        ]
    wiring.pack(stream, side, elements, f"{name}_tdata")
    every, last = _kept(stream, (1 << stream.data_bits // 8) - 1), _kept(stream, stream.last_keep)
    text = every if every == last else f"{name}_tlast ? {last} : {every}"
    wiring.lines.append(f"  assign {name}_tkeep = {text};")


def _kept(stream: Stream, keep: int) -> str:
    """Return the value of a stream's `tkeep`, ones in its lowest bits, as a literal if it is short."""
    bytes_, ones = stream.data_bits // 8, keep.bit_length()
    if bytes_ <= LITERAL:
        return f"{bytes_}'h{keep:x}"
    rest = f"{{{bytes_ - ones}{{1'b0}}}}, " if bytes_ > ones else ""
    return f"{{{rest}{{{ones}{{1'b1}}}}}}"

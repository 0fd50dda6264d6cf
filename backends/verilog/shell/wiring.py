"""The Verilog text of a shell while it is built: its ports, wires and instances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..design import CLOCK, RESET, Stream

Handshake = tuple[str, str, str]
"""The names of the data, valid and ready wires on one side of a buffer."""


@dataclass
class Wiring:
    """The ports and the lines of a shell's module; `reset` is the name of the wire that resets the design. Inside the
    shell, the names of a stream's wires begin with the stream's prefix, the name of its side.
    """

    ports: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    reset: str = RESET
    _sides: dict[str, str] = field(default_factory=dict)

    def side(self, stream: Stream) -> str:
        """Return the prefix of the names of a stream's wires inside the shell, which is different for each stream."""
        if stream.name not in self._sides:
            self._sides[stream.name] = f"{'out' if stream.output else 'in'}{len(self._sides)}_{stream.name}"
        return self._sides[stream.name]

    def ordered(self) -> list[str]:
        """Return the lines of the shell's module, with the declarations of wires and registers first."""
        declared = [line for line in self.lines if line.startswith(("  wire ", "  reg ")) and "=" not in line]
        return [*declared, *(line for line in self.lines if line not in set(declared))]

    def wire(self, name: str, bits: int = 0) -> str:
        """Declare a wire of the given number of bits, or a wire without a range if that number is 0. Return the name of
        the declared wire.
        """
        self.lines.append(f"  wire {f'[{bits - 1}:0] ' if bits else ''}{name};")
        return name

    def core(self, stream: Stream, bits: int) -> None:
        """Declare the wires by which the shell and the design inside exchange a stream."""
        side = self.side(stream)
        self.wire(f"{side}_data", bits)
        for word in ("valid", "ready", "last", *(() if stream.output else ("user",))):
            self.wire(f"{side}_{word}")

    def skid(self, side: str, bits: int, into: Handshake, out: Handshake) -> None:
        """Place a skid buffer, which holds one beat, between two handshakes, so that the wire `ready` comes from a
        register.
        """
        names = ("data", "valid", "ready")
        pins = [f".{CLOCK}({CLOCK})", f".{RESET}({self.reset})"]
        for way, wires in (("in", into), ("out", out)):
            pins += [f".{way}_{name}({wire})" for name, wire in zip(names, wires, strict=True)]
        self.lines += instance("skid", f"{side}_skid", {"WIDTH": bits}, pins)

    def unpack(self, stream: Stream, name: str, side: str, data: str, keep: str, last: str) -> None:
        """Place the modules that take the elements out of a stream's beats, as SIDE_elements, and mark a wrong beat in
        SIDE_wrong.
        """
        parameters = {"LANES": stream.lanes, "LAST": stream.last_lanes, **_slots(stream)}
        pins = [f".data({data})", f".keep({keep})", f".last({last})"]
        pins += [f".elements({side}_elements)", f".wrong({side}_wrong)"]
        self.lines += instance("unpack", f"{side}_unpack", parameters, pins)

    def pack(self, stream: Stream, side: str, elements: str, data: str) -> None:
        """Place the module that puts a tensor's elements, each with its own width, into the slots of a stream."""
        parameters = {"LANES": stream.lanes, **_slots(stream)}
        self.lines += instance("pack", f"{side}_pack", parameters, [f".elements({elements})", f".data({data})"])


def _slots(stream: Stream) -> dict[str, int]:
    return {
        "WIDTH": stream.element_bits,
        "SIGNED": int(stream.format.low < 0),
        "SLOT": stream.pitch,
        "BYTES": stream.data_bits // 8,
    }


def instance(module: str, name: str, parameters: Mapping[str, object], pins: list[str]) -> list[str]:
    """Return the Verilog of an instance of a module, with a line for each pin."""
    given = ", ".join(f".{parameter}({value})" for parameter, value in parameters.items())
    head = f"  {module} #({given}) {name} (" if given else f"  {module} {name} ("
    return [head, ",\n".join(f"    {pin}" for pin in pins), "  );"]

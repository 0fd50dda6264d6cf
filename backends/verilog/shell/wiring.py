"""The Verilog text of a shell while it is built: its ports, wires and instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..concatenation import computed_once, concatenation, pieces
from ..design import CLOCK, RESET, Stream

INDENT = "  "

Handshake = tuple[str, str, str]
"""The names of the data, valid and ready wires on one side of a buffer."""


WIDE = 1 << 6
"""The lanes of a part of a wide beat."""


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
        self._buffer("skid", side, {"WIDTH": bits}, into, out)

    def queue(self, side: str, bits: int, beats: int, into: Handshake, out: Handshake) -> None:
        """Place a buffer for at least so many beats between two handshakes, whose wires `ready` and `valid` come from
        registers.
        """
        places = queue_places(beats)
        parameters = {"WIDTH": bits, "PLACES": places, "BITS": places.bit_length() - 1}
        self._buffer("queue", side, parameters, into, out)

    def _buffer(self, kind: str, side: str, parameters: Mapping[str, int], into: Handshake, out: Handshake) -> None:
        names = ("data", "valid", "ready")
        pins = [f".{CLOCK}({CLOCK})", f".{RESET}({self.reset})"]
        for way, wires in (("in", into), ("out", out)):
            pins += [f".{way}_{name}({wire})" for name, wire in zip(names, wires, strict=True)]
        self.lines += instance(kind, f"{side}_{kind}", parameters, pins)

    def unpack(self, stream: Stream, name: str, side: str, data: str, keep: str, last: str) -> None:
        """Place the modules that take the elements out of a stream's beats, as SIDE_elements, and mark a wrong beat in
        SIDE_wrong.
        """
        parts, elements, bits = _parts(stream), f"{side}_elements", stream.element_bits
        wrong, found = [f"{side}_wrong"], [elements]
        if len(parts) > 1:
            wrong = [self.wire(f"{side}_wrong{part.number}") for part in parts]
            found = [self.wire(f"{side}_lanes{part.number}", part.lanes * bits) for part in parts]
            self.lines += [f"  assign {side}_wrong =", "    " + " |\n    ".join(wrong) + ";"]
            self._join(elements, found, [part.lanes * bits for part in parts])
        for part, into, fault in zip(parts, found, wrong, strict=True):
            final = min(max(stream.last_lanes - part.start, 0), part.lanes)
            pins = [f".data({part.bytes_of(data, 8)})", f".keep({part.bytes_of(keep)})", f".last({last})"]
            pins += [f".elements({into})", f".wrong({fault})"]
            parameters = {"LANES": part.lanes, "LAST": final, **_slots(stream), "BYTES": part.high - part.low}
            self.lines += instance("unpack", f"{side}_unpack{part.number}", parameters, pins)

    def pack(self, stream: Stream, side: str, elements: str, data: str) -> None:
        """Put a tensor's elements, each with its own width, into the slots of a stream: by a module, or by an explicit
        concatenation if there are many.
        """
        if len(pieces(stream.lanes)) == 1:
            pins = [f".elements({elements})", f".data({data})"]
            self.lines += instance("pack", f"{side}_pack", {"LANES": stream.lanes, **_slots(stream)}, pins)
            return
        bits, filled, slots = stream.element_bits, stream.pitch - stream.element_bits, []
        for part in _parts(stream):
            start, count = part.start * bits, part.lanes * bits
            lanes = self.wire(f"{side}_given{part.number}", count)
            self.lines.append(f"  assign {lanes} = {elements}[{start + count - 1}:{start}];")
            for low, top in zip(range(0, count, bits), range(bits - 1, count, bits), strict=True):
                sign = f"{lanes}[{top}]" if stream.format.low < 0 else "1'b0"
                slots.append(f"{{{{{filled}{{{sign}}}}}, {lanes}[{top}:{low}]}}" if filled else f"{lanes}[{top}:{low}]")
        spare = stream.data_bits - stream.lanes * stream.pitch
        self._join(data, slots, [stream.pitch] * stream.lanes, [f"{spare}'d0"] if spare else [])

    def _join(self, target: str, elements: list[str], bits: list[int], rest: Sequence[str] = ()) -> None:
        """Drive a wire with expressions, each of its number of bits, and above them the `rest`: a part of the
        expressions is computed by a block.
        """
        names = []
        for number, piece in enumerate(pieces(len(elements))):
            names.append(f"{target}_part{number}")
            self.lines += computed_once(names[-1], elements[piece], sum(bits[piece]), INDENT)
        self.lines += concatenation(f"assign {target}", [*names, *rest], INDENT)


@dataclass(frozen=True)
class _Part:
    """Lanes of a beat that are unpacked or packed together: from `start`, in the bytes from `low` up to `high`. The
    number of a part is empty if the part is the `whole` beat.
    """

    number: str
    start: int
    lanes: int
    low: int
    high: int

    @property
    def whole(self) -> bool:
        return not self.number

    def bytes_of(self, name: str, bits: int = 1) -> str:
        """Return the part of a wire that has so many bits for each byte of the beat."""
        return name if self.whole else f"{name}[{bits * self.high - 1}:{bits * self.low}]"


def _parts(stream: Stream) -> list[_Part]:
    """Return the parts of a beat: a wide one has several, since tools take time that grows with the square of the lanes
    of a module.
    """
    bytes_ = stream.data_bits // 8
    if len(pieces(stream.lanes)) == 1:
        return [_Part("", 0, stream.lanes, 0, bytes_)]
    starts = range(0, stream.lanes, WIDE)
    ends = [*(start * stream.pitch // 8 for start in starts[1:]), bytes_]
    return [
        _Part(f"_{number}", start, min(WIDE, stream.lanes - start), start * stream.pitch // 8, end)
        for number, (start, end) in enumerate(zip(starts, ends, strict=True))
    ]


def queue_places(beats: int) -> int:
    """Return the number of places of a queue for at least so many beats."""
    return max(4, 1 << (beats - 1).bit_length())


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

"""A design: the Verilog files of a program and the streams through which tensors enter and leave it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from circuitize.circuits.reading import Json
from circuitize.circuits.types import Fixed

from .modes import MODE
from .signals import element

CLOCK, RESET = "clk", "rst"
"""All logic is on the rising edge of `clk`; `rst` is synchronous and active high."""

STATUS = "status"
"""The output stream of one bit a frame: 1 where a Check failed, in which case the frame's other outputs are
meaningless.
"""


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream of a design: it carries one tensor in each frame, as beats of an AXI4-Stream that is named after the
    tensor, or of the `bus` that the tensor shares with others.

    The elements of a stream come in row-major order, `lanes` of them in each beat, with the earliest in the lowest
    bits; each takes `slot` bits, which are at least as many as the element's interval needs (`signals.width`), and the
    element's sign, or zeros, fill the remaining bits. In the last beat of a stream's frame, the lanes after the end of
    the tensor are zeros. The field `port` of a stream is the name of the program's input or output, or empty for the
    stream of the status.

    In a stream with `keep`, a beat consists of whole bytes, and `tkeep` says which of them hold elements. An input
    stream with `user` has a wire `tuser`, which is 1 where the sender knows that the beat is wrong.
    """

    name: str
    port: str
    output: bool
    format: Fixed
    lanes: int
    slot: int = 0
    keep: bool = False
    user: bool = False
    bus: str = ""

    @property
    def element_bits(self) -> int:
        """Return the number of bits that the interval of an element needs."""
        return element(self.format).width

    @property
    def pitch(self) -> int:
        """Return the distance in bits, within a beat, from the start of one element to the start of the next."""
        return self.slot or self.element_bits

    @property
    def data_bits(self) -> int:
        """Return the width in bits of `tdata`: the bits of all lanes, rounded up to whole bytes if the stream has
        `keep`.
        """
        bits = self.pitch * self.lanes
        return -(-bits // 8) * 8 if self.keep else bits

    @property
    def beats(self) -> int:
        """Return the number of beats that the stream has in each frame."""
        return -(-self.format.size // self.lanes)

    @property
    def last_lanes(self) -> int:
        """Return the number of elements in the last beat of a frame."""
        return self.format.size - (self.beats - 1) * self.lanes

    @property
    def last_keep(self) -> int:
        """Return the value of `tkeep` in the last beat of a frame, which has a 1 for each byte that contains bits of an
        element.
        """
        return (1 << -(-self.last_lanes * self.pitch // 8)) - 1

    @property
    def ports(self) -> list[str]:
        """Return the declarations of the stream's wires as ports of a module."""
        return Bus((self,)).ports


@dataclass(frozen=True, slots=True)
class Bus:
    """The wires of one AXI4-Stream, `NAME_tdata` and so on, and the tensors that it carries, one after another.

    Several tensors on a bus form one packet: `tlast` is on the last beat of the last tensor, each tensor begins with a
    new beat, and every bit of an output bus's `tkeep` is 1.
    """

    streams: tuple[Stream, ...]

    @property
    def name(self) -> str:
        """Return the prefix of the names of the bus's wires: the name of the shared bus, or of its only tensor."""
        return self.streams[0].bus or self.streams[0].name

    @property
    def output(self) -> bool:
        """Return whether the design sends on the bus, rather than receives."""
        return self.streams[0].output

    @property
    def shared(self) -> bool:
        """Return whether the bus is one that several tensors may share, in one packet."""
        return bool(self.streams[0].bus)

    @property
    def data_bits(self) -> int:
        """Return the width in bits of `tdata`, which is the same for all tensors of the bus."""
        return self.streams[0].data_bits

    @property
    def keep(self) -> bool:
        """Return whether the bus has a wire `tkeep`."""
        return self.streams[0].keep

    @property
    def user(self) -> bool:
        """Return whether the bus has a wire `tuser`."""
        return self.streams[0].user

    @property
    def beats(self) -> int:
        """Return the number of beats in one packet of the bus."""
        return sum(stream.beats for stream in self.streams)

    @property
    def every_keep(self) -> int:
        """Return the value of `tkeep` in a full beat of the bus."""
        return (1 << self.data_bits // 8) - 1

    @property
    def last_keep(self) -> int:
        """Return the value of `tkeep` in the beat of the bus that has `tlast`."""
        return self.every_keep if self.shared else self.streams[0].last_keep

    @property
    def wires(self) -> tuple[str, ...]:
        """Return the endings of the names of the bus's wires, which follow the name of the bus and `_`."""
        return ("tdata", "tvalid", "tready", "tlast") + ("tkeep",) * self.keep + ("tuser",) * self.user

    @property
    def ports(self) -> list[str]:
        """Return the declarations of the bus's wires as ports of a module."""
        into, out = ("output", "input") if self.output else ("input", "output")
        ranges = {"tdata": f"[{self.data_bits - 1}:0] ", "tkeep": f"[{self.data_bits // 8 - 1}:0] "}
        return [
            f"{out if wire == 'tready' else into} wire {ranges.get(wire, '')}{self.name}_{wire}" for wire in self.wires
        ]


@dataclass(frozen=True)
class Design:
    """A design, which is the result of a scheduler: Verilog files, streams and an estimate of its size.

    The field `files` of a design has texts by file name: `NAME.v`, and `NAME.hex` for memories that `$readmemh` loads
    under that name. The module `top` of a design has the ports `clk` and `rst` and the ports of the streams. Frames
    leave a design in the order in which they enter; a frame has entered when all its input tensors have, and the
    outputs of a frame need not leave together. A design with `control` also has AXI4-Lite registers. In a design with
    `modes`, each frame has one of several modes, which the stream `mode` gives; `modes` has, for each stream, the modes
    in whose frames the stream carries a tensor, which for the status are all modes. The field `held` names the inputs
    of the program that the design itself keeps: those with an output of the same name are state, which each frame
    updates. The `report` of a design has the scheduler's own estimate as integers: `lut`, `ff`, `dsp`, `bram_bits`,
    `latency_cycles`, `interval_cycles`, and `rounds` if each frame has several. If no stream waits, the latency is the
    number of cycles from that in which the first beat of a frame is taken to that in which the last beat of its last
    output leaves, counting both; the interval is the number of cycles from the last beat of one frame to that of the
    next.
    """

    top: str
    scheduler: str
    files: Mapping[str, str]
    streams: tuple[Stream, ...]
    held: tuple[str, ...] = ()
    report: Json = field(default_factory=dict)
    control: bool = False
    modes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def buses(self) -> tuple[Bus, ...]:
        """Return the buses that carry the streams of the design."""
        return buses(self.streams)

    @property
    def known_modes(self) -> tuple[int, ...]:
        """Return the modes that the frames of the design may have, in order; the tuple is empty if the design has no
        modes.
        """
        return tuple(sorted({mode for own in self.modes.values() for mode in own}))

    def carries(self, stream: Stream, mode: int | None) -> bool:
        """Return whether a frame of a given mode has a tensor on a stream; None stands for a mode that the design
        lacks.

        A frame of any mode has a tensor on the streams of the mode and of the status.
        """
        own = self.modes.get(stream.name)
        return own is None or stream.port == MODE or (mode is not None and mode in own)


def buses(streams: Iterable[Stream]) -> tuple[Bus, ...]:
    """Return the buses that carry the given streams, each with its streams."""
    found: dict[str, list[Stream]] = {}
    for stream in streams:
        found.setdefault(stream.bus or stream.name, []).append(stream)
    return tuple(Bus(tuple(together)) for together in found.values())


def stream_names(inputs: Iterable[str], outputs: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the names of streams by the names of ports, for inputs and for outputs: every character except letters,
    digits and `_` becomes `_`.

    The endings `_in` and `_out` are appended only if an input and an output, or a port and the status, would have the
    same name; names that are still equal are numbered, and a name that begins with a digit gets a leading `_`.
    """
    plain: dict[str, list[str]] = {"in": [], "out": []}
    ports = {"in": list(inputs), "out": list(outputs)}
    for side, names in ports.items():
        for name in names:
            word = re.sub(r"[^A-Za-z0-9_]", "_", name) or "_"
            plain[side].append(f"_{word}" if word[0].isdigit() else word)
    shared = set(plain["in"]) & set(plain["out"]) | {STATUS}
    taken: set[str] = {STATUS}
    made: dict[str, dict[str, str]] = {"in": {}, "out": {}}
    for side, names in ports.items():
        for name, word in zip(names, plain[side], strict=True):
            wanted = f"{word}_{side}" if word in shared else word
            free, number = wanted, 2
            while free in taken:
                free, number = f"{wanted}_{number}", number + 1
            taken.add(free)
            made[side][name] = free
    return made["in"], made["out"]

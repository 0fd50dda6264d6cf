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
    """A stream of a design: one tensor in each frame, as beats of an AXI4-Stream that has the tensor's name, or of the
    `bus` that the tensor shares with others.

    The elements of a stream come in row-major order, `lanes` of them a beat, the earliest in the lowest bits, each in
    `slot` bits, which are as many as the interval of an element needs (`signals.width`), or more: then the element's
    sign, or zeros, fill the slot. The last beat has zeros in the lanes past the tensor's end. The field `port` of a
    stream is the name of the program's input or output, or empty for the status.

    In a stream with `keep`, the data are whole bytes and `tkeep` says which of them hold elements. With `user` an input
    has `tuser`: 1 where whoever sends the beat knows that it is wrong.
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
        """Return the number of bits that an element's interval needs."""
        return element(self.format).width

    @property
    def pitch(self) -> int:
        """Return how many bits of a beat lie from the start of one element to the start of the next."""
        return self.slot or self.element_bits

    @property
    def data_bits(self) -> int:
        """Return the width of `tdata`: the bits of all lanes, with `keep` rounded up to whole bytes."""
        bits = self.pitch * self.lanes
        return -(-bits // 8) * 8 if self.keep else bits

    @property
    def beats(self) -> int:
        """Return how many beats a stream has in each frame."""
        return -(-self.format.size // self.lanes)

    @property
    def last_lanes(self) -> int:
        """Return how many elements are in the last beat of a stream's frame."""
        return self.format.size - (self.beats - 1) * self.lanes

    @property
    def last_keep(self) -> int:
        """Return the value of `tkeep` in the last beat of a frame: a bit for each byte that holds some of an
        element.
        """
        return (1 << -(-self.last_lanes * self.pitch // 8)) - 1

    @property
    def ports(self) -> list[str]:
        """Return the declarations of a stream's wires among the ports of a module."""
        return Bus((self,)).ports


@dataclass(frozen=True, slots=True)
class Bus:
    """The wires of one AXI4-Stream, `NAME_tdata` and so on, and the tensors that it carries, one after another.

    Several tensors make one packet: `tlast` is on the last beat of the last of them, each tensor begins with a new
    beat, and `tkeep` of an output bus is always 1.
    """

    streams: tuple[Stream, ...]

    @property
    def name(self) -> str:
        """Return the prefix of a bus's wires: the name of the shared bus, or of its one tensor."""
        return self.streams[0].bus or self.streams[0].name

    @property
    def output(self) -> bool:
        """Return whether the bus is one on which the design sends."""
        return self.streams[0].output

    @property
    def shared(self) -> bool:
        """Return whether several tensors may share the bus, in one packet."""
        return bool(self.streams[0].bus)

    @property
    def data_bits(self) -> int:
        """Return the width of `tdata`, equal for all tensors of the bus."""
        return self.streams[0].data_bits

    @property
    def keep(self) -> bool:
        """Return whether the bus has a `tkeep`."""
        return self.streams[0].keep

    @property
    def user(self) -> bool:
        """Return whether the bus has a `tuser`."""
        return self.streams[0].user

    @property
    def beats(self) -> int:
        """Return how many beats one packet takes."""
        return sum(stream.beats for stream in self.streams)

    @property
    def every_keep(self) -> int:
        """Return the value of `tkeep` in a full beat."""
        return (1 << self.data_bits // 8) - 1

    @property
    def last_keep(self) -> int:
        """Return the value of `tkeep` in the beat with `tlast`."""
        return self.every_keep if self.shared else self.streams[0].last_keep

    @property
    def wires(self) -> tuple[str, ...]:
        """Return the endings of the names of a bus's wires, which follow the bus's name and `_`."""
        return ("tdata", "tvalid", "tready", "tlast") + ("tkeep",) * self.keep + ("tuser",) * self.user

    @property
    def ports(self) -> list[str]:
        """Return the declarations of a bus's wires among the ports of a module."""
        into, out = ("output", "input") if self.output else ("input", "output")
        ranges = {"tdata": f"[{self.data_bits - 1}:0] ", "tkeep": f"[{self.data_bits // 8 - 1}:0] "}
        return [
            f"{out if wire == 'tready' else into} wire {ranges.get(wire, '')}{self.name}_{wire}" for wire in self.wires
        ]


@dataclass(frozen=True)
class Design:
    """A design, the result of a scheduler: Verilog files, streams and an estimate.

    The `files` of a design are texts by name: `NAME.v`, and `NAME.hex` for memories that `$readmemh` loads by that
    name. The module `top` of a design has the ports `clk`, `rst` and those of the streams. Frames leave a design in the
    order in which they enter; a frame enters when all its input tensors have entered; the outputs of a frame need not
    leave together. A design with `control` also has AXI4-Lite registers. In a design with `modes` a frame is of one of
    several kinds, which the stream `mode` names; `modes` holds for each stream the modes in whose frames the stream has
    a tensor, which for the status are all. `held` names the program's inputs that the design keeps itself: inputs with
    an output of the same name are state, which a frame updates. The `report` of a design holds the scheduler's own
    estimate: `lut`, `ff`, `dsp`, `bram_bits`, `latency_cycles`, `interval_cycles`, as integers. If no stream waits, the
    latency is the number of cycles from the one in which the first beat of a frame is taken to the one in which the
    last beat of its last output leaves, both counted; the interval is from one frame's last beat to the next frame's.
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
        """Return the design's streams, grouped by the wires that carry them."""
        return buses(self.streams)

    @property
    def known_modes(self) -> tuple[int, ...]:
        """Return the modes that the frames of a design may have, in order; an empty tuple if all frames are of one
        kind.
        """
        return tuple(sorted({mode for own in self.modes.values() for mode in own}))

    def carries(self, stream: Stream, mode: int | None) -> bool:
        """Return whether a frame of a mode, or of a mode that the design lacks (None), has a tensor on a stream.

        A frame of any mode has a tensor on the streams of the mode and of the status.
        """
        own = self.modes.get(stream.name)
        return own is None or stream.port == MODE or (mode is not None and mode in own)


def buses(streams: Iterable[Stream]) -> tuple[Bus, ...]:
    """Return the streams of a design, grouped by the wires that carry them."""
    found: dict[str, list[Stream]] = {}
    for stream in streams:
        found.setdefault(stream.bus or stream.name, []).append(stream)
    return tuple(Bus(tuple(together)) for together in found.values())


def stream_names(inputs: Iterable[str], outputs: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the streams' names by port name, inputs and outputs: every character that is no letter, digit or `_`
    becomes `_`.

    The endings `_in` and `_out` are appended to a stream's name only if an input and an output would share a name, or a
    port and the status; names that are still equal are numbered, and a name that begins with a digit gets a leading
    `_`.
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

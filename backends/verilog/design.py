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
"""The output stream of one bit a frame: 1 where a Check failed, and then the frame's other outputs mean nothing."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A tensor a frame, as beats of an AXI4-Stream: that of its own name, or the `bus` that it shares with others.

    Elements come in row-major order, `lanes` of them a beat, the earliest in the lowest bits, each in `slot` bits: as
    many as its interval needs (`signals.width`), or more, and then its sign, or zeros, fill the slot. The last beat has
    zeros in lanes past the end. `port` is the name of the program's input or output, and empty for the status.

    With `keep` the data are whole bytes and `tkeep` says which of them hold elements. With `user` an input has `tuser`:
    1 where whoever sends the beat knows that it is wrong.
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
        """Return the bits that an element's interval needs."""
        return element(self.format).width

    @property
    def pitch(self) -> int:
        """Bits from one element of a beat to the next."""
        return self.slot or self.element_bits

    @property
    def data_bits(self) -> int:
        """Return the width of `tdata`: all lanes, with `keep` rounded up to whole bytes."""
        bits = self.pitch * self.lanes
        return -(-bits // 8) * 8 if self.keep else bits

    @property
    def beats(self) -> int:
        """Beats a frame."""
        return -(-self.format.size // self.lanes)

    @property
    def last_lanes(self) -> int:
        """Elements in the last beat."""
        return self.format.size - (self.beats - 1) * self.lanes

    @property
    def last_keep(self) -> int:
        """`tkeep` of the last beat: a bit for each byte that holds some of an element."""
        return (1 << -(-self.last_lanes * self.pitch // 8)) - 1

    @property
    def ports(self) -> list[str]:
        """Its declarations among the ports of a module."""
        return Bus((self,)).ports


@dataclass(frozen=True, slots=True)
class Bus:
    """The wires of one AXI4-Stream, `NAME_tdata` and so on, and the tensors that it carries, one after another.

    Several tensors make one packet: `tlast` is on the last beat of the last of them, each begins with a beat of its
    own, and `tkeep` of what leaves is 1 throughout.
    """

    streams: tuple[Stream, ...]

    @property
    def name(self) -> str:
        """Return the prefix of the wires: the shared bus's name, or its one tensor's."""
        return self.streams[0].bus or self.streams[0].name

    @property
    def output(self) -> bool:
        """Return whether the design sends on this bus."""
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
        """`tkeep` of a beat that is full."""
        return (1 << self.data_bits // 8) - 1

    @property
    def last_keep(self) -> int:
        """`tkeep` of the beat with `tlast`."""
        return self.every_keep if self.shared else self.streams[0].last_keep

    @property
    def wires(self) -> tuple[str, ...]:
        """What follows the name and `_` in the names of its wires."""
        return ("tdata", "tvalid", "tready", "tlast") + ("tkeep",) * self.keep + ("tuser",) * self.user

    @property
    def ports(self) -> list[str]:
        """Its declarations among the ports of a module."""
        into, out = ("output", "input") if self.output else ("input", "output")
        ranges = {"tdata": f"[{self.data_bits - 1}:0] ", "tkeep": f"[{self.data_bits // 8 - 1}:0] "}
        return [
            f"{out if wire == 'tready' else into} wire {ranges.get(wire, '')}{self.name}_{wire}" for wire in self.wires
        ]


@dataclass(frozen=True)
class Design:
    """What a scheduler makes.

    `files` are texts by name: `NAME.v`, and `NAME.hex` for memories that `$readmemh` loads by that name. The module
    `top` has `clk`, `rst` and the streams. Frames leave in the order in which they enter; a frame enters when all
    its input streams have; outputs need not leave together. With `control` there are AXI4-Lite registers, too. With
    `modes` a frame is of one of several kinds, which the stream `mode` says, and these are by stream those in whose
    frames it has a tensor; the status has one in each. `held` names the program's inputs that the design keeps
    itself: those with an output of the same name are state, which a frame updates. `report` holds the scheduler's
    own estimate: `lut`, `ff`, `dsp`, `bram_bits`, `latency_cycles`, `interval_cycles`, as integers. Where no stream
    waits, latency is from the cycle in which the first beat of a frame is taken to that in which the last beat of
    its last output leaves, both counted; the interval is from one frame's last beat to the next one's.
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
        """Its streams by the wires that carry them."""
        return buses(self.streams)

    @property
    def known_modes(self) -> tuple[int, ...]:
        """The modes that its frames may have, in order; none where they are all of one kind."""
        return tuple(sorted({mode for own in self.modes.values() for mode in own}))

    def carries(self, stream: Stream, mode: int | None) -> bool:
        """Return whether a frame of a mode, or of one that the design lacks (None), has a tensor on a stream.

        Each frame has its mode and its status.
        """
        own = self.modes.get(stream.name)
        return own is None or stream.port == MODE or (mode is not None and mode in own)


def buses(streams: Iterable[Stream]) -> tuple[Bus, ...]:
    """Streams by the wires that carry them."""
    found: dict[str, list[Stream]] = {}
    for stream in streams:
        found.setdefault(stream.bus or stream.name, []).append(stream)
    return tuple(Bus(tuple(together)) for together in found.values())


def stream_names(inputs: Iterable[str], outputs: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """The streams' names by port name, inputs and outputs: what is no letter, digit or `_` becomes `_`.

    `_in` and `_out` are appended only where an input and an output would share a name, or a port and the status; what
    is still the same is numbered, and a name that begins with a digit gets a `_` in front.
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

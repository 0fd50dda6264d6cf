"""A design: the Verilog files of a program and the streams through which tensors enter and leave it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from circuitize.circuits.reading import Json
from circuitize.circuits.types import Fixed

from .signals import element

CLOCK, RESET = "clk", "rst"
"""All logic is on the rising edge of `clk`; `rst` is synchronous and active high."""

STATUS = "status"
"""The output stream of one bit a frame: 1 where a Check failed, and then the frame's other outputs mean nothing."""


@dataclass(frozen=True, slots=True)
class Stream:
    """An AXI4-Stream that carries one tensor a frame: `NAME_tdata`, `NAME_tvalid`, `NAME_tready`, `NAME_tlast`.

    Elements come in row-major order, `lanes` of them a beat, the earliest in the lowest bits, each in `element_bits`
    bits as its interval says (`signals.width`). The last beat of a frame has `tlast`, and zeros in lanes past the end.
    `port` is the name of the program's input or output, and empty for the status.
    """

    name: str
    port: str
    output: bool
    format: Fixed
    lanes: int

    @property
    def element_bits(self) -> int:
        return element(self.format).width

    @property
    def data_bits(self) -> int:
        return self.element_bits * self.lanes

    @property
    def beats(self) -> int:
        """Beats a frame."""
        return -(-math.prod(self.format.shape) // self.lanes)

    @property
    def ports(self) -> list[str]:
        """Its declarations among the ports of a module."""
        into, out = ("output", "input") if self.output else ("input", "output")
        return [
            f"{into} wire [{self.data_bits - 1}:0] {self.name}_tdata",
            f"{into} wire {self.name}_tvalid",
            f"{out} wire {self.name}_tready",
            f"{into} wire {self.name}_tlast",
        ]


@dataclass(frozen=True)
class Design:
    """What a scheduler makes.

    `files` are texts by name: `NAME.v`, and `NAME.hex` for memories that `$readmemh` loads by that name. The module
    `top` has `clk`, `rst` and the streams. Frames leave in the order in which they enter; a frame enters when all its
    input streams have; outputs need not leave together. `held` names the program's inputs that the design keeps itself:
    those with an output of the same name are state, which a frame updates. `report` holds the scheduler's own estimate:
    `lut`, `ff`, `dsp`, `bram_bits`, `latency_cycles`, `interval_cycles`, as integers. Where no stream waits, latency is
    from the cycle in which the first beat of a frame is taken to that in which the last beat of its last output leaves,
    both counted; the interval is from one frame's last beat to the next one's.
    """

    top: str
    scheduler: str
    files: Mapping[str, str]
    streams: tuple[Stream, ...]
    held: tuple[str, ...] = ()
    report: Json = field(default_factory=dict)


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

"""The turns on a shared bus: tensor after tensor, for all tensors or for those of a frame's mode."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..design import Bus, Design
from .wiring import Wiring

FRAME_MODE = "frame_mode"
"""The register that keeps the mode of the packet that came last: which is the mode of all frames in progress."""

Step = tuple[int, int]


@dataclass
class Turns:
    """The order of the places in a packet, as Verilog expressions over one-hot wires and the mode.

    The field `orders` has the places of a packet of each mode, beginning with place 0; a packet of any other mode, and
    every packet of a design without modes, has the places in `otherwise`. The field `mode` is the wire that holds the
    mode of the packet.
    """

    wiring: Wiring
    mode: str
    bits: int
    orders: Mapping[int, Sequence[int]]
    otherwise: Sequence[int]
    _made: dict[frozenset[int], str] = field(default_factory=dict)

    def closes(self, place: int) -> str:
        """Return a Verilog expression that is 1 if the given place is the last of its packet."""
        return self._among(place, (place, -1))

    def step(self, place: int, following: int) -> str:
        """Return a Verilog expression that is 1 if the place `following` comes directly after the given place."""
        return self._among(place, (place, following))

    def following(self, place: int, turns: Mapping[int, str]) -> str:
        """Return a Verilog expression that is 1 if the given place comes directly after the current one; `turns` are
        the wires of all places.
        """
        steps = ((turn, self.step(before, place)) for before, turn in turns.items())
        return _any(turn if step == "1'b1" else f"({turn} & {step})" for turn, step in steps if step != "1'b0")

    def closing(self, turns: Mapping[int, str]) -> str:
        """Return a Verilog expression that is 1 if the current place is the last of its packet."""
        ends = ((turn, self.closes(place)) for place, turn in turns.items())
        return _any(turn if end == "1'b1" else f"({turn} & {end})" for turn, end in ends if end != "1'b0")

    def _among(self, place: int, step: Step) -> str:
        passing = frozenset(mode for mode, order in self.orders.items() if place in order)
        own = frozenset(mode for mode, order in self.orders.items() if step in _steps(order))
        if step in _steps(self.otherwise):
            others = passing - own
            return f"~{self._within(others)}" if others else "1'b1"
        if not own:
            return "1'b0"
        return "1'b1" if own == passing and place not in self.otherwise else self._within(own)

    def _within(self, modes: frozenset[int]) -> str:
        """Return the name of a wire that is 1 if the packet's mode is one of the given modes."""
        if modes not in self._made:
            name = "_".join([self.mode, "is", *map(str, sorted(modes))])
            self._made[modes] = self.wiring.wire(name)
            found = " | ".join(f"({self.mode} == {self.bits}'d{mode})" for mode in sorted(modes))
            self.wiring.lines.append(f"  assign {name} = {found};")
        return self._made[modes]


def turns(wiring: Wiring, design: Design, bus: Bus, mode: str, bits: int) -> Turns:
    """Return the turns of the streams of a bus; `mode` is the name of a wire with the given number of bits.

    Stream k of a bus has place k in a packet. For the outputs of a design with modes, stream k has place k + 1, since
    nothing leaves in place 0, before the mode is known.
    """
    head = [0] if bus.output and design.modes else []

    def order(wanted: int | None) -> list[int]:
        places = (k + len(head) for k, stream in enumerate(bus.streams) if design.carries(stream, wanted))
        return [*head, *places]

    return Turns(wiring, mode, bits, {one: order(one) for one in design.known_modes}, order(None))


def _steps(order: Sequence[int]) -> list[Step]:
    return list(zip(order, [*order[1:], -1], strict=True))


def _any(expressions: Iterable[str]) -> str:
    return " | ".join(expressions) or "1'b0"

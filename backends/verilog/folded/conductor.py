"""The control of a design's modes: frames of one program overlap, and a frame of another mode waits until no frame is
under way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from ..modes import Modal, Mode
from .channel import HEAD, TAIL
from .counter import bits_of


class Conductor:
    """The mode of the frames that are under way, as wires of the top module.

    `begins` names the wire that is 1 in the clock in which a frame begins, and the wire with the mode of this frame; if
    `begins` is given, the conductor keeps its answers in registers.
    """

    def __init__(
        self, modal: Modal | None, wire: Callable[[str, int], str], lines: list[str], begins: tuple[str, str] | None
    ) -> None:
        self.modal, self.wire, self.lines, self.begins = modal, wire, lines, begins
        self.within = cache(self._within)
        if modal is not None:
            self.bits = max(modal.modes).bit_length()
            wire("mode", self.bits)
            wire("frames_room", 0)
            if begins is not None:
                lines.append("  wire mode_unused = ^mode;")

    def _within(self, modes: frozenset[Mode]) -> str:
        """Return a wire that is 1 in frames of the given modes, or the constant 1 if these are all modes."""
        if self.modal is None or modes >= set(self.modal.modes):
            return "1'b1"
        name = self.wire("_".join(["mode_is", *(mode.word for mode in sorted(modes))]), 0)
        found = " | ".join(f"(mode == {self.bits}'d{mode.value})" for mode in sorted(modes))
        if not self.begins:
            self.lines.append(f"  assign {name} = {found};")
            return name
        start, wanted = self.begins
        follows = found.replace("mode ==", f"{wanted} ==")
        self.lines += [
            f"  reg {name}_held;",
            f"  always @(posedge clk) if (rst | {start}) {name}_held <= ~rst & ({follows});",
            f"  assign {name} = {name}_held;",
        ]
        return name

    @property
    def unknown(self) -> str:
        """Return an expression that is 1 in frames of a mode that the design lacks, between its least and its greatest
        mode; such frames fail.
        """
        assert self.modal is not None
        modes = self.modal.modes
        lacking = sorted({*range(min(modes), max(modes))} - {*modes})
        return " | ".join(f"(mode == {self.bits}'d{mode})" for mode in lacking) or "1'b0"

    def narrowed(self, writer: frozenset[Mode], reader: frozenset[Mode]) -> str:
        """Return a wire that is 1 in frames of the reader's modes, or an empty text if the writer has no other
        modes.
        """
        return "" if writer <= reader else self.within(reader)


def frames(name: str, bits: int, most: int) -> str:
    """Return a module that counts the frames under way; `room` is 1 if one more frame may begin: if none is under way,
    or if the wanted mode runs a program and is the present mode.

    The mode changes with the beat that begins a frame. In modes that load the memory or read it back, only one frame is
    under way at a time.
    """
    count = bits_of(most)
    lines: Sequence[str] = [
        f"  reg [{count - 1}:0] under_way;",
        f"  wire none = under_way == {count}'d0;",
        f"  wire again = (wanted == mode) & mode[1] & (under_way != {count}'d{most});",
        "  assign room = none | again;",
        "  always @(posedge clk)",
        "    if (rst) begin",
        f"      mode <= {bits}'d0;",
        f"      under_way <= {count}'d0;",
        "    end else begin",
        "      if (start) mode <= wanted;",
        f"      if (start & ~ends) under_way <= under_way + {count}'d1;",
        f"      if (~start & ends) under_way <= under_way - {count}'d1;",
        "    end",
    ]
    ports = ["input wire clk", "input wire rst", "input wire start", "input wire ends"]
    ports += [f"input wire [{bits - 1}:0] wanted", f"output reg [{bits - 1}:0] mode", "output wire room"]
    text = f"// {name}: the mode of the frames under way, and whether one more may begin.\n{HEAD}module {name} (\n  "
    return text + ",\n  ".join(ports) + "\n);\n" + "\n".join(lines) + "\n" + TAIL

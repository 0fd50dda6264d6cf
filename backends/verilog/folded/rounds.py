"""Designs that take a few examples of a batch at a time: what follows from the number of rounds of a frame."""

from __future__ import annotations

from ..rounds import cut
from .counter import bits_of, counts
from .folding import Entry, Exit, Fold
from .streams import module_text


def room(fold: Fold, end: Entry | Exit) -> int | None:
    """Return for how many rounds a design has room at least for what enters or leaves, or None if that is open."""
    rounds, output = fold.rounds, isinstance(end, Exit)
    if rounds is None or end.passage.port not in cut(rounds, output):
        return None
    ends: list[Exit] | list[Entry] = fold.exits if output else fold.entries
    inside = [one for one in ends if one.passage.port in cut(rounds, output)]
    # The largest as in `in_turn`, also of equal sizes.
    size = -1 if output else 1
    largest = sorted(inside, key=lambda one: size * one.passage.format.size)[0 if output else -1]
    return None if end is largest else rounds.count


def teller(name: str, rounds: int) -> str:
    """Return the module that tells the stages which round it is, with the ports of a receiver of one beat."""
    lines = [
        "  assign w_start = w_free & ~rst;",
        *counts("count", rounds - 1, "w_start"),
        "  always @(posedge clk) begin",
        "    w_valid <= w_start;",
        f"    out0 <= count != {bits_of(rounds - 1)}'d0;",
        "    out1 <= count_ends;",
        "  end",
        "  assign w_last = 1'b1;",
        "  assign fail = 1'b0;",
    ]
    ports = [
        "input wire clk",
        "input wire rst",
        "input wire w_free",
        "output wire w_start",
        "output reg w_valid",
        "output wire w_last",
        "output wire fail",
        "output reg [0:0] out0",
        "output reg [0:0] out1",
    ]
    comment = f"{name}: whether a round is a later one than the first, and whether it is the last of {rounds}."
    return module_text(name, comment, ports, lines)

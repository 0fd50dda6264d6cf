"""Designs that take a few examples of a batch at a time: what follows from the number of rounds of a frame."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from circuitize.circuits.micro_batches import Rounds

from ..design import Stream
from .counter import bits_of, counts
from .folding import Entry, Fold
from .streams import module_text


def whole(rounds: Rounds | None, stream: Stream) -> Stream:
    """Return the stream that carries a tensor of each frame, given the stream of a round."""
    if rounds is None or stream.port not in cut(rounds, stream.output):
        return stream
    first, *rest = stream.format.shape
    return replace(stream, format=stream.format.with_shape((first * rounds.count, *rest)))


def in_turn(rounds: Rounds, streams: Iterable[Stream]) -> list[Stream]:
    """Return the input streams in an order in which they may be sent one after the other: last the largest of those of
    which each round has a block, since the design has room for whole batches of all others.
    """
    outside = [whole(rounds, stream) for stream in streams if stream.port != rounds.teller]
    return sorted(outside, key=lambda stream: (stream.port in rounds.cut_inputs, stream.format.size))


def room(fold: Fold, entry: Entry) -> int | None:
    """Return for how many rounds a design has room at least for what enters, or None if that is open."""
    rounds = fold.rounds
    if rounds is None or entry.passage.port not in rounds.cut_inputs:
        return None
    inside = [one for one in fold.entries if one.passage.port in rounds.cut_inputs]
    last = sorted(inside, key=lambda one: one.passage.format.size)[-1]  # As in `in_turn`, also of equal sizes.
    return None if entry is last else rounds.count


def cut(rounds: Rounds, output: bool) -> frozenset[str]:
    """Return the names of the outputs or of the inputs of which each round has one block."""
    return rounds.cut_outputs if output else rounds.cut_inputs


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

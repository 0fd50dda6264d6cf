"""The streams of designs that take a few examples of a batch at a time, in the rounds of a frame."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from circuitize.circuits.micro_batches import Rounds

from .design import Stream


def whole(rounds: Rounds | None, stream: Stream) -> Stream:
    """Return the stream that carries a tensor of each frame, given the stream of a round."""
    if rounds is None or stream.port not in cut(rounds, stream.output):
        return stream
    first, *rest = stream.format.shape
    return replace(stream, format=stream.format.with_shape((first * rounds.count, *rest)))


def in_turn(rounds: Rounds, streams: Iterable[Stream]) -> list[Stream]:
    """Return the input streams, or the output streams, in an order in which their tensors may pass one after the other.

    Of those of which each round has a block, a design has room for whole batches of all but the largest, which comes
    after all other inputs and before all other outputs.
    """
    outside = [whole(rounds, stream) for stream in streams]

    def place(stream: Stream) -> tuple[bool, int]:
        inside = stream.port in cut(rounds, stream.output)
        return (not inside, -stream.format.size * inside) if stream.output else (inside, stream.format.size)

    return sorted(outside, key=place)


def cut(rounds: Rounds, output: bool) -> frozenset[str]:
    """Return the names of the outputs or of the inputs of which each round has one block."""
    return rounds.cut_outputs if output else rounds.cut_inputs

"""The frames that pass a stream: all of them, or only those of some modes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.verilog.design import Bus, Design, Stream
from circuitize.backends.verilog.modes import MODE

from .beats import Taken

Integers = NDArray[np.int64]


class Passing:
    """The frames in which each stream has a tensor. Arrays about a stream have an entry for every frame, which is 0 for
    frames that do not pass the stream.
    """

    def __init__(self, design: Design, modes: Integers | None) -> None:
        self.design, self.modes = design, modes

    def frames(self, stream: Stream) -> NDArray[np.int64] | None:
        """The numbers of the frames that pass a stream, or None if all frames do."""
        own = self.design.modes.get(stream.name)
        return (
            None
            if own is None or self.modes is None or stream.port == MODE
            else np.flatnonzero(np.isin(self.modes, own))
        )

    def of(self, stream: Stream, values: Integers) -> Integers:
        """The tensors that pass a stream, of `values[frame, ...]`."""
        found = self.frames(stream)
        return values if found is None else values[found]

    def count(self, stream: Stream, frames: int) -> int:
        """How many of `frames` frames pass a stream."""
        found = self.frames(stream)
        return frames if found is None else len(found)

    def beats(self, bus: Bus, frames: int) -> tuple[Integers, NDArray[np.bool_]]:
        """For each beat of so many frames on a bus, the number of its stream on the bus, and whether it ends its
        packet.
        """
        passing = np.zeros((frames, len(bus.streams)), np.int64)
        for number, stream in enumerate(bus.streams):
            own = self.frames(stream)
            passing[slice(None) if own is None else own, number] = stream.beats
        numbers = np.tile(np.arange(len(bus.streams)), frames)
        ends = np.unique(np.cumsum(passing.sum(axis=1)))
        last = np.zeros(int(ends[-1]), np.bool_)
        last[ends[ends > 0] - 1] = True
        return np.repeat(numbers, passing.reshape(-1)), last

    def spread(self, taken: Taken) -> Taken:
        """The output of a stream, with an entry for every frame."""
        found = self.frames(taken.stream)
        if found is not None and self.modes is not None:
            taken.spread(found, len(self.modes))
        return taken

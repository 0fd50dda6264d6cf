"""The frames that pass a stream of a design: all frames, or only those of some modes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.verilog.design import Bus, Design, Stream
from circuitize.backends.verilog.modes import MODE

from .beats import Taken

Integers = NDArray[np.int64]


class Passing:
    """The frames of a design in which each stream has a tensor. The arrays for a stream have an entry for every frame,
    which is 0 for frames that do not pass the stream.
    """

    def __init__(self, design: Design, modes: Integers | None) -> None:
        self.design, self.modes = design, modes

    def frames(self, stream: Stream) -> NDArray[np.int64] | None:
        """Return the numbers of the frames that pass a stream of a design, or None if all frames do."""
        own = self.design.modes.get(stream.name)
        return (
            None
            if own is None or self.modes is None or stream.port == MODE
            else np.flatnonzero(np.isin(self.modes, own))
        )

    def of(self, stream: Stream, values: Integers) -> Integers:
        """Return the tensors in `values[frame, ...]` that pass a stream of a design."""
        found = self.frames(stream)
        return values if found is None else values[found]

    def count(self, stream: Stream, frames: int) -> int:
        """Return how many of `frames` frames pass a stream of a design."""
        found = self.frames(stream)
        return frames if found is None else len(found)

    def beats(self, bus: Bus, frames: int) -> tuple[Integers, NDArray[np.bool_]]:
        """Return for each beat of the given number of frames on a bus the number of the beat's stream on the bus, and
        whether the beat ends its packet.
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
        """Return the output of a design's stream, with an entry for every frame."""
        found = self.frames(taken.stream)
        if found is not None and self.modes is not None:
            taken.spread(found, len(self.modes))
        return taken

"""The frames that pass a stream: all of them, or those of some modes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.verilog.design import Design, Stream
from circuitize.backends.verilog.modes import MODE

from .beats import Taken

Integers = NDArray[np.int64]


class Passing:
    """For each stream, the frames in which it has a tensor. Arrays have an entry for every frame: for frames that do
    not pass, it is 0.
    """

    def __init__(self, design: Design, modes: Integers | None) -> None:
        self.design, self.modes = design, modes

    def frames(self, stream: Stream) -> NDArray[np.int64] | None:
        """The numbers of the frames that pass, or None if all do."""
        own = self.design.modes.get(stream.name)
        return (
            None
            if own is None or self.modes is None or stream.port == MODE
            else np.flatnonzero(np.isin(self.modes, own))
        )

    def of(self, stream: Stream, values: Integers) -> Integers:
        """The tensors that pass, of `values[frame, ...]`."""
        found = self.frames(stream)
        return values if found is None else values[found]

    def count(self, stream: Stream, frames: int) -> int:
        """How many of `frames` frames pass the stream."""
        found = self.frames(stream)
        return frames if found is None else len(found)

    def spread(self, taken: Taken) -> Taken:
        """The output of a stream, with an entry for every frame."""
        found = self.frames(taken.stream)
        if found is not None and self.modes is not None:
            taken.spread(found, len(self.modes))
        return taken

"""Timers for the named parts of a piece of work, and a callback that is told what is under way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[str], object]
"""A callback that is told what is under way, in a few words; an empty text says that it is over."""


def silent(_: str) -> None:
    """A callback that ignores what it is told."""


@contextmanager
def under_way(progress: Progress, stage: str) -> Iterator[None]:
    """Tell the callback what is being done while the block lasts."""
    progress(stage)
    try:
        yield
    finally:
        progress("")


class Phases:
    """The wall time and processor time of each phase, in seconds, by the phase's name. The callback `progress` of
    Phases is called when each phase begins and ends.
    """

    def __init__(self, progress: Progress = silent) -> None:
        self.progress = progress
        self.seconds: dict[str, float] = {}
        self.cpu_seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str, stage: str) -> Iterator[None]:
        """Count the time of the block as the phase `name`; `stage` says in words what the block does."""
        wall, cpu = time.perf_counter(), time.process_time()
        with under_way(self.progress, stage):
            yield
        self.seconds[name] = time.perf_counter() - wall
        self.cpu_seconds[name] = time.process_time() - cpu

    def take_out(self, inner: str, outer: str) -> None:
        """Subtract `inner`, a phase that ran within `outer`, from `outer`."""
        for table in (self.seconds, self.cpu_seconds):
            table[outer] -= table[inner]

    def as_json(self) -> dict[str, dict[str, float]]:
        """Return the seconds that each phase took, rounded to a tenth of a millisecond."""
        return {
            name: {"seconds": round(self.seconds[name], 4), "cpu_seconds": round(self.cpu_seconds[name], 4)}
            for name in self.seconds
        }

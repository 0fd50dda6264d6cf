"""The clocks at which stages start frame after frame: exact, since a stage that has started never waits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]

FRAMES = 64
"""Frames that are followed to find how often one ends."""


@dataclass(frozen=True)
class Actor:
    """What starts frames: a receiver, a stage, a sender or the status.

    A frame started at clock s ends its last write at s + `writes`, and the next can start at s + `cycles`. `shows` is
    when its last beat leaves, where it is an output.
    """

    name: str
    cycles: int
    writes: int = 0
    shows: int | None = None


@dataclass(frozen=True)
class Link:
    """A channel: `reader` starts a frame after `writer` wrote it; its bank is free after s + `reads`.

    `banks` None is as many as it takes. With `state`, the writer's frame is read by the next frame, after its status.
    """

    writer: int
    reader: int
    reads: int
    banks: int | None = None
    state: bool = False


def starts(actors: Sequence[Actor], links: Sequence[Link], frames: int, spacing: int = 0) -> Indices:
    """starts[frame, actor], the status last; receivers, which have no links in, start at least `spacing` apart."""
    status = len(actors) - 1
    made = np.zeros((frames, len(actors)), np.int64)
    into: list[list[Link]] = [[] for _ in actors]
    out: list[list[Link]] = [[] for _ in actors]
    for link in links:
        into[link.reader].append(link)
        if not link.state:
            out[link.writer].append(link)
        else:
            into[status].append(Link(link.reader, status, 0, state=True))
    state_reads = {(link.reader): 0 for link in links if link.state}
    for link in links:
        if link.state:
            state_reads[link.reader] = max(state_reads[link.reader], link.reads)
    for frame in range(frames):
        for number, actor in enumerate(actors):
            soonest = made[frame - 1, number] + actor.cycles if frame else 0
            if not into[number]:
                soonest = max(soonest, frame * spacing)
            for link in into[number]:
                if link.state and number == status:
                    soonest = max(soonest, made[frame, link.writer] + state_reads[link.writer] + 1)
                elif link.state:
                    soonest = max(soonest, made[frame - 1, status] + 1 if frame else 0)
                else:
                    soonest = max(soonest, made[frame, link.writer] + actors[link.writer].writes + 1)
            for link in out[number]:
                if link.banks is not None and frame >= link.banks:
                    soonest = max(soonest, made[frame - link.banks, link.reader] + link.reads + 1)
            made[frame, number] = soonest
    return made


def ends(actors: Sequence[Actor], made: Indices) -> Indices:
    """The clock of each frame's last beat: of its status, where it has no output."""
    shown = [number for number, actor in enumerate(actors) if actor.shows is not None] or [len(actors) - 1]
    found: Indices = np.max([made[:, number] + (actors[number].shows or 0) for number in shown], axis=0)
    return found


def interval(actors: Sequence[Actor], links: Sequence[Link]) -> int:
    """Clocks from frame to frame in the long run, rounded up."""
    frames = FRAMES
    found = ends(actors, starts(actors, links, frames))
    half = frames // 2
    return int(-(-(found[-1] - found[half - 1]) // (frames - half)))


def latency(actors: Sequence[Actor], links: Sequence[Link]) -> int:
    """Clocks of the first frame, that of its first beat in and that of its last beat out included."""
    return int(ends(actors, starts(actors, links, 1))[0]) + 1


def banks(actors: Sequence[Actor], links: Sequence[Link]) -> list[int]:
    """For each channel the fewest banks with which no writer waits, when frames come as fast as they can leave."""
    free = [Link(link.writer, link.reader, link.reads, None, link.state) for link in links]
    spacing = interval(actors, free)
    frames = FRAMES
    made = starts(actors, free, frames, spacing)
    found = []
    for link in free:
        count = 1
        while (
            not link.state and (made[: frames - count, link.reader] + link.reads + 1 > made[count:, link.writer]).any()
        ):
            count += 1
        found.append(2 if link.state else count)
    return found

"""A model of the clocks at which stages start frame after frame; it is exact, since a stage that has started never
waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]

FRAMES = 64
"""Frames that are followed to find how often one ends."""


@dataclass(frozen=True)
class Actor:
    """A part of a design that starts frames: a receiver, a stage, a sender or the status.

    An actor starts a frame `waits` clocks after everything that it needs is there. If an actor starts a frame at clock
    s, its last write ends at s + `writes`, and it can start the next frame at s + `cycles`. `shows` says how many
    clocks after the start of an actor its last beat leaves, if the actor is an output.
    """

    name: str
    cycles: int
    writes: int = 0
    shows: int | None = None
    waits: int = 0


@dataclass(frozen=True)
class Link:
    """A channel: `reader` starts a frame after `writer` wrote it, and the bank is free `reads` clocks after the
    reader's start.

    If `banks` is None, the channel has as many banks as it needs. If `state` is true, the next frame reads what the
    writer wrote, after the status of the writer's frame. `ahead` says how many clocks after the writer's start a frame
    may be read, if that is before all of it is written.
    """

    writer: int
    reader: int
    reads: int
    banks: int | None = None
    state: bool = False
    ahead: int | None = None


Turns = Sequence[tuple[int, int]]
"""Actors that read one memory, in the order in which they do in each frame, and when their last reads are.

One may start once the one before has read, the first one once the last one has read the frame before.
"""


def starts(
    actors: Sequence[Actor],
    links: Sequence[Link],
    turns: Sequence[Turns],
    frames: int,
    spacing: int = 0,
    order: Sequence[int] | None = None,
) -> Indices:
    """Return the clock at which each actor starts each frame, as starts[frame, actor], with the status last.

    Receivers, which no link leads to, start frames at least `spacing` clocks apart. `order` is the order of all actors
    in which turns are taken, if it differs from that of `first_come`.
    """
    status = len(actors) - 1
    after: list[list[tuple[int, int, int]]] = [[] for _ in actors]
    for one in turns:
        for place, (actor, _) in enumerate(one):
            after[actor].append((*one[place - 1], 1 if place == 0 else 0))
    if order is None:
        order = first_come(actors, links) if turns else range(len(actors))
    # By actor: whose start of how many frames before, and how many clocks later this one may start.
    waits: list[list[tuple[int, int, int]]] = [[] for _ in actors]
    for link in links:
        if link.state:
            waits[link.reader].append((1, status, 1))
            waits[status].append((0, link.reader, link.reads + 1))
            continue
        written = actors[link.writer].writes + 1 if link.ahead is None else link.ahead
        waits[link.reader].append((0, link.writer, written))
        if link.banks is not None:
            waits[link.writer].append((link.banks, link.reader, link.reads + 1))
    for number, others in enumerate(after):
        waits[number] += [(back, other, reads + 1) for other, reads, back in others]
    for number, own in enumerate(actors):
        later = [(back, other, clocks + own.waits) for back, other, clocks in waits[number]]
        waits[number] = [*later, (1, number, own.cycles)]
    waiting = {link.reader for link in links} | {status for link in links if link.state}
    # Lists of numbers, which Python reads one at a time in a tenth of the time that an array takes.
    made: list[list[int]] = []
    for frame in range(frames):
        now = [0] * len(actors)
        made.append(now)
        for number in order:
            soonest = actors[number].waits + (0 if number in waiting else frame * spacing)
            for back, other, clocks in waits[number]:
                if frame >= back and (start := made[frame - back][other] + clocks) > soonest:
                    soonest = start
            now[number] = soonest
    return np.array(made, np.int64).reshape(frames, len(actors))


def first_come(actors: Sequence[Actor], links: Sequence[Link]) -> list[int]:
    """Return the actors in an order in which they may take turns at memories: that in which they start if none waits
    for a turn.

    In the order of turns, outputs come after all stages, so that no stage waits for a sender of the same frame, and the
    status comes last. The order of turns is the same whether or not frames are read while they are still being written.
    """
    soonest = starts(actors, [replace(link, ahead=None) for link in links], (), 1)[0]
    status = len(actors) - 1
    return sorted(range(len(actors)), key=lambda k: (k == status, actors[k].shows is not None, soonest[k], k))


def ends(actors: Sequence[Actor], made: Indices) -> Indices:
    """Return for each frame the clock of its last beat out or, if it has no output, of its status."""
    shown = [number for number, actor in enumerate(actors) if actor.shows is not None] or [len(actors) - 1]
    found: Indices = np.max([made[:, number] + (actors[number].shows or 0) for number in shown], axis=0)
    return found


def interval(
    actors: Sequence[Actor],
    links: Sequence[Link],
    turns: Sequence[Turns] = (),
    order: Sequence[int] | None = None,
    frames: int = FRAMES,
) -> int:
    """Return the number of clocks from one frame to the next in the long run, rounded up, over the second half of
    `frames` frames.
    """
    found = ends(actors, starts(actors, links, turns, frames, order=order))
    half = frames // 2
    return int(-(-(found[-1] - found[half - 1]) // (frames - half)))


def latency(
    actors: Sequence[Actor],
    links: Sequence[Link],
    turns: Sequence[Turns] = (),
    order: Sequence[int] | None = None,
    rounds: int = 1,
) -> int:
    """Return the number of clocks of the first frame, including those of its first beat in and of its last beat out, if
    each frame has so many `rounds`, which are the frames of the actors.
    """
    return int(ends(actors, starts(actors, links, turns, rounds, order=order))[-1]) + 1


def banks(
    actors: Sequence[Actor], links: Sequence[Link], turns: Sequence[Turns] = (), order: Sequence[int] | None = None
) -> list[int]:
    """Return for each channel the fewest banks with which no writer waits if frames come as fast as they can leave.

    A link whose number of banks is given keeps this number.
    """
    spacing = interval(actors, links, turns, order)
    frames = FRAMES
    made = starts(actors, links, turns, frames, spacing, order)
    found = []
    for link in links:
        count = link.banks or 1
        while (
            not (link.state or link.banks)
            and (made[: frames - count, link.reader] + link.reads + 1 > made[count:, link.writer]).any()
        ):
            count += 1
        found.append(2 if link.state else count)
    return found

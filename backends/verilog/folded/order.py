"""The order of turns, in which stages read memories and use shared lanes; it is the same in every frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .model import Actor, Link, first_come

PATIENCE = 128
"""Clocks that free lanes wait for a stage on which more depends than on one that could use them."""


def in_turns(actors: Sequence[Actor], links: Sequence[Link], alone: Mapping[int, int]) -> list[int]:
    """Return the actors in an order in which they may take turns at memories and shared lanes.

    `alone` maps the actors of which only one at a time may run to the number of clocks for which each runs. Among the
    actors that are ready when the lanes are free, or soon after, the actor comes first from which the way to the end of
    the frame is longest. In the order of turns, outputs come after all stages, and the status comes last, as in
    `first_come`. The order of turns assumes that no tensor is read before all of it is written.
    """
    if not alone:
        return first_come(actors, links)
    into: list[list[tuple[int, int]]] = [[] for _ in actors]
    onward: list[list[tuple[int, int]]] = [[] for _ in actors]
    for link in links:
        if not link.state:
            clocks = actors[link.writer].writes + 1
            into[link.reader].append((link.writer, clocks))
            onward[link.writer].append((link.reader, clocks))
    way = [actor.cycles for actor in actors]
    for number in reversed(first_come(actors, links)):
        way[number] = max([way[number], *(clocks + way[reader] for reader, clocks in onward[number])])
    started: dict[int, int] = {}
    free = 0
    while len(started) < len(actors):
        ready = {
            number: max([0, *(started[writer] + clocks for writer, clocks in writers)])
            for number, writers in enumerate(into)
            if number not in started and all(writer in started for writer, _ in writers)
        }
        if any(number not in alone for number in ready):
            started.update((number, clock) for number, clock in ready.items() if number not in alone)
            continue
        soonest = min(max(clock, free) for clock in ready.values())
        chosen = max((k for k in ready if max(ready[k], free) <= soonest + PATIENCE), key=lambda k: (way[k], -k))
        started[chosen] = max(ready[chosen], free)
        free = started[chosen] + alone[chosen]
    status = len(actors) - 1
    return sorted(started, key=lambda k: (k == status, actors[k].shows is not None, started[k], k))

"""The order of turns, in which stages read memories and use shared lanes; it is the same in every frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from .model import Actor, Link, first_come

PATIENCE = 128
"""Clocks that free lanes wait for a stage on which more depends than on one that could use them."""


class Rule(Enum):
    """Which of the actors that are ready comes first."""

    FARTHEST = "the one from which the way to the end of the frame is longest"
    SHORTEST = "the one that runs for the fewest clocks"


def in_turns(
    actors: Sequence[Actor], links: Sequence[Link], alone: Mapping[int, int], rule: Rule = Rule.FARTHEST
) -> list[int]:
    """Return the actors in an order in which they may take turns at memories and shared lanes.

    `alone` maps the actors of which only one at a time may run to the number of clocks for which each runs. Among the
    actors that are ready when the lanes are free, or soon after, `rule` says which comes first. In the order of turns,
    outputs come after all stages, and the status comes last, as in `first_come`. The order of turns assumes that no
    tensor is read before all of it is written.
    """
    if not alone:
        return first_come(actors, links)
    missing = [0] * len(actors)
    onward: list[list[tuple[int, int]]] = [[] for _ in actors]
    for link in links:
        if not link.state:
            missing[link.reader] += 1
            onward[link.writer].append((link.reader, actors[link.writer].writes + 1))
    way = [actor.cycles for actor in actors]
    for number in reversed(first_come(actors, links)):
        way[number] = max([way[number], *(clocks + way[reader] for reader, clocks in onward[number])])
    begun, free, ready = [0] * len(actors), 0, {k for k, count in enumerate(missing) if not count}
    while ready:
        chosen = next((k for k in ready if k not in alone), None)
        if chosen is None:
            soonest = max(free, min(begun[k] for k in ready))
            soon = [k for k in ready if begun[k] <= soonest + PATIENCE]
            if rule is Rule.SHORTEST:
                fewest = min(alone[k] for k in soon)
                soon = [k for k in soon if alone[k] == fewest]
            chosen = max(soon, key=lambda k: (way[k], -k))
            begun[chosen] = max(begun[chosen], free)
            free = begun[chosen] + alone[chosen]
        ready.remove(chosen)
        for reader, clocks in onward[chosen]:
            begun[reader] = max(begun[reader], begun[chosen] + clocks)
            missing[reader] -= 1
            if not missing[reader]:
                ready.add(reader)
    status = len(actors) - 1
    return sorted(range(len(actors)), key=lambda k: (k == status, actors[k].shows is not None, begun[k], k))

"""Fusing operations into groups that share tiles: groups are joined as long as this lowers the number of moved
words.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .group import Group, Wiring
from .search import best
from .words import Partition

MOST_EDGES = 48
"""The most operations of a group that shares tiles."""


@dataclass(frozen=True)
class Fused:
    """A group of operations that run together, with the partition into tiles, which is None if the memory is too small
    for the group.
    """

    group: Group
    partition: Partition | None

    @property
    def moved(self) -> float:
        """Return the number of words that the group moves between the memories, which is infinite if it has no
        partition.
        """
        return float("inf") if self.partition is None else self.partition.moved


def alone(wiring: Wiring, memory: float) -> list[Fused]:
    """Return a group for every operation that computes something, which contains this operation only."""
    return [_fused(wiring, [edge], memory) for edge in range(len(wiring.rows)) if wiring.computes(edge)]


def fuse(wiring: Wiring, memory: float) -> list[Fused]:
    """Return groups of operations that move fewer words together than apart, in an order in which the groups can run.

    Wires are considered from the largest on: the group that writes a wire and a group that reads it are joined if no
    other operation would have to run between them, if no two axes of an array become the same axis, and if fewer words
    are then moved. An operation that only moves elements, such as a transposition, only changes addresses, and moves no
    words if it is a group by itself.
    """
    return _Fusing(wiring, memory).groups()


def _fused(wiring: Wiring, edges: Iterable[int], memory: float) -> Fused:
    group = Group(wiring, edges)
    return Fused(group, best(group, memory))


class _Fusing:
    def __init__(self, wiring: Wiring, memory: float) -> None:
        self.wiring, self.memory = wiring, memory
        count = len(wiring.rows)
        self.of = list(range(count))
        self.members = {edge: [edge] for edge in range(count)}
        self.found: dict[int, Fused] = {}
        self.next: dict[int, set[int]] = {edge: set() for edge in range(count)}
        for edge, (_, sources, _, _) in enumerate(wiring.rows):
            for wire in sources:
                if wiring.writer[wire] >= 0:
                    self.next[wiring.writer[wire]].add(edge)

    def groups(self) -> list[Fused]:
        wiring = self.wiring
        sizes = {wire: wiring.arrow.type(wire).size for wire in range(len(wiring.writer)) if wiring.writer[wire] >= 0}
        for wire in sorted(sizes, key=lambda wire: (-sizes[wire], wire)):
            if wiring.rows[wiring.writer[wire]][1]:
                for reader in wiring.readers[wire]:
                    self._try(self.of[wiring.writer[wire]], self.of[reader])
        return [self._now(root) for root in self._order() if any(map(wiring.computes, self.members[root]))]

    def _now(self, root: int) -> Fused:
        if root not in self.found:
            self.found[root] = _fused(self.wiring, self.members[root], self.memory)
        return self.found[root]

    def _cost(self, root: int) -> float:
        """Return the number of words that a group moves, which is 0 if its operations only move elements."""
        return self._now(root).moved if any(map(self.wiring.computes, self.members[root])) else 0.0

    def _try(self, first: int, second: int) -> None:
        edges = [*self.members[first], *self.members[second]]
        if first == second or len(edges) > MOST_EDGES or self._between(first, second):
            return
        group = Group(self.wiring, edges)
        if not group.apart:
            return
        joined = Fused(group, best(group, self.memory))
        if joined.partition is not None and joined.moved < self._cost(first) + self._cost(second):
            self._join(first, second, joined)

    def _join(self, first: int, second: int, joined: Fused) -> None:
        for edge in self.members[second]:
            self.of[edge] = first
        self.members[first] = joined.group.edges
        del self.members[second]
        self.next[first] = (self.next[first] | self.next.pop(second)) - {first, second}
        for after in self.next.values():
            if second in after:
                after.discard(second)
                after.add(first)
        self.next[first].discard(first)
        self.found[first] = joined
        self.found.pop(second, None)

    def _between(self, first: int, second: int) -> bool:
        """Return whether a path of wires leads from one group to another through a third group."""
        seen, stack = {first, second}, [after for after in self.next[first] if after != second]
        while stack:
            group = stack.pop()
            if group in seen:
                continue
            seen.add(group)
            if second in self.next[group]:
                return True
            stack.extend(self.next[group])
        return False

    def _order(self) -> list[int]:
        """Return the groups of operations in an order in which each wire is written before it is read."""
        waiting = dict.fromkeys(self.members, 0)
        for later in self.next.values():
            for group in later:
                waiting[group] += 1
        ready = sorted((group for group, count in waiting.items() if not count), reverse=True)
        found = []
        while ready:
            group = ready.pop()
            found.append(group)
            for after in sorted(self.next[group], reverse=True):
                waiting[after] -= 1
                if not waiting[after]:
                    ready.append(after)
        return found

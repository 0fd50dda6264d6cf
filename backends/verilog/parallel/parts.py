"""Large operations in several modules, since tools take time that grows with the square of a module's signals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...verilog.design import Stream
from ...verilog.netlist import Integers, Kind, Netlist
from .pipeline import Pipeline

MOST = 1 << 13
"""The most signals of a module; a stream that is unpacked is not cut."""


@dataclass
class Group:
    """The nodes of one operation, which form a module: its name, its comment for readers, and the stream that it
    unpacks, if there is one.
    """

    name: str
    comment: Sequence[str]
    stream: Stream | None = None
    labels: dict[int, str] = field(default_factory=dict)
    """The names of the nodes that are elements of the operation's target."""


def parts(net: Netlist, groups: Sequence[Group], pipe: Pipeline) -> tuple[list[Group], Integers]:
    """Return the groups, where those of more than MOST signals are cut into parts, and the group of each node.

    A node has a signal in its own pipeline stage and in each later one in which it is read. Parts are runs of nodes in
    the order of the elements for which they are made, so that few signals pass from part to part, and no part reads a
    later one.
    """
    live = np.flatnonzero(pipe.live & (net.kind != Kind.CONSTANT))
    order = live[np.argsort(net.group[live], kind="stable")]
    bounds = np.searchsorted(net.group[order], np.arange(len(groups) + 1))
    taken = {group.name for group in groups}
    made: list[Group] = []
    owner = np.zeros(len(net.kind), np.int64)
    for group, first, last in zip(groups, bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        members = order[first:last]
        signals = np.cumsum(1 + pipe.delay[members])
        count = 1 if group.stream is not None or not len(members) else -(-int(signals[-1]) // MOST)
        if count == 1:
            owner[members] = len(made)
            made.append(group)
            continue
        members = members[np.argsort(_elements(net, group, members.tolist()), kind="stable")]
        signals = np.cumsum(1 + pipe.delay[members])
        each = -(-int(signals[-1]) // count)
        place = (signals - 1) // each
        owner[members] = len(made) + place
        labels: list[dict[int, str]] = [{} for _ in range(count)]
        for node, part in zip(members.tolist(), place.tolist(), strict=True):
            if node in group.labels:
                labels[part][node] = group.labels[node]
        for part, named in enumerate(labels):
            comment = [*group.comment, f"part {part + 1} of {count}"]
            made.append(Group(_free(f"{group.name}_part{part + 1}", taken), comment, None, named))
    return made, owner


def _elements(net: Netlist, group: Group, members: list[int]) -> list[int]:
    """Return for each node of a group the first element, in the order of the target, that is made of it."""
    first = dict.fromkeys(members, len(group.labels))
    first |= {node: place for place, node in enumerate(reversed(group.labels)) if node in first}
    for node in reversed(members):
        for read in (int(net.a[node]), int(net.b[node]), int(net.c[node])):
            if read in first:
                first[read] = min(first[read], first[node])
    return [first[node] for node in members]


def _free(name: str, taken: set[str]) -> str:
    """Return a name that no group has, and take it."""
    while name in taken:
        name += "x"
    taken.add(name)
    return name

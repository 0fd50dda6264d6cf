"""Large operations in several modules, since tools take time that grows with the square of a module's signals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...verilog.design import Stream
from ...verilog.netlist import Integers, Kind, Netlist
from .pipeline import Pipeline

MOST = 1 << 13
"""The most signals of a module."""


@dataclass
class Group:
    """The nodes of one operation, which form a module: its name, its comment for readers, and the stream that it
    unpacks, if there is one, with the wire of the top module that has the stream's data.
    """

    name: str
    comment: Sequence[str]
    stream: Stream | None = None
    data: str = ""
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
    owner = np.zeros(net.count, np.int64)
    for group, first, last in zip(groups, bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        members, cut = order[first:last], [group]
        count = -(-int((1 + pipe.delay[members]).sum()) // MOST)
        if count > 1:
            members = members[np.argsort(_elements(net, group, members), kind="stable")]
            signals = np.cumsum(1 + pipe.delay[members])
            place = (signals - 1) // -(-int(signals[-1]) // count)
            owner[members] = place
            cut = _cut(group, members, place, count, taken)
        owner[members] += len(made)
        made += cut
    return made, owner


def _cut(group: Group, members: Integers, place: Integers, count: int, taken: set[str]) -> list[Group]:
    """Return the parts of a group, whose nodes have the given places; their names are added to those taken."""
    labels: list[dict[int, str]] = [{} for _ in range(count)]
    for node, part in zip(members.tolist(), place.tolist(), strict=True):
        if node in group.labels:
            labels[part][node] = group.labels[node]
    found = []
    for part, named in enumerate(labels, 1):
        name = f"{group.name}_part{part}"
        while name in taken:
            name += "x"
        taken.add(name)
        found.append(Group(name, [*group.comment, f"part {part} of {count}"], group.stream, group.data, named))
    return found


def _elements(net: Netlist, group: Group, members: Integers) -> list[int]:
    """Return for each node of a group the first element, in the order of the target, that is made of it."""
    nodes = members.tolist()
    first = dict.fromkeys(nodes, len(group.labels))
    first |= {node: place for place, node in enumerate(reversed(group.labels)) if node in first}
    operands = np.stack([net.a[members], net.b[members], net.c[members]], axis=1).tolist()
    for node, read in zip(reversed(nodes), reversed(operands), strict=True):
        for operand in read:
            if operand in first:
                first[operand] = min(first[operand], first[node])
    return [first[node] for node in nodes]

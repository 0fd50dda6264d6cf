"""The choice in two clocks: where one of many block memories is chosen, its word comes to a reader a clock later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..signals import element
from .blocks import rows
from .channel import WAYS
from .feeding import plain
from .sharing import Client, Memory
from .sizes import Sizes
from .tiling import Tiling

Columns = tuple[frozenset[int], ...]
"""For each client of a memory the columns that are chosen in two clocks."""


def in_two_clocks(
    sizes: Sizes, memories: Sequence[Memory], tilings: Sequence[Tiling]
) -> tuple[tuple[Columns, ...], Sizes]:
    """Return the columns of each memory that are chosen in two clocks: in a step, those with many block memories to
    choose from, whose readers all can take them a clock later. Return also the sizes with the clocks that this takes.

    Outputs take words a clock later only if frames may then take as long as they do.
    """
    if not sizes.fold.members:
        return tuple((frozenset[int](),) * len(memory.clients) for memory in memories), sizes
    found = tuple(_columns(sizes, memory, tilings, True) for memory in memories)
    made = _sent_late(sizes, memories, found)
    if sizes.longest is None or made.interval <= sizes.longest:
        return found, made
    return tuple(_columns(sizes, memory, tilings, False) for memory in memories), sizes


def _columns(sizes: Sizes, memory: Memory, tilings: Sequence[Tiling], sent: bool) -> Columns:
    """Return the columns of a memory that are chosen in two clocks; if `sent` is false, outputs read none of them."""
    first = memory.readers[0]
    width = element(sizes.fold.format(sizes.readers[first].wire)).width
    banks, layouts = sizes.links[first].banks or 1, [client.layout for client in memory.clients]
    in_blocks = {
        number
        for number in range(len(layouts[0].copies))
        if any(row.block for row in rows(layouts, number, width, banks, True, sizes.sliced))
    }

    def chosen(client: Client) -> frozenset[int]:
        columns = frozenset(
            place
            for place, column in enumerate(client.layout.columns)
            if column.select is not None and len(column.sources) > WAYS and column.mask is None
            if column.copy in in_blocks
        )
        outputs = [actor for number in client.readers for actor in senders(sizes, number)]
        if outputs and not (sent and len(columns) == len(client.layout.columns)):
            return frozenset()
        return columns if all(_can_wait(sizes, number, tilings) for number in client.readers) else frozenset()

    return tuple(map(chosen, memory.clients))


def _can_wait(sizes: Sizes, number: int, tilings: Sequence[Tiling]) -> bool:
    """Return whether a reader can take what it reads a clock later.

    A stage can if it has a register behind its memories, or if its factors are plain: registers before the second
    choice then take the place of the factors' own registers.
    """
    reader, fold = sizes.readers[number], sizes.fold
    if reader.operand is None:
        return True
    stage = reader.actor - len(sizes.in_lanes)
    as_it_is = reader.inside and stage in fold.members and plain(fold.members[stage])
    return as_it_is or tilings[stage].late[0 if reader.inside else 1]


def senders(sizes: Sizes, number: int) -> list[int]:
    """Return the actors that send what a reader reads: the reader itself if it is a sender, and the outputs that share
    the reader.
    """
    reader = sizes.readers[number]
    own = [reader.actor] if reader.operand is None else []
    return [*own, *(actor for actor, shared in sizes.shared.items() if shared == number)]


def _sent_late(sizes: Sizes, memories: Sequence[Memory], found: Sequence[Columns]) -> Sizes:
    """Return the sizes of a design in which the senders of columns that are chosen in two clocks take a clock longer; a
    sender that shares a memory also keeps the memory for a clock longer.
    """
    actors, links, late = list(sizes.actors), list(sizes.unbanked), set[int]()
    for memory, client in _chosen(memories, found):
        for number in client.readers:
            late.update(senders(sizes, number))
            if sizes.readers[number].operand is None and len(memory.clients) > 1:
                links[number] = replace(links[number], reads=links[number].reads + 1)
    for actor in late:
        actors[actor] = replace(actors[actor], shows=(actors[actor].shows or 0) + 1)
    return replace(sizes, actors=actors, unbanked=links, late=frozenset(late))


def _chosen(memories: Sequence[Memory], found: Sequence[Columns]) -> Iterator[tuple[Memory, Client]]:
    """Yield the clients that have columns which are chosen in two clocks, each with its memory."""
    for memory, columns in zip(memories, found, strict=True):
        for client, chosen in zip(memory.clients, columns, strict=True):
            if chosen:
                yield memory, client

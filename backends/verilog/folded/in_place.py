"""Sums over rounds that are kept in one place: a stage that adds to a sum writes each element where it read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..signals import element
from .sharing import Memory, Table, as_guest, kept_bits
from .sizes import Sizes
from .terms import equal


def in_place(memories: Sequence[Memory], sizes: Sizes, tables: Sequence[Table]) -> tuple[list[Memory], Sizes]:
    """Return memories in which what a design keeps from round to round is there once, if that saves bits of block
    memory, and the sizes that go with them.

    A stage that writes such a tensor, and alone reads its value of the round before, reads each element before it
    writes it. The element then needs no second bank: if a frame fails, its first round begins anew. The stage reads
    from the memory of those that read the new value, which is written once they have read, and read once all of it is
    written.
    """
    fold, rounds = sizes.fold, sizes.fold.rounds
    found, links = list(memories), list(sizes.unbanked)
    for old, new in fold.states.items() if rounds is not None else ():
        mine = _of_writer(found, sizes, old, new)
        if rounds is None or fold.held[old].name not in rounds.kept or mine is None:
            continue
        for place, host in enumerate(found):
            if any(sizes.readers[k].wire != new or sizes.readers[k].operand is None for k in host.readers):
                continue
            made = as_guest(host.clients[0].layout, mine.clients[0], tables)
            if made is not None:
                found[place] = Memory((*host.clients, made), own=True)
                found.remove(mine)
                for k in host.readers:
                    links[k] = replace(links[k], banks=1)
                break
    return found, replace(sizes, unbanked=links)


def _of_writer(memories: Sequence[Memory], sizes: Sizes, old: int, new: int) -> Memory | None:
    """Return the memory of a state, by its wire and that of its new value, or None unless it takes bits of block memory
    and the stage that writes it is its only reader, and reads each element for the same element of its result.
    """
    fold = sizes.fold
    mine = [one for one in memories if any(sizes.readers[k].wire == old for k in one.readers)]
    if len(mine) != 1 or len(mine[0].readers) != 1:
        return None
    reader = sizes.readers[mine[0].readers[0]]
    stage = fold.stages[reader.actor - len(fold.entries)] if reader.operand is not None and not reader.inside else None
    if stage is None or stage.wire != new:
        return None
    (operand,) = [one for one in stage.operands if one.name == reader.operand]
    same = equal(operand.at, np.arange(operand.format.size))
    taken = kept_bits(mine[0].clients[0].layout, element(fold.format(new)).width, 2, bool(fold.members))
    return mine[0] if same and taken else None

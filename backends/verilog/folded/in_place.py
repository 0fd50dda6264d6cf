"""Sums over rounds that are kept in one place: a stage that adds to a sum writes each element where it read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..signals import element
from .sharing import Memory, Table, as_guest, kept_bits
from .sizes import Sizes


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
    first = len(fold.entries)
    for old, new in fold.states.items() if rounds is not None else ():
        if rounds is None or fold.held[old].name not in rounds.kept:
            continue
        mine = [one for one in found if any(sizes.readers[k].wire == old for k in one.readers)]
        if len(mine) != 1 or len(mine[0].readers) != 1:
            continue
        (number,) = mine[0].readers
        reader = sizes.readers[number]
        if reader.operand is None or reader.inside or fold.stages[reader.actor - first].wire != new:
            continue
        (operand,) = [o for o in fold.stages[reader.actor - first].operands if o.name == reader.operand]
        if not np.array_equal(operand.at, np.arange(operand.format.size)):
            continue
        width = element(fold.format(new)).width
        if not kept_bits(mine[0].clients[0].layout, width, 2, bool(fold.members)):
            continue
        for place, host in enumerate(found):
            readers = [sizes.readers[k] for k in host.readers]
            if any(one.wire != new or one.operand is None for one in readers):
                continue
            made = as_guest(host.clients[0].layout, mine[0].clients[0], tables)
            if made is None:
                continue
            found[place] = Memory((*host.clients, made), own=True)
            found.remove(mine[0])
            for k in host.readers:
                links[k] = replace(links[k], banks=1)
            break
    return found, replace(sizes, unbanked=links)

"""The least time after which a stage may read a tensor that another stage still writes, so that it never overtakes the
writer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .blocks import alike
from .pool import READ, WAITS, depth
from .sharing import Client, Memory
from .sizes import Sizes
from .tiling import Tiling

Indices = NDArray[np.int64]

WORTH = 8
"""Clocks that a reader gains at least where a channel counts them."""


class Clocks:
    """The clocks of a stage, counted from its start, in which it reads terms, reads operands of results, and writes."""

    def __init__(self, sizes: Sizes, number: int, tiling: Tiling) -> None:
        fold = sizes.fold
        passes = np.arange(tiling.passes, dtype=np.int64)[:, None]
        _, after, _, before = fold.paths(number, tiling.split)
        self.terms = (1 + passes * tiling.clocks + np.arange(tiling.reading)).reshape(-1)
        closes = passes * tiling.clocks + tiling.reading
        if not tiling.reduces:
            full = 1 + passes
        elif number in fold.members:
            full = closes + READ + 1 + depth(fold, number, sizes.choices[number])
        else:
            full = closes + 2 + before + tiling.late[0] + (tiling.drain > 1)
        self.results = (full + np.arange(tiling.drain)).reshape(-1)
        self.writes = self.results + 1 + after + tiling.late[1]


def early(sizes: Sizes, memories: Sequence[Memory], tilings: Sequence[Tiling]) -> Sizes:
    """Return sizes in which each stage starts to read a memory as soon as it may; only designs with shared lanes
    change.

    Neither a writer nor a reader waits once it has started: the clocks in which each word is written and read therefore
    follow from their two starts, and so does the least distance between the starts. No word is read in a clock in which
    a part of it is written.
    """
    fold, links = sizes.fold, list(sizes.unbanked)
    first = len(fold.entries)
    clocks: dict[int, Clocks] = {}

    def of(actor: int) -> Clocks:
        if actor not in clocks:
            clocks[actor] = Clocks(sizes, actor - first, tilings[actor - first])
        return clocks[actor]

    for memory in memories if fold.members else ():
        own = links[memory.readers[0]]
        readers = [sizes.readers[client.readers[0]] for client in memory.clients]
        if own.state or own.writer < first or memory.own:
            continue
        least, passed = 2 + WAITS, 0
        done = sizes.actors[own.writer].writes + 1
        for client, reader in zip(memory.clients, readers, strict=True):
            needed = done
            if reader.operand is not None:
                read = of(reader.actor).terms if reader.inside else of(reader.actor).results
                needed = _distance(memory, client, of(own.writer).writes, read)
            least = max(least, needed - passed)
            passed += links[client.readers[0]].reads + 1
        if least + WORTH <= done and least - 1 <= sizes.actors[own.writer].cycles:
            for number in memory.readers:
                links[number] = replace(links[number], ahead=least - WAITS)
    return replace(sizes, unbanked=links)


def _distance(memory: Memory, client: Client, writes: Indices, reads: Indices) -> int:
    """Return the least number of clocks from the writer's start to the reader's with which each word is read after all
    of it is written.

    A word of memories that may be placed side by side is written when all of these memories have been written.
    """
    layouts, least = [one.layout for one in memory.clients], 0
    for number, copy in enumerate(layouts[0].copies):
        for places in alike(layouts, number):
            last = np.full(copy.depth, np.iinfo(np.int32).min, np.int64)
            for at in places:
                place, lane = copy.stored[at]
                (writing,) = [w for w in copy.writings if w.lane == lane]
                here = writing.bank.values == place
                if writing.enable is not None:
                    here &= writing.enable.values == 1
                np.maximum.at(last, writing.word.values[here], writes[here])
            read = client.layout.copies[number].reads[places[0]].values
            least = max(least, int((last[read] + 1 - reads).max()))
    return least

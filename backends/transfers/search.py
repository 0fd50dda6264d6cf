"""The search for the partition of a group into tiles that moves the fewest words within a memory."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from .group import Axis, Group
from .schedule import Schedule, schedule
from .words import Counts, Partition, held, moved, partition

MOST_TRIED = 1 << 14
"""The most combinations of tile extents that a search compares at once."""


def best(group: Group, memory: float) -> Partition | None:
    """Return the partition of a group that moves the fewest words and holds at most `memory` words, or, among equal
    ones, the one that holds the fewest.

    The search compares all relevant extents of tiles, which are the least ones for each number of tiles; if there are
    more than `MOST_TRIED` combinations, it compares only that many, evenly spaced by ratio. A tile is then made as long
    as there is room, first along the streamed axis and then along the other axes. Return None if not even tiles of a
    single element fit into the memory.
    """
    found: Partition | None = None
    for stream in (None, *group.streamed):
        made = schedule(group, stream)
        tried = None if made is None else _within(made, memory)
        if tried is not None and (found is None or (tried.moved, tried.held) < (found.moved, found.held)):
            found = tried
    return None if found is None else _grown(found, memory)


def _within(made: Schedule, memory: float) -> Partition | None:
    group = made.group
    free = [axis for axis in group.cut if axis != made.stream]
    # What all that is moved has may be cut as finely as one likes.
    matters = [axis for axis in free if not all(axis in made.arrays[array].axes for array in made.moved)]
    tiles = dict(zip(matters, _grid([group.extents[axis] for axis in matters]), strict=True))
    count = len(next(iter(tiles.values()))) if tiles else 1
    fine = [axis for axis in free if axis not in matters] + ([] if made.stream is None else [made.stream])
    tiles |= {axis: np.ones(count, np.int64) for axis in fine}
    needed = held(made, tiles)
    fits = np.flatnonzero(needed <= memory)
    if not len(fits):
        return None
    words = moved(made, tiles)[fits]
    at = int(fits[np.lexsort((needed[fits], words))[0]])
    return partition(made, {axis: int(tile[at]) for axis, tile in tiles.items()})


def _grid(extents: Sequence[int]) -> list[Counts]:
    """Return all combinations of tile extents, as one array for each axis."""
    if not extents:
        return []
    each = max(2, int(MOST_TRIED ** (1 / len(extents))))
    grids = np.meshgrid(*(_extents(extent, each) for extent in extents), indexing="ij")
    return [grid.reshape(-1) for grid in grids]


def _extents(extent: int, most: int) -> Counts:
    """Return the relevant extents of a tile along an axis: for each number of tiles, the least extent."""
    root = math.isqrt(extent)
    counts = np.arange(1, root + 1, dtype=np.int64)
    found = np.unique(np.concatenate([counts, -(-extent // counts)]))
    if len(found) > most:
        found = found[np.unique(np.linspace(0, len(found) - 1, most).round().astype(np.int64))]
    return found


def _grown(found: Partition, memory: float) -> Partition:
    """Return a partition that moves as many words as the given one, in fewer and longer steps."""
    made, tiles = found.schedule, dict(found.tiles)
    order = sorted(tiles, key=lambda axis: axis != made.stream)
    for axis in order:
        if axis == made.stream or all(axis in made.arrays[array].axes for array in made.moved):
            tiles[axis] = _longest(made, tiles, axis, memory)
    return partition(made, tiles)


def _longest(made: Schedule, tiles: Mapping[Axis, int], axis: Axis, memory: float) -> int:
    choices = _extents(made.group.extents[axis], MOST_TRIED)
    tried = {other: np.full(len(choices), tile) for other, tile in tiles.items()} | {axis: choices}
    return int(choices[np.flatnonzero(held(made, tried) <= memory)[-1]])

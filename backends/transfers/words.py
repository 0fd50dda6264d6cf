"""Counting the words that a group moves and holds: the sizes of its arrays, with the extents of axes replaced by those
of a tile.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .group import Axis
from .schedule import Schedule

Counts = NDArray[np.int64]
MOST = float(2**62)


@dataclass(frozen=True)
class Partition:
    """A partition of a group into tiles: the schedule, the extent of each axis in a tile, and the resulting costs.

    The field `moved` is H, the number of words that are loaded and stored; `held` is M, the most words that are held at
    once.
    """

    schedule: Schedule
    tiles: Mapping[Axis, int]
    moved: int
    held: int

    @property
    def rounds(self) -> int:
        """Return the number of tiles into which the results are cut."""
        extents = self.schedule.group.extents
        return math.prod(-(-extents[axis] // tile) for axis, tile in self.tiles.items() if axis != self.schedule.stream)


def partition(made: Schedule, tiles: Mapping[Axis, int]) -> Partition:
    """Return the partition of a schedule by the given tiles, with the numbers of words that it moves and holds.

    The number H of moved words is a sum over the arrays that are moved for a tile of the results: each array's size,
    times the number of tiles along each axis that is cut and that the array lacks. The number M of held words is the
    size of the largest column of the schedule, where each axis has the extent of its tile (Abbott and Zardini, arXiv
    2412.03317, section 3).
    """
    given = {axis: np.array([tile], np.int64) for axis, tile in tiles.items()}
    return Partition(made, dict(tiles), int(moved(made, given)[0]), int(held(made, given)[0]))


def moved(made: Schedule, tiles: Mapping[Axis, Counts]) -> NDArray[np.float64]:
    """Return the number H of moved words for each of several tile sizes at once, which is exact below 2^53."""
    group = made.group
    rounds = {axis: -(-group.extents[axis] // tile) for axis, tile in tiles.items() if axis != made.stream}
    found: NDArray[np.float64] = np.zeros(_count(tiles))
    for array in made.moved:
        own = np.full(_count(tiles), float(group.size(array)))
        for axis, count in rounds.items():
            if axis not in made.arrays[array].axes:
                own = own * count
        found = found + own
    return found


def held(made: Schedule, tiles: Mapping[Axis, Counts]) -> NDArray[np.float64]:
    """Return the number M of held words for each of several tile sizes at once."""
    group = made.group
    sizes = []
    for array, held in enumerate(made.arrays):
        own = np.full(_count(tiles), float(held.wire < 0 or group.takes_room(array)))
        for axis in held.axes:
            own = own * tiles.get(axis, group.extents[axis])
        sizes.append(own)
    columns = [sum((sizes[array] for array in column), np.zeros(_count(tiles))) for column in made.columns]
    return np.max(np.stack(columns), axis=0) if columns else np.zeros(_count(tiles))


def _count(tiles: Mapping[Axis, Counts]) -> int:
    return next((len(tile) for tile in tiles.values()), 1)

"""Groups of operations run tile by tile, and compared with the arrow and with what was counted beforehand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.transfers.group import Group, Wiring
from circuitize.backends.transfers.schedule import schedule
from circuitize.backends.transfers.words import Partition, partition
from circuitize.circuits.hypergraph import Arrow, fold
from circuitize.sims.tiles import Memory, Tiles

Values = NDArray[Any]


def wires(arrow: Arrow, inputs: Sequence[Values]) -> list[Values]:
    """The value of every wire."""
    return [np.asarray(value) for value in fold(arrow, inputs, lambda _, made, values: made.run(*values), keep=True)]


def normal(arrow: Arrow, seed: int) -> list[Values]:
    """Values of all wires from inputs that are drawn."""
    random = np.random.default_rng(seed)
    return wires(arrow, [random.normal(size=type.shape) for type in arrow.source])


def whole(wiring: Wiring) -> Group:
    """All operations of an arrow together, but for constants."""
    return Group(wiring, [edge for edge, row in enumerate(wiring.rows) if row[1]])


def named(group: Group, tiles: Mapping[str, int], stream: str | None) -> Partition:
    """A partition whose axes are named by letters of the group's contractions, the first that has a letter."""
    axes = {name: axis for axis, name in reversed(group.names.items())}
    made = schedule(group, None if stream is None else axes[stream])
    assert made is not None
    return partition(made, {axes[name]: tile for name, tile in tiles.items()})


def run(made: Partition, values: Sequence[Values]) -> Memory:
    """Run the tiles on the values of all wires; what comes of them is as it was, and the counts are those predicted."""
    tiles = Tiles(made, values)
    results = tiles.run()
    group = made.schedule.group
    assert set(results) == {group.arrays[array].wire for array in group.leaving}
    for wire, value in results.items():
        if value.dtype.kind == "i":
            assert np.array_equal(value, values[wire])
        else:
            np.testing.assert_allclose(value, values[wire], rtol=1e-9, atol=1e-9)
    assert (tiles.memory.moved, tiles.memory.peak) == (made.moved, made.held)
    return tiles.memory


def fits(made: Iterable[Partition | None]) -> list[Partition]:
    return [each for each in made if each is not None]

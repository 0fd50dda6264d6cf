"""The cost of a group of operations as plain numbers and names: its words, its products, and how it is cut into
tiles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from string import ascii_lowercase

from .fusing import Fused
from .group import CUPS, Axis, Group
from .search import best


@dataclass(frozen=True)
class Transfer:
    """The cost of a group of operations that run together, tile by tile.

    The field `moved` is H, the number of words that are loaded and stored, and `held` is M, the most words held at
    once; `held` exceeds the memory if not even single elements fit: `fits` is then false, and everything is loaded and
    stored once. The field `tiles` has for each axis that is cut its name, the extent of a tile and the whole extent;
    `stream` names the axis that is walked part by part, and `passes` says how often it is walked. The field `products`
    is the number of multiplications in contractions; `least` is, for a single contraction, a lower bound for every
    partition: 2 * products / sqrt(memory) plus the words of the result.
    """

    operations: tuple[int, ...]
    names: tuple[str, ...]
    part: str
    place: str
    moved: int
    held: int
    fits: bool
    tiles: tuple[tuple[str, int, int], ...]
    stream: str
    passes: int
    products: int
    least: float | None

    @property
    def cut(self) -> str:
        """Return a text that says how the group is cut into tiles."""
        found = [f"{name} {tile:,} of {extent:,}" for name, tile, extent in self.tiles if name != self.stream]
        at_once = [f"{name} {tile:,} at a time" for name, tile, _ in self.tiles if name == self.stream]
        again = [f"{self.passes} passes"] if self.passes > 1 else []
        return ", ".join([*found, *at_once, *again]) or "whole"


def transfer(found: Fused, memory: float) -> Transfer:
    """Return the cost of a group and its partition, for a memory of `memory` words."""
    group = found.group
    wiring = group.wiring
    made = found.partition or best(group, math.inf)
    assert made is not None, "everything fits in a memory without end"
    names = _names(group)
    stream = made.schedule.stream
    shown = tuple(
        (names[axis], tile, group.extents[axis])
        for axis, tile in sorted(made.tiles.items())
        if tile < group.extents[axis]
    )
    edges = [edge for edge in group.edges if wiring.computes(edge)]
    first = wiring.arrow.provenances[wiring.rows[edges[0]][3]]
    products = sum(wiring.products(edge) for edge in edges)
    least = None
    if len(group.edges) == 1 and isinstance(wiring.operations[edges[0]], CUPS):
        least = 2 * products / math.sqrt(memory) + sum(map(group.size, group.leaving))
    return Transfer(
        operations=tuple(group.edges),
        names=tuple(wiring.operations[edge].name.partition(".")[2] for edge in group.edges),
        part=first.part,
        place=f"{first.file}:{first.line}" if first.file else "",
        moved=made.moved,
        held=made.held,
        fits=found.partition is not None,
        tiles=shown,
        stream="" if stream is None else names[stream],
        passes=sum(phase.streams for phase in made.schedule.phases) or 1,
        products=products,
        least=least,
    )


def _names(group: Group) -> dict[Axis, str]:
    """Return a letter for each axis of a group: the letter that the first contraction with the axis gives it, unless
    another axis has that letter already.
    """
    found: dict[Axis, str] = {}
    for axis in range(len(group.extents)):
        taken, wanted = set(found.values()), group.names.get(axis, "a")
        free = (letter for letter in [wanted, *ascii_lowercase] if letter not in taken)
        found[axis] = next(free, f"a{axis}")
    return found

"""A pool: multipliers with their sums, which stages of a training step use in turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..devices.family import Family
from ..modes import Mode
from ..signals import signed_width
from .folding import Fold
from .lane_text import lane_bits
from .tiling import Choice

READ = 4
"""Clocks from a read to the clock in which its product is added: memory, a factor's two registers, the product's."""


@dataclass(frozen=True)
class Pool:
    """So many lanes for stages, by number, in the order of their turns in frames of each mode, of all where it is None.

    `holds` are the clocks for which each of them keeps the lanes after its last read.
    """

    size: int
    orders: Mapping[Mode | None, tuple[int, ...]]
    holds: Mapping[int, int]

    @property
    def stages(self) -> list[int]:
        """Return the stages in order."""
        return sorted(self.holds)


@dataclass(frozen=True)
class Use:
    """How a stage uses a pool: the clocks its factors take longer than others, and for which it keeps the lanes."""

    depth: int
    hold: int


def use(fold: Fold, pool: Pool, number: int, choice: Choice) -> Use:
    """Return how a stage uses the pool."""
    return Use(depth(fold, number, choice), pool.holds[number])


def depth(fold: Fold, number: int, choice: Choice) -> int:
    """Return the clocks that a stage's factors take longer than operands that are multiplied as they are."""
    x, y = fold.members[number]
    cycle = max(x.cycle, y.cycle)
    return cycle + (choice.late(fold.stages[number])[0] and not (x.plain and y.plain))


def last_read(choice: Choice, terms: int) -> int:
    """Return the clock after its start in which a stage reads the last terms of a frame."""
    reading, drain = -(-terms // choice.split), -(-choice.lanes // choice.units)
    return (choice.passes - 1) * max(reading, drain) + reading


def held(choice: Choice) -> int:
    """Return the clocks in which the results of a pass leave the lanes."""
    return -(-choice.lanes // choice.units)


def pooled(fold: Fold, size: int, choices: Sequence[Choice], orders: Mapping[Mode | None, tuple[int, ...]]) -> Pool:
    """Return the pool whose stages take turns in these orders.

    Each stage gives up the lanes so late that the first factors, and the first sums, of the next one come after its own
    last ones have left.
    """
    holds = dict.fromkeys(fold.members, 0)
    for order in orders.values():
        for place, number in enumerate(order):
            after = order[(place + 1) % len(order)]
            ahead = depth(fold, number, choices[number]) - depth(fold, after, choices[after])
            reading = -(-fold.stages[after].terms // choices[after].split)
            holds[number] = max(holds[number], ahead - 1, ahead - 1 + held(choices[number]) - reading)
    return Pool(size, orders, holds)


def place_of(lane: int, part: int, lanes: int, units: int) -> int:
    """Return the lane of the pool that takes one of the parts of a stage's lane.

    The results of a unit lie side by side, so that each clock they move on by one.
    """
    return part * lanes + lane % units * (lanes // units) + lane // units


def widths(fold: Fold, choices: Sequence[Choice]) -> tuple[int, int, int]:
    """Return the bits of the two factors, signed, and of the sums of the pool."""
    x, y = (max(signed_width(f[s].value.low, f[s].value.high) for f in fold.members.values()) for s in (0, 1))
    return x, y, max(lane_bits(fold.stages[number], choices[number].split) for number in fold.members)


def multipliers(fold: Fold, family: Family) -> int:
    """Return the multipliers of a shared lane: one, or none where the product is so narrow that it is made of LUTs."""
    x, y = (max(signed_width(f[s].value.low, f[s].value.high) for f in fold.members.values()) for s in (0, 1))
    return family.multipliers(x, y) if min(x, y) > 1 and x + y >= family.least_product else 0


def works(fold: Fold) -> Mapping[int, int]:
    """Return the products of each stage that shares lanes."""
    return {number: fold.stages[number].size * fold.stages[number].terms for number in fold.members}

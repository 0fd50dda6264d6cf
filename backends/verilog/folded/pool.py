"""A pool of lanes: multipliers with their sums, which the stages of a training step use in turns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from ..devices.family import Family
from ..modes import Mode
from .feeding import plain
from .folding import Fold
from .lane_text import lane_bits
from .tiling import Choice

EARLY = -1
"""The least number of clocks after its last read at which a stage that reads for two clocks or more gives up the lanes.
"""
WAITS = 1
"""The number of clocks from the one in which a stage of a step may start to its start."""
READ = 4
"""Clocks from a read to the clock in which its product is added: memory, a factor's two registers, the product's."""


Bits = tuple[int, int, int]
"""The bits of the two signed factors of a shared lane, and those of its sums."""


@dataclass(frozen=True)
class Borrower:
    """A stage that uses only the multipliers of shared lanes: each of the first lanes makes one of its `products`.

    `bits` are those of the two signed factors, as the lanes take them; if `turned` is true, the first factor of a lane
    is the second one of the stage. `end` says how many clocks after its start the stage gives the lanes up.
    """

    products: int
    bits: tuple[int, int]
    turned: bool
    end: int


@dataclass(frozen=True)
class Pool:
    """A pool of `size` lanes for stages, with the order of their turns in frames of each mode; the mode is None if
    there are no modes.

    `holds` says for how many clocks each stage that adds up its products keeps the lanes after its last read, and
    `borrowers` has the stages that only multiply.
    """

    size: int
    orders: Mapping[Mode | None, tuple[int, ...]]
    holds: Mapping[int, int]
    borrowers: Mapping[int, Borrower] = field(default_factory=dict)

    @property
    def stages(self) -> list[int]:
        """Return the numbers of the stages whose sums the pool makes, in ascending order."""
        return sorted(self.holds)


@dataclass(frozen=True)
class Use:
    """The way in which a stage uses a pool: how many clocks longer than others its factors take, and for how many
    clocks it keeps the lanes.
    """

    depth: int
    hold: int


def use(fold: Fold, pool: Pool, number: int, choice: Choice) -> Use:
    """Return the way in which a stage uses the pool."""
    return Use(depth(fold, number, choice), pool.holds[number])


def depth(fold: Fold, number: int, choice: Choice) -> int:
    """Return how many clocks longer a stage's factors take than operands that are multiplied without other
    operations.
    """
    feeds = fold.members[number]
    return max(feed.cycle for feed in feeds) + (choice.late(fold.stages[number])[0] and not plain(feeds))


def last_read(choice: Choice, terms: int) -> int:
    """Return the clock, counted from the start of a stage, in which the stage reads the last terms of a frame."""
    reading, drain = -(-terms // choice.split), -(-choice.lanes // choice.units)
    return (choice.passes - 1) * max(reading, drain) + reading


def held(choice: Choice) -> int:
    """Return the number of clocks in which the results of a pass leave the lanes."""
    return -(-choice.lanes // choice.units)


def pooled(
    fold: Fold,
    size: int,
    choices: Sequence[Choice],
    orders: Mapping[Mode | None, tuple[int, ...]],
    borrowers: Mapping[int, Borrower] = MappingProxyType({}),
) -> Pool:
    """Return the pool whose stages take turns in the given orders.

    Each stage gives up the shared lanes so late that the first factors and the first sums of the next stage, which
    starts `WAITS` clocks later, come after the last ones of this stage have left. The factors of a stage that borrows
    multipliers may come as soon as plain ones; it has no sums in the lanes.
    """
    clocks = {k: -(-fold.stages[k].terms // choices[k].split) for k in fold.members}
    holds = {k: EARLY if clocks[k] > 1 else 0 for k in fold.members}
    for every in orders.values():
        for place, number in enumerate(every):
            if number in fold.members and every[(place + 1) % len(every)] in borrowers:
                holds[number] = max(holds[number], depth(fold, number, choices[number]) - 1 - WAITS)
        order = [number for number in every if number in fold.members]
        for place, number in enumerate(order):
            after = order[(place + 1) % len(order)]
            ahead = depth(fold, number, choices[number]) - depth(fold, after, choices[after])
            late = ahead - 1 - WAITS
            holds[number] = max(holds[number], late, late + held(choices[number]) - clocks[after])
    return Pool(size, orders, holds, borrowers)


def place_of(lane: int, part: int, lanes: int, units: int) -> int:
    """Return the lane of the pool that computes a given part of a given lane of a stage.

    The results of one unit are in neighbouring lanes, so that each clock they move on by one lane.
    """
    return part * lanes + lane % units * (lanes // units) + lane // units


def widths(fold: Fold, choices: Sequence[Choice], borrowers: Iterable[Borrower] = ()) -> list[Bits]:
    """Return for each lane of a pool the bits of its two signed factors and of its sums: those of the widest that a
    stage has there.

    A stage with n lanes takes the first n of the pool, so no lane is wider than a lane before it, and the sums of a
    stage move on over lanes that are as wide as they are.
    """
    own = []
    for number, feeds in fold.members.items():
        total = lane_bits(fold.stages[number], choices[number].split)
        bits = feeds[0].signed_bits, feeds[1].signed_bits, total
        own.append((choices[number].lanes * choices[number].split, bits))
    own += [(one.products, (*one.bits, 0)) for one in borrowers]
    found = []
    for lane in range(max(taken for taken, _ in own)):
        x, y, total = (max(bits[k] for taken, bits in own if taken > lane) for k in range(3))
        found.append((x, y, total))
    return found


def multipliers(lanes: Sequence[Bits], family: Family) -> int:
    """Return the multipliers of shared lanes of so many bits; a product that is narrow is made of LUTs."""
    return sum(family.multipliers(x, y) for x, y, _ in lanes if min(x, y) > 1 and x + y >= family.least_product)


def works(fold: Fold) -> Mapping[int, int]:
    """Return for each stage that shares lanes the number of its products."""
    return {number: fold.stages[number].size * fold.stages[number].terms for number in fold.members}

"""The places of the boxes in one row of a picture: their order in each column, and their heights, chosen so that wires
are straight.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass, field

SWEEPS = 12


@dataclass(slots=True)
class Item:
    """A box in a column, or an array that passes the column, with its height and its distance from the item above
    it.
    """

    height: int
    apart: int
    passing: bool = False
    y: int = 0


@dataclass(frozen=True, slots=True)
class Link:
    """A link between an item of a column and an item of the next column: the two items, and the height below the top of
    each at which the link meets it.
    """

    left: int
    left_at: int
    right: int
    right_at: int
    weight: int = 1


@dataclass(slots=True)
class Columns:
    """The items of each column from top to bottom, as indices into `items`; `links[c]` has the links from column c to
    column c + 1.
    """

    items: list[Item]
    columns: list[list[int]]
    links: list[list[Link]] = field(default_factory=list)


def place(columns: Columns) -> None:
    """Order the items of each column, and set their heights from 0 on, to whole numbers that are the same on every
    machine.

    The method is that of Sugiyama, Tagawa and Toda (1981): items are ordered by the middles of their neighbours, as
    long as fewer links cross; then each column in turn takes the heights that make the links to its neighbours as
    straight as its order allows (a weighted median regression, by pooling adjacent violators).
    """
    _order(columns)
    _heights(columns)


def _order(columns: Columns) -> None:
    best, fewest = [list(column) for column in columns.columns], _crossings(columns)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        _sweep(columns, rightward=sweep % 2 == 0)
        found = _crossings(columns)
        if found < fewest:
            best, fewest = [list(column) for column in columns.columns], found
    columns.columns = best


def _sweep(columns: Columns, rightward: bool) -> None:
    count = len(columns.columns)
    for at in range(1, count) if rightward else reversed(range(count - 1)):
        near = columns.columns[at - 1 if rightward else at + 1]
        rank = {item: place for place, item in enumerate(near)}
        ends: dict[int, list[int]] = {}
        for link in columns.links[at - 1 if rightward else at]:
            own, other, y = (
                (link.right, link.left, link.left_at) if rightward else (link.left, link.right, link.right_at)
            )
            # Within a box, ports lower down count as further down.
            height = max(1, columns.items[other].height)
            ends.setdefault(own, []).append(rank[other] * 1000 + min(999, 1000 * max(y, 0) // height))
        column = columns.columns[at]
        middles = {item: (sum(ends[item]) * 1000 // len(ends[item])) for item in column if item in ends}
        # What has no neighbour there stays behind the one that it stands behind.
        last, keys = -1, {}
        for item in column:
            last = middles.get(item, last)
            keys[item] = last
        column.sort(key=keys.__getitem__)


def _crossings(columns: Columns) -> int:
    total = 0
    for at, links in enumerate(columns.links):
        left, right = ({item: place for place, item in enumerate(column)} for column in columns.columns[at : at + 2])
        ends = sorted(((left[k.left], k.left_at), (right[k.right], k.right_at)) for k in links)
        seen: list[tuple[int, int]] = []
        for _, end in ends:
            total += len(seen) - bisect_left(seen, (end[0], end[1] + 1))
            insort(seen, end)
    return total


NOWHERE = -(1 << 40)
"""The height of an item of a column whose height no link asks for."""

Target = tuple[int, int]
"""A height that a link asks for in the layout of a picture, and the weight of that wish."""


def _heights(columns: Columns) -> None:
    for column in columns.columns:
        y = 0
        for item in column:
            y += columns.items[item].apart
            columns.items[item].y = y
            y += columns.items[item].height
    count = len(columns.columns)
    for sweep in range(SWEEPS):
        both = sweep >= SWEEPS - 4
        rightward = sweep % 2 == 0
        for at in range(count) if rightward else reversed(range(count)):
            wishes: dict[int, list[Target]] = {item: [] for item in columns.columns[at]}
            if at and (rightward or both):
                _wish(columns, columns.links[at - 1], wishes, True)
            if at < count - 1 and (both or not rightward):
                _wish(columns, columns.links[at], wishes, False)
            _settle(columns, columns.columns[at], wishes)
    top = min((item.y for item in columns.items), default=0)
    for each in columns.items:
        each.y -= top


def _wish(columns: Columns, links: Sequence[Link], wishes: dict[int, list[Target]], from_left: bool) -> None:
    items = columns.items
    for link in links:
        left, right = items[link.left], items[link.right]
        weight = link.weight * (1 + left.passing + right.passing)
        if from_left:
            wishes[link.right].append((left.y + link.left_at - link.right_at, weight))
        else:
            wishes[link.left].append((right.y + link.right_at - link.left_at, weight))


def _settle(columns: Columns, column: Sequence[int], wishes: dict[int, list[Target]]) -> None:
    """Set the heights of a column's items to those that keep their order and distances and have the least sum of
    differences from the wished heights.
    """
    offset, offsets = 0, []
    for item in column:
        offset += columns.items[item].apart
        offsets.append(offset)
        offset += columns.items[item].height
    blocks: list[tuple[int, list[Target], int]] = []
    for item, base in zip(column, offsets, strict=True):
        # What nobody pulls at goes with what stands above it.
        wished = [(y - base, weight) for y, weight in wishes[item]]
        if not wished and blocks:
            blocks[-1] = (*blocks[-1][:2], blocks[-1][2] + 1)
            continue
        blocks.append((_median(wished) if wished else NOWHERE, wished, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (_, above, m), (_, below, n) = blocks[-2:]
            both = above + below
            blocks[-2:] = [(_median(both), both, m + n)]
    if len(blocks) > 1 and blocks[0][0] == NOWHERE:
        blocks[:2] = [(blocks[1][0], [], blocks[0][2] + blocks[1][2])]
    heights = [0 if y == NOWHERE else y for y, _, count in blocks for _ in range(count)]
    for item, base, y in zip(column, offsets, heights, strict=True):
        columns.items[item].y = y + base


def _median(wished: Sequence[Target]) -> int:
    """Return the weighted median of the wished heights, or the lower one if there are two."""
    ordered = sorted(wished)
    half, seen = sum(weight for _, weight in ordered), 0
    for y, weight in ordered:
        seen += 2 * weight
        if seen >= half:
            return y
    raise AssertionError("a median of nothing")

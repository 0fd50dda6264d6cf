"""A diagram cut into rows as wide as the page, each of which is laid out by itself; names show where wires continue
from row to row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from .diagram import Diagram
from .glyphs import Glyph, Measure, Reach, Style, apart
from .levels import levels
from .placing import Columns, Item, Link, place

GAP = 30
"""The width between two columns, in which strands bend."""
MARGIN = 16
ROW = 30
"""The height between two rows."""
A_ROW = 4
"""How many more wires may be cut to save one row."""
BOXES = 16
"""The least distance between two boxes of a column, and between a box and an array that passes it."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A box at its place in a row: the left edge of its core and its top; `start` and `end` are the sides of its
    column.
    """

    glyph: Glyph
    x: int
    y: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Passing:
    """An array that passes a column of a row, placed by its uppermost strand."""

    wire: int
    y: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Row:
    """The columns of a row of a picture from left to right: the boxes in each column, the arrays that pass it, and the
    height of the row.
    """

    boxes: Sequence[Sequence[Placed]]
    passing: Sequence[dict[int, Passing]]
    bottom: int
    right: int


def rows(diagram: Diagram, measure: Measure, style: Style, page: int) -> list[Row]:
    """Return the rows of a picture from top to bottom, each with as many columns as fit on the page."""
    level = levels(diagram)
    columns: list[list[int]] = [[] for _ in range(max(level, default=-1) + 1)]
    for number, at in enumerate(level):
        columns[at].append(number)
    y = MARGIN
    made: list[Row] = []
    for first, stop in _cut(diagram, measure, level, columns, page):
        made.append(_row(diagram, style, _glyphs(diagram, measure, level, columns, first, stop), y))
        y = made[-1].bottom + ROW
    return made


def _cut(
    diagram: Diagram, measure: Measure, level: Sequence[int], columns: Sequence[Sequence[int]], page: int
) -> list[tuple[int, int]]:
    """Return the rows into which columns are cut, each as the numbers of its first column and of the column after its
    last; there are few rows, and few wires run from row to row.

    The rows of a picture are found by dynamic programming; among equally good cuts into rows, those with full first
    rows are preferred. A column that is wider than the page gets a row of its own.
    """
    count = len(columns)
    cut = [0] * (count + 2)
    for wire, number in diagram.written.items():
        last = max((level[reader] for reader in diagram.read.get(wire, ())), default=-1)
        if last > level[number]:
            cut[level[number] + 1] += 1
            cut[last + 1] -= 1
    cut = list(accumulate(cut))
    best: list[tuple[int, int]] = [(0, 0)] + [(1 << 40, 0)] * count
    for first in range(count):
        for stop in range(first + 1, count + 1):
            if stop > first + 1 and _width(_glyphs(diagram, measure, level, columns, first, stop)) > page:
                break
            cost = best[first][0] + cut[stop] + A_ROW
            if cost <= best[stop][0]:
                best[stop] = (cost, first)
    found: list[tuple[int, int]] = []
    stop = count
    while stop:
        found.append((best[stop][1], stop))
        stop = best[stop][1]
    return found[::-1]


def _glyphs(
    diagram: Diagram, measure: Measure, level: Sequence[int], columns: Sequence[Sequence[int]], first: int, stop: int
) -> list[list[Glyph]]:
    """Return the measured boxes of one row of a picture, for each of the given columns."""
    inside = [number for column in columns[first:stop] for number in column]
    here = {wire for number in inside if diagram.boxes[number].edges for wire in diagram.boxes[number].targets}
    on: set[int] = set()
    named: set[int] = set()
    for wire in here:
        for reader in diagram.read.get(wire, ()):
            (on if first <= level[reader] < stop else named).add(wire)
    reach = Reach(here, on, named)
    return [[measure.glyph(diagram.boxes[number], reach) for number in column] for column in columns[first:stop]]


def _width(glyphs: Sequence[Sequence[Glyph]]) -> int:
    return 2 * MARGIN + GAP * (len(glyphs) - 1) + sum(sum(_sides(column)) for column in glyphs)


def _sides(column: Sequence[Glyph]) -> tuple[int, int, int]:
    """Return the greatest widths of the texts left and right of the boxes in a column, and, between the two, the
    greatest width of the boxes' cores.
    """
    return (
        max(glyph.left for glyph in column),
        max(glyph.core for glyph in column),
        max(glyph.right for glyph in column),
    )


def _row(diagram: Diagram, style: Style, glyphs: Sequence[Sequence[Glyph]], top: int) -> Row:
    items: list[Item] = []
    columns: list[list[int]] = []
    at: dict[tuple[int, int], tuple[int, int]] = {}  # Where a wire is at the right side of a column.
    links: list[list[Link]] = [[] for _ in glyphs]
    reach = {port.wire: number for number, column in enumerate(glyphs) for g in column for port in g.sources}
    passing: list[dict[int, int]] = []
    for number, column in enumerate(glyphs):
        own: list[int] = []
        through: dict[int, int] = {}
        for glyph in column:
            item = len(items)
            items.append(Item(glyph.height, BOXES))
            own.append(item)
            if number:
                links[number - 1] += [
                    Link(*at[port.wire, number - 1], item, port.middle, 1 if place else 3)
                    for place, port in enumerate(glyph.sources)
                    if (port.wire, number - 1) in at
                ]
            if glyph.box.edges:
                at.update({(port.wire, number): (item, port.middle) for port in glyph.targets})
        for (wire, before), (item, y) in list(at.items()):
            if before == number - 1 and reach.get(wire, -1) > number:
                bundle = (max(1, len(diagram.types[wire].shape)) - 1) * apart(style)
                passed = len(items)
                items.append(Item(bundle, BOXES, True))
                own.append(passed)
                through[wire] = passed
                links[number - 1].append(Link(item, y, passed, bundle // 2))
                at[wire, number] = (passed, bundle // 2)
        columns.append(own)
        passing.append(through)
    laid = Columns(items, columns, links[:-1])
    place(laid)
    boxes: list[list[Placed]] = []
    lines: list[dict[int, Passing]] = []
    x, bottom = MARGIN, top
    for number, column in enumerate(glyphs):
        left, core, right = _sides(column)
        end = x + left + core + right
        own = sorted(set(range(len(items))) & set(laid.columns[number]) - set(passing[number].values()))
        boxes.append(
            [
                Placed(glyph, x + left + (core - glyph.core) // 2, top + items[item].y, x, end)
                for item, glyph in zip(own, column, strict=True)
            ]
        )
        lines.append({w: Passing(w, top + items[item].y, x, end) for w, item in passing[number].items()})
        bottom = max([bottom, *(top + items[item].y + items[item].height for item in laid.columns[number])])
        x = end + GAP
    return Row(boxes, lines, bottom, x - GAP)

"""Drawing single boxes of a picture: boxes of several operations, contractions, and boxes with the axes over which
their operation is repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from circuitize.circuits.hypergraph import Arrow

from .axes import Form
from .diagram import word_of
from .folding import place
from .glyphs import APART, LINE, TEXT, TITLE, Glyph, acted, cup_depth, said, summed
from .pen import Pen, curve, line
from .rows import Placed
from .text import width


class Boxes:
    """A drawer that draws the boxes of an arrow into a picture."""

    def __init__(self, arrow: Arrow, pen: Pen) -> None:
        self.arrow, self.pen = arrow, pen

    def draw(self, placed: Placed) -> None:
        """Draw a box and everything in it; draw nothing for a box that only passes a wire on."""
        glyph, pen = placed.glyph, self.pen
        box = glyph.box
        if not box.edges:
            return
        operations = [self.arrow.edge(edge) for edge in box.edges]
        listed = [
            f"%{', %'.join(map(str, edge.targets))} {word_of(edge.operation.name)} {place(edge.provenance)}".rstrip()
            for edge in operations
        ]
        title = "\n".join([box.part.title, *([box.cost[1]] if box.cost else []), *listed])
        kind = f"b {box.part.kind.value}" + (f" c{box.cost[0]}" if box.cost else "")
        pen.open(kind, title, operations=_ranges(box.edges))
        self._dashes(placed)
        if box.axes is None:
            self._whole(placed)
        else:
            self._single(placed)
        pen.close()

    def _dashes(self, placed: Placed) -> None:
        """Draw the dashed lines between the arrays at one side of a box, which together form a tuple."""
        glyph = placed.glyph
        sides = (
            (glyph.sources, placed.x - glyph.left, placed.x + (0 if glyph.box.axes is None else 8)),
            (glyph.targets, placed.x + glyph.core, placed.x + glyph.core + glyph.right),
        )
        for ports, x, end in sides:
            steps = []
            for above, below in pairwise(ports):
                high = above.strands[-1] + (LINE if above.below else 0)
                low = below.strands[0] - (LINE if below.above else 0)
                steps.append(line(x, placed.y + (high + low) // 2, end))
            self.pen.path("d", steps)

    def _whole(self, placed: Placed) -> None:
        glyph, x, y = placed.glyph, placed.x, placed.y
        self.pen.box(x, y, glyph.core, glyph.height, 7)
        box = glyph.box
        lines = said(box)
        tall = LINE + 4 + LINE * len(lines)
        at = y + (glyph.height - tall) // 2 + LINE // 2
        middle = x + glyph.core // 2
        self.pen.text("t m", middle, at, box.title, TITLE, True)
        for number, (kind, text) in enumerate(lines, 1):
            self.pen.text(f"m {kind}".rstrip(), middle, at + 3 + LINE * number, text, TEXT, kind == "n")

    def _single(self, placed: Placed) -> None:
        glyph, x, y = placed.glyph, placed.x, placed.y
        box = glyph.box
        assert box.axes is not None
        if box.axes.form is Form.CUP:
            if box.cost:
                low = glyph.height - LINE * len(said(box)) - 6
                self.pen.box(x, y + glyph.sources[0].strands[0] - 7, glyph.core, low, 6)
            self._cup(glyph, x, y)
        else:
            self._shape(glyph, x, y)
        caption = said(box)
        at = y + glyph.height - LINE * len(caption) + 4
        for number, (kind, text) in enumerate(caption):
            self.pen.text(f"m {kind}".rstrip(), x + glyph.core // 2, at + LINE * number, text, TEXT, kind == "n")

    def _cup(self, glyph: Glyph, x: int, y: int) -> None:
        """Draw a contraction: the strands of summed axes meet in cups, and the strands of the other axes pass
        through.
        """
        axes = glyph.box.axes
        assert axes is not None
        end, (target,) = x + glyph.core, axes.targets
        steps: list[str] = []
        deep = x + cup_depth(glyph.box)
        goal = dict(zip(target, glyph.targets[0].strands, strict=False))
        starts: dict[str, list[int]] = {}
        for labels, port in zip(axes.sources, glyph.sources, strict=True):
            if not labels:
                self.pen.path("h", [curve(x, y + port.middle, end, y + glyph.targets[0].middle)])
            for label, at in zip(labels, port.strands, strict=False):
                starts.setdefault(label, []).append(y + at)
        for number, label in enumerate(summed(glyph.box)):
            above, below = starts[label]
            turn = x + 6 + 8 * number
            reach = turn + 10
            steps.append(f"M{x} {above}H{turn}C{reach} {above} {reach} {below} {turn} {below}H{x}")
        for label, ys in starts.items():
            if label in goal:
                steps += [line(x, at, deep) + curve(deep, at, end - 6, y + goal[label]) for at in ys]
                steps.append(line(end - 6, y + goal[label], end))
                if len(ys) > 1:
                    self.pen.dot(end - 6, y + goal[label])
            elif len(ys) == 1:
                steps.append(line(x, ys[0], x + 10))
                self.pen.dot(x + 10, ys[0])
        self.pen.path("s", steps)
        if not target:
            self.pen.path("h", [line(deep - 4, y + glyph.targets[0].middle, end)])

    def _shape(self, glyph: Glyph, x: int, y: int) -> None:
        """Draw an operation as a box or a hexagon, with the axes over which it is repeated around it."""
        box, axes = glyph.box, glyph.box.axes
        assert axes is not None
        hexagon = axes.form is Form.HEXAGON
        wide = width(box.title, TEXT, True) + (30 if hexagon else 16)
        left = x + (glyph.core - wide) // 2
        right, top, tall = left + wide, y + glyph.body[0], glyph.body[1] - glyph.body[0]
        edge = 12 if hexagon else 4
        around = {label: y + glyph.lanes - (len(axes.around) - k) * APART for k, label in enumerate(axes.around)}
        solid = [line(left, at, right) for at in around.values()]
        threads: list[str] = []
        for labels_of, ports, outer, inner, inward in (
            (axes.sources, glyph.sources, x, left, edge),
            (axes.targets, glyph.targets, x + glyph.core, right, -edge),
        ):
            count = acted(labels_of, axes.around)
            at = top + tall // 2 - (count - 1) * APART // 2
            for labels, port in zip(labels_of, ports, strict=True):
                entered = False
                for label, strand in zip(labels, port.strands, strict=False):
                    if label in around:
                        solid.append(curve(outer, y + strand, inner, around[label]))
                    else:
                        solid.append(curve(outer, y + strand, inner, at) + line(inner, at, inner + inward))
                        at, entered = at + APART, True
                if not entered:
                    threads.append(curve(outer, y + port.strands[-1], inner, at))
                    at += APART
        self.pen.path("s", solid)
        self.pen.path("h", threads)
        self.pen.hexagon(left, top, wide, tall) if hexagon else self.pen.box(left, top, wide, tall, 3)
        self.pen.text("n m", x + glyph.core // 2, top + tall // 2, box.title, TEXT, True)


def _ranges(edges: Sequence[int]) -> str:
    """Return the places of operations in the arrow as text, in which a run of places is written FIRST-LAST."""
    runs: list[list[int]] = []
    for edge in edges:
        if runs and runs[-1][1] + 1 == edge:
            runs[-1][1] = edge
        else:
            runs.append([edge, edge])
    return " ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in runs)

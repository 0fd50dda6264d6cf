"""A diagram as SVG: boxes and contractions in their places, and the strands between them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise

from circuitize.circuits.hypergraph import Arrow

from .axes import Form
from .diagram import Diagram, word_of
from .folding import place
from .glyphs import APART, LINE, TAIL, TEXT, TITLE, Glyph, Port, Style, acted, cup_depth, joined, said, summed
from .palette import style_sheet
from .pen import Pen, curve, line
from .rows import MARGIN, Placed, Row
from .text import plain, width

TAG = 6
"""Between a strand and the name at its end."""


class Picture:
    """Draws the rows of a diagram."""

    def __init__(self, arrow: Arrow, diagram: Diagram, style: Style) -> None:
        self.arrow, self.diagram, self.style = arrow, diagram, style
        self.pen = Pen()
        self.steps: dict[int, list[str]] = {}
        self.texts: dict[int, list[tuple[str, int, int, str]]] = {}
        self.dots: dict[int, list[tuple[int, int]]] = {}

    def drawn(self, rows: Sequence[Row], title: str, legend: Sequence[tuple[int, str]] = ()) -> str:
        """The whole SVG."""
        pen = self.pen
        for row in rows:
            self._gaps(row)
            for column in row.boxes:
                for placed in column:
                    self._ends(placed)
        for wire in range(len(self.diagram.types)):
            self._wire(wire)
        for row in rows:
            for column in row.boxes:
                for placed in column:
                    self._box(placed)
        wide = max([row.right for row in rows], default=0) + MARGIN
        tall = max([row.bottom for row in rows], default=0) + MARGIN
        if legend:
            tall += LINE + 8
            wide = max(wide, self._legend(legend, tall - MARGIN - 6))
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="cz" width="{wide}" height="{tall}" '
            f'viewBox="0 0 {wide} {tall}" role="img"><title>{escape(plain(title))}</title>'
            f"<style>{style_sheet(bool(legend))}</style>"
            f'<rect class="p" width="{wide}" height="{tall}" rx="8"/>'
        )
        return "\n".join([head, *pen.lines, "</svg>", ""])

    def _legend(self, legend: Sequence[tuple[int, str]], y: int) -> int:
        """The colours of costs, in a line; where it ends."""
        x = MARGIN
        for colour, text in legend:
            self.pen.open(f"b c{colour}", text)
            self.pen.box(x, y - 6, 12, 12, 2)
            self.pen.text("", x + 17, y, text)
            self.pen.close()
            x += 17 + width(text, TEXT) + 16
        return x

    def _wire(self, wire: int) -> None:
        """All that belongs to a wire, which may be drawn in pieces."""
        steps = self.steps.get(wire)
        if steps is None:
            return
        type = self.diagram.types[wire]
        self.pen.open("w", f"%{wire}: {type}", wire=str(wire))
        self.pen.path("s" if type.shape else "h", steps)
        for kind, x, y, text in self.texts.get(wire, []):
            self.pen.text(kind, x, y, text)
        for x, y in self.dots.get(wire, []):
            self.pen.dot(x, y)
        self.pen.close()

    def _gaps(self, row: Row) -> None:
        """The strands from column to column, and past columns."""
        at: dict[int, tuple[int, Sequence[int]]] = {}
        for boxes, passing in zip(row.boxes, row.passing, strict=True):
            start = boxes[0].start
            for placed in boxes:
                for port in placed.glyph.sources:
                    if port.goes_on:
                        self._bend(port.wire, at[port.wire], start, [placed.y + y for y in port.strands])
                        for y in port.strands:
                            self._add(port.wire, line(start, placed.y + y, placed.x))
            for wire, passed in passing.items():
                lower = [passed.y + y for y in self._bundle(wire)]
                self._bend(wire, at[wire], start, lower)
                for y in lower:
                    self._add(wire, line(start, y, passed.end))
                at[wire] = (passed.end, lower)
            for placed in boxes:
                if placed.glyph.box.edges:
                    for port in placed.glyph.targets:
                        at[port.wire] = (placed.end, [placed.y + y for y in port.strands])

    def _bundle(self, wire: int) -> list[int]:
        apart = 4 if self.style.fold else APART
        return [k * apart for k in range(max(1, len(self.diagram.types[wire].shape)))]

    def _bend(self, wire: int, start: tuple[int, Sequence[int]], x: int, ys: Sequence[int]) -> None:
        at, above = start
        for y, to in zip(above, ys, strict=True):
            self._add(wire, curve(at, y, x, to))

    def _add(self, wire: int, step: str) -> None:
        self.steps.setdefault(wire, []).append(step)

    def _say(self, wire: int, kind: str, x: int, y: int, text: str) -> None:
        self.texts.setdefault(wire, []).append((kind, x, y, text))

    def _ends(self, placed: Placed) -> None:
        """Beside a box: names where wires begin and end, and extents written into strands."""
        glyph, x = placed.glyph, placed.x
        for port in glyph.sources:
            if not port.goes_on:
                begin = x - self._label(port)
                self._strands(port, begin, x, placed.y)
                kind = "e" if port.wire in self.diagram.entering else "e k"
                self._say(port.wire, kind, begin - TAG, placed.y + port.middle, port.tag)
                if port.below:
                    self._say(port.wire, "e q", x - 4, placed.y + port.strands[-1] + LINE, port.below)
        x += glyph.core
        if not glyph.box.edges:
            # What is passed on has its extents at the left alone.
            for port in glyph.targets:
                for y in port.strands:
                    self._add(port.wire, line(placed.x, placed.y + y, x + 2 * TAIL))
                self._say(port.wire, "", x + 2 * TAIL + TAG, placed.y + port.middle, port.tag)
            for port in glyph.sources if not glyph.targets else ():
                self.dots.setdefault(port.wire, []).append((x, placed.y + port.middle))
            return
        for port in glyph.targets:
            end = x + self._label(port)
            self._strands(port, x, end, placed.y)
            if port.goes_on:
                for y in port.strands:
                    self._add(port.wire, line(end, placed.y + y, placed.end))
            elif port.tag:
                kind = "" if port.wire in self.diagram.leaving else "k"
                self._say(port.wire, kind, end + TAG, placed.y + port.middle, port.tag)
            else:
                self.dots.setdefault(port.wire, []).extend((end, placed.y + y) for y in port.strands)
            if port.above:
                self._say(port.wire, "k", x + 4, placed.y + port.strands[0] - LINE, port.above)
            if port.below:
                self._say(port.wire, "q", x + 4, placed.y + port.strands[-1] + LINE, port.below)

    def _label(self, port: Port) -> int:
        if not port.extents:
            return 2 * TAIL
        if self.style.fold:
            return width(joined(port), TEXT) + 2 * TAIL
        return max(width(extent, TEXT) for extent in port.extents) + 2 * TAIL

    def _strands(self, port: Port, x: int, end: int, top: int) -> None:
        """Strands from x to an end, with their extents written into them."""
        middle = (x + end) // 2
        if not port.extents:
            self._add(port.wire, line(x, top + port.strands[0], end))
            return
        if self.style.fold:
            half = width(joined(port), TEXT) // 2 + 2
            self._say(port.wire, "m", middle, top + port.middle, joined(port))
        for y, extent in zip(port.strands, port.extents, strict=True):
            if not self.style.fold:
                half = width(extent, TEXT) // 2 + 2
                self._say(port.wire, "m", middle, top + y, extent)
            self._add(port.wire, line(x, top + y, middle - half) + line(middle + half, top + y, end))

    def _box(self, placed: Placed) -> None:
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
        """Between the arrays at one side: together they are a tuple."""
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
        """A contraction: what is summed meets in cups, the rest goes on."""
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
        """A box or a hexagon, with what it is repeated over around it."""
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
    """The places of operations, runs as FIRST-LAST."""
    runs: list[list[int]] = []
    for edge in edges:
        if runs and runs[-1][1] + 1 == edge:
            runs[-1][1] = edge
        else:
            runs.append([edge, edge])
    return " ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in runs)

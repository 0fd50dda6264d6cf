"""A diagram as SVG: boxes and contractions at their places, and the strands between them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from circuitize.circuits.hypergraph import Arrow

from .boxes import Boxes
from .diagram import Diagram
from .glyphs import LINE, TAIL, TEXT, Port, Style, apart, joined, label
from .palette import style_sheet
from .pen import Pen, curve, line
from .rows import MARGIN, Placed, Row
from .text import plain, width

TAG = 6
"""The distance between a strand and the name at its end."""


class Picture:
    """A drawer that draws the rows of a diagram as SVG."""

    def __init__(self, arrow: Arrow, diagram: Diagram, style: Style) -> None:
        self.arrow, self.diagram, self.style = arrow, diagram, style
        self.pen = Pen()
        self.steps: dict[int, list[str]] = {}
        self.texts: dict[int, list[tuple[str, int, int, str]]] = {}
        self.dots: dict[int, list[tuple[int, int]]] = {}

    def drawn(self, rows: Sequence[Row], title: str, legend: Sequence[tuple[int, str]] = ()) -> str:
        """Return the whole text of the SVG that shows the picture."""
        pen = self.pen
        for row in rows:
            self._gaps(row)
            for column in row.boxes:
                for placed in column:
                    self._ends(placed)
        for wire in range(len(self.diagram.types)):
            self._wire(wire)
        boxes = Boxes(self.arrow, pen)
        for row in rows:
            for column in row.boxes:
                for placed in column:
                    boxes.draw(placed)
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
        """Draw the legend of the colours of costs in one line, and return the height at which the line ends."""
        x = MARGIN
        for colour, text in legend:
            self.pen.open(f"b c{colour}", text)
            self.pen.box(x, y - 6, 12, 12, 2)
            self.pen.text("", x + 17, y, text)
            self.pen.close()
            x += 17 + width(text, TEXT) + 16
        return x

    def _wire(self, wire: int) -> None:
        """Draw all strands and names of a wire; a wire may be drawn in several pieces."""
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
        """Draw the strands between a row's columns, and those that pass columns."""
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
        return [k * apart(self.style) for k in range(max(1, len(self.diagram.types[wire].shape)))]

    def _bend(self, wire: int, start: tuple[int, Sequence[int]], x: int, ys: Sequence[int]) -> None:
        at, above = start
        for y, to in zip(above, ys, strict=True):
            self._add(wire, curve(at, y, x, to))

    def _add(self, wire: int, step: str) -> None:
        self.steps.setdefault(wire, []).append(step)

    def _say(self, wire: int, kind: str, x: int, y: int, text: str) -> None:
        self.texts.setdefault(wire, []).append((kind, x, y, text))

    def _ends(self, placed: Placed) -> None:
        """Draw the texts beside a box: names where wires begin or end, and extents written into strands."""
        glyph, x = placed.glyph, placed.x
        for port in glyph.sources:
            if not port.goes_on:
                begin = x - label(port, self.style)
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
            end = x + label(port, self.style)
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

    def _strands(self, port: Port, x: int, end: int, top: int) -> None:
        """Draw the strands of an array from x to the place where they end, with their extents written into them."""
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

"""The measures of a box on the page: where its strands enter and leave it, and the texts beside the strands."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from .axes import Form
from .diagram import Box, Diagram, described, extents, last_names
from .text import width, wrapped

TEXT, TITLE = 10, 12
"""The sizes of text in pixels. The width of a picture is limited so that no text is below 8 pixels on a page of 800
pixels.
"""

LINE = 13
APART = 14
"""The distance between strands of an array, if each has its extent written into it."""
CLOSE = 4
"""The distance between strands if an array's extents are written into all of them together."""
SHORT = 24
"""The characters of a wire's name that is not cut."""
BETWEEN = 14
"""The distance between arrays at one side of a box."""
LEAD = 12
TAIL = 8
TOP = 20
"""The height of a box of several operations above its first arrays."""


@dataclass(frozen=True, slots=True)
class Port:
    """An array at the side of a box: the heights of its strands, measured from the top of the box.

    The field `tag` names the wire if the picture does not draw it further: for a source, the name says where the wire
    comes from, and for a target, where it goes to. The fields `above` and `below` are the lines of text over and under
    the strands.
    """

    wire: int
    strands: tuple[int, ...]
    extents: tuple[str, ...]
    tag: str = ""
    above: str = ""
    below: str = ""
    goes_on: bool = True

    @property
    def middle(self) -> int:
        """Return the distance, in pixels, from the top of the box to the middle of the array's strands."""
        return (self.strands[0] + self.strands[-1]) // 2


@dataclass(frozen=True, slots=True)
class Glyph:
    """A box of a picture with its measures. The fields `left` and `right` are the widths of the texts beside the box's
    core; `body` gives the heights at which the drawn rectangle begins and ends, measured from the box's top; `bends` is
    the length of strands before they bend.
    """

    box: Box
    sources: tuple[Port, ...]
    targets: tuple[Port, ...]
    left: int
    core: int
    right: int
    height: int
    body: tuple[int, int]
    lanes: int = 0
    bends: int = 0


@dataclass(frozen=True, slots=True)
class Reach:
    """The wires that continue from one column of a picture to others: those in `here` are written in the current row of
    the picture, and those in `on` are read later in that row.
    """

    here: Collection[int]
    on: Collection[int]
    named: Collection[int]
    """The wires of a row of a picture that another row also reads."""


@dataclass(frozen=True, slots=True)
class Style:
    """The kind of diagram that is drawn (folded or not), and whether formats and ranges are written at its wires."""

    fold: bool
    types: bool


class Measure:
    """A measurer of boxes: it computes the measures of the boxes of a diagram."""

    def __init__(self, diagram: Diagram, names: Sequence[str], style: Style) -> None:
        self.diagram, self.names, self.style = diagram, names, style
        self._known: dict[tuple[int, tuple[bool, ...], tuple[bool, ...], tuple[bool, ...]], Glyph] = {}

    def glyph(self, box: Box, reach: Reach) -> Glyph:
        """Return a box of the diagram with its measures, given which of its wires continue to other columns."""
        here = tuple([wire in reach.here for wire in box.sources])
        on, named = (tuple([wire in some for wire in box.targets]) for some in (reach.on, reach.named))
        key = id(box), here, on, named
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._whole(box, reach) if box.axes is None else self._single(box, reach)
        return found

    def _ports(self, wires: Sequence[int], top: int, sides: Sequence[tuple[str, str, bool]]) -> tuple[Port, ...]:
        """Return the arrays at one side of a box, from top to bottom, each with its tag, the text above it, and whether
        its wire continues.
        """
        ports: list[Port] = []
        y = top
        for number, (wire, (tag, above, goes_on)) in enumerate(zip(wires, sides, strict=True)):
            found = extents(self.diagram.types[wire])
            below = described(self.diagram.types[wire]) if self.style.types and (tag or above or goes_on) else ""
            if number:
                y += BETWEEN
            if above:
                y += LINE if number else 0
            strands = tuple(y + k * apart(self.style) for k in range(max(1, len(found))))
            ports.append(Port(wire, strands, tuple(found), tag, above, below, goes_on))
            y = strands[-1] + (LINE if below else 0)
        return tuple(ports)

    def _sides(self, box: Box, reach: Reach) -> tuple[list[tuple[str, str, bool]], list[tuple[str, str, bool]]]:
        entering, leaving, own = self.diagram.entering, self.diagram.leaving, box.part.layer
        into = [
            ("", "", True) if wire in reach.here else (last_names(self.names[wire], SHORT, own), "", False)
            for wire in box.sources
        ]
        out = []
        for wire in box.targets:
            goes_on = wire in reach.on
            said = [*leaving.get(wire, [])]
            if wire in reach.named and wire not in entering:
                said.insert(0, self.names[wire])
            text = ", ".join(dict.fromkeys(last_names(name, SHORT, own) for name in said))
            out.append(("", text, True) if goes_on else (text, "", False))
        return into, out

    def _beside(self, ports: Sequence[Port], source: bool) -> int:
        """Return the width of the texts at one side of a box."""
        most = 0
        for port in ports:
            inside = 0 if source and port.goes_on else label(port, self.style)
            tag = width(port.tag, TEXT) + 6 if port.tag else 0
            most = max(most, inside + tag, width(port.above, TEXT) + 4, width(port.below, TEXT) + 4)
        return most

    def _whole(self, box: Box, reach: Reach) -> Glyph:
        into, out = self._sides(box, reach)
        title = width(box.title, TITLE, True)
        lines = [text for _, text in said(box)]
        core = max(title, *(width(line, TEXT, True) for line in lines)) + 16 if lines else 0
        tall = (LINE + 4 + LINE * len(lines) + 8) if box.edges else 0
        # The first arrays of all boxes are as high, so that boxes in a chain are too.
        top = TOP if box.edges else 9
        sources = self._ports(box.sources, top, into)
        targets = self._ports(box.targets, top, out)
        height = max(tall, bottom(sources) + 10, bottom(targets) + 10)
        left, right = self._beside(sources, True), self._beside(targets, False)
        return Glyph(box, sources, targets, left, core, right, height, (0, height))

    def _single(self, box: Box, reach: Reach) -> Glyph:
        assert box.axes is not None
        into, out = self._sides(box, reach)
        top = 7 + (LINE if any(above for _, above, _ in out[:1]) else 0)
        sources, targets = self._ports(box.sources, top, into), self._ports(box.targets, top, out)
        around = box.axes.around
        lanes = top + len(around) * APART
        if box.axes.form is Form.CUP:
            deep = cup_depth(box)
            core, body = deep + 28, (lanes, lanes)
        else:
            most = max(acted(box.axes.sources, around), acted(box.axes.targets, around), 1)
            tall = max(22, most * APART + 4)
            body = (lanes - 6, lanes - 6 + tall)
            core, deep = width(box.title, TEXT, True) + (30 if box.axes.form is Form.HEXAGON else 16), 0
        caption = [text for _, text in said(box)]
        drawn = max(body[1] + 2, bottom(sources) + 7, bottom(targets) + 7)
        bends = 22
        full = max(core + 2 * bends, *(width(line, TEXT, True) for line in caption), 0)
        left, right = self._beside(sources, True), self._beside(targets, False)
        return Glyph(box, sources, targets, left, full, right, drawn + LINE * len(caption) + 2, body, lanes, bends)


def said(box: Box) -> list[tuple[str, str]]:
    """Return the lines of text of a box apart from its title, each with its style class."""
    cost = [("n", box.cost[1])] if box.cost else []
    if box.axes is not None:
        return [("", text) for text in box.lines] + [("q", text) for text in box.places] + cost
    most = max(120, width(box.title, TITLE, True))
    lines = [("", text) for text in wrapped(list(box.lines), most, TEXT)]
    return lines + [("q", text) for text in wrapped(list(box.places), most, TEXT)] + cost


def apart(style: Style) -> int:
    """Return the distance between the strands of an array in a picture."""
    return CLOSE if style.fold else APART


def label(port: Port, style: Style) -> int:
    """Return the length of an array's strands, given the extents that are written into them."""
    if not port.extents:
        return 2 * TAIL
    if style.fold:
        return width(joined(port), TEXT) + 2 * TAIL
    return max(width(extent, TEXT) for extent in port.extents) + 2 * TAIL


def joined(port: Port) -> str:
    """Return the extents of all axes of an array in one text."""
    return "\N{MULTIPLICATION SIGN}".join(port.extents)


def acted(arrays: Sequence[Sequence[str]], around: Collection[str]) -> int:
    """Return the number of strands that enter a box; an array whose axes all pass around the box, or that has no axes,
    has one strand.
    """
    return sum(max(1, sum(label not in around for label in labels)) for labels in arrays)


def cup_depth(box: Box) -> int:
    """Return the distance, in pixels, by which the cups of a contraction reach to the right."""
    assert box.axes is not None
    return 14 + 8 * len(summed(box)) if summed(box) else 6


def summed(box: Box) -> list[str]:
    """Return the axis labels over which a contraction sums, the inner cups first: the labels in the reverse of their
    order in the first operand.
    """
    assert box.axes is not None
    first, *others = box.axes.sources
    return [label for label in reversed(first) if label not in box.axes.targets[0] and any(label in o for o in others)]


def bottom(ports: Sequence[Port]) -> int:
    """Return how far below the top of a box the lowest of the given arrays reaches, in pixels, or 0 if there are
    none.
    """
    return max((port.strands[-1] + (LINE if port.below else 0) for port in ports), default=0)

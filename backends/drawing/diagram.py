"""The content of a picture of an arrow: its boxes, the arrays that enter and leave each box, and the names of the
arrays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.types import Fixed, Type

from .axes import Strands, parameters, strands
from .folding import Group, Kind, Part, place
from .text import shortened


@dataclass(frozen=True, slots=True)
class Box:
    """One box of a picture: operations by their places in the arrow, and the wires at the left and the right side of
    the box.

    The field `axes` of a box with a single operation has the axes on which that operation acts. A box without
    operations only passes a wire on, from the arrow's inputs to its outputs.
    """

    part: Part
    title: str
    edges: Sequence[int]
    sources: Sequence[int]
    targets: Sequence[int]
    lines: Sequence[str]
    places: Sequence[str]
    axes: Strands | None = None
    cost: tuple[int, str] | None = None
    """The colour of the box's cost, and the cost in words."""


@dataclass(frozen=True, slots=True)
class Diagram:
    """The boxes of a picture, in an order in which each box comes after those whose wires it reads, and the texts that
    the picture writes beside the wires.

    The field `written` gives the box that writes a wire and has no entry for an input's wire; `read` gives the boxes
    that read the wire, in order. The field `entering` gives the name of an input for the input's wire, and `leaving`
    gives for a wire the names of all outputs that are this wire.
    """

    boxes: Sequence[Box]
    types: Sequence[Type]
    written: dict[int, int]
    read: dict[int, list[int]]
    entering: dict[int, str]
    leaving: dict[int, list[str]] = field(default_factory=dict)


def diagram(
    arrow: Arrow, groups: Sequence[Group], inputs: Sequence[str], outputs: Sequence[str], fold: bool
) -> Diagram:
    """Return the diagram of an arrow whose operations are in the given groups; in an unfolded diagram, each group is a
    single operation.

    A folded diagram lacks the wires that only operations of one group write and read.
    """
    rows = arrow.rows
    entering = dict(zip(arrow.inputs.tolist(), map(shortened, inputs), strict=True))
    leaving: dict[int, list[str]] = {}
    for wire, name in zip(arrow.outputs.tolist(), outputs, strict=True):
        leaving.setdefault(wire, []).append(shortened(name))
    of = {edge: number for number, group in enumerate(groups) for edge in group.edges}
    writer = {wire: edge for edge, row in enumerate(rows) for wire in row[2]}
    readers: dict[int, set[int]] = {}
    for edge, (_, sources, _, _) in enumerate(rows):
        for wire in sources:
            readers.setdefault(wire, set()).add(of[edge])
    # Arrays leave a box in the order in which others take them.
    first_read: dict[int, int] = {}
    for number, group in enumerate(groups):
        for edge in group.edges:
            for wire in rows[edge][1]:
                if wire not in first_read and wire not in leaving and of.get(writer.get(wire, -1)) != number:
                    first_read[wire] = len(first_read)
    boxes: list[Box] = []
    for number, group in enumerate(groups):
        made = [wire for edge in group.edges for wire in rows[edge][2]]
        if not fold:
            boxes.append(_of_one(arrow, group))
            continue
        inside = set(made)
        taken = dict.fromkeys(wire for edge in group.edges for wire in rows[edge][1] if wire not in inside)
        targets = [wire for wire in made if wire in leaving or readers.get(wire, set()) - {number}]
        targets.sort(key=lambda wire: first_read.get(wire, arrow.wire_count))
        boxes.append(_of_group(arrow, group, list(taken), targets))
    # What is passed on, or never read, has a place of its own too.
    boxes += [
        Box(Part("", Kind.FORWARD), "", (), [wire], [wire] if wire in leaving else [], (), ())
        for wire in arrow.inputs.tolist()
        if wire in leaving or wire not in readers
    ]
    order = _in_order(boxes)
    boxes = [boxes[number] for number in order]
    written: dict[int, int] = {}
    read: dict[int, list[int]] = {}
    for number, box in enumerate(boxes):
        if box.edges:
            written.update((wire, number) for wire in box.targets)
        for wire in dict.fromkeys(box.sources):
            read.setdefault(wire, []).append(number)
    types = [arrow.type(wire) for wire in range(arrow.wire_count)]
    return Diagram(boxes, types, written, read, entering, leaving)


def _in_order(boxes: Sequence[Box]) -> list[int]:
    """Return the numbers of the boxes in an order in which each box comes after those whose wires it reads; among the
    boxes that may come next, the first in the arrow comes first.
    """
    written = {wire: number for number, box in enumerate(boxes) if box.edges for wire in box.targets}
    order: list[int] = []
    state = bytearray(len(boxes))
    for root in range(len(boxes)):
        stack = [root]
        while stack:
            number = stack[-1]
            if state[number]:
                stack.pop()
                if state[number] == 1:
                    state[number] = 2
                    order.append(number)
                continue
            state[number] = 1
            above = (written[wire] for wire in reversed(boxes[number].sources) if wire in written)
            stack.extend(other for other in above if not state[other] and other != number)
    return order


def _of_one(arrow: Arrow, group: Group) -> Box:
    (edge,) = group.edges
    found = arrow.edge(edge)
    shapes = [[arrow.type(wire).shape for wire in wires] for wires in (found.sources, found.targets)]
    axes = strands(found.operation, *shapes)
    told = " ".join(word for word in (word_of(found.operation.name), parameters(found.operation)) if word)
    title = shortened(told, 24)
    places = [shortened(place(found.provenance), 36)] if found.provenance.file else []
    layer = [last_names(group.part.title)] if group.part.layer else []
    return Box(group.part, title, (edge,), found.sources, found.targets, layer, places, axes)


def _of_group(arrow: Arrow, group: Group, sources: list[int], targets: list[int]) -> Box:
    edges = [arrow.edge(edge) for edge in group.edges]
    counts = Counter(word_of(edge.operation.name) for edge in edges)
    lines = [name if count == 1 else f"{count} {name}" for name, count in counts.items()]
    by_file: dict[str, set[int]] = {}
    for edge in edges:
        if edge.provenance.file:
            by_file.setdefault(edge.provenance.file, set()).add(edge.provenance.line)
    places = [f"{shortened(file, 30)}:{', '.join(map(str, sorted(found)))}" for file, found in by_file.items()]
    return Box(group.part, shortened(group.part.title), group.edges, sources, targets, lines, places)


def last_names(name: str, most: int = 26, own: str = "") -> str:
    """Return names joined by dots; if the text is longer than `most` characters, leave out the first names that `own`
    has too, or else all names but the last.
    """
    if len(name) <= most:
        return shortened(name, most)
    rest = name.removeprefix(f"{own}.") if own and name.startswith(f"{own}.") else name.rpartition(".")[2]
    return shortened(f"\N{HORIZONTAL ELLIPSIS}{rest}" if rest != name else name, 36)


def word_of(name: str) -> str:
    """Return the name of an operation without its language and in words: for `real.tanh_gelu`, `tanh gelu`."""
    return shortened(name.partition(".")[2] or name, 32).replace("_", " ")


def extents(type: Type) -> list[str]:
    """Return the extent of each axis of a type as a text."""
    return [str(extent) for extent in type.shape]


def described(type: Type) -> str:
    """Return a text with the format and the range of a wire's elements."""
    if not isinstance(type, Fixed):
        return "reals"
    text = f"[{_short(type.low)}, {_short(type.high)}] / 2^{type.fraction_bits}"
    return text.replace("-", "\N{MINUS SIGN}")


def _short(number: int) -> str:
    """Return a number as text: all its digits, or, for a great number, a power of two whose exponent is rounded up to a
    tenth.
    """
    if abs(number) < 10**8:
        return f"{number:,}"
    tenths = (abs(number) ** 10 - 1).bit_length()
    return f"{'-' if number < 0 else ''}2^{tenths // 10}.{tenths % 10}"

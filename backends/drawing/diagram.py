"""The content of a picture of an arrow: boxes, the arrays that enter and leave each, and their names."""

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
    """One box: operations of the arrow by their places, and the wires at its left and its right side.

    A box of a single operation has `axes`, the axes on which that operation acts. A box without operations passes a
    wire on, from the inputs to the outputs.
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
    """Boxes in an order in which writers stand before readers, and the texts that a picture writes at the wires.

    `written` is the box that writes a wire, absent for inputs; `read` are the boxes that read it, in order. `entering`
    is the name of an input's wire, `leaving` are the names of the outputs that the same wire is.
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
    """Return the diagram of an arrow whose operations stand in the given groups; unfolded, each group is one operation.

    A folded diagram lacks the wires that stay within a group.
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
    """Return the boxes in an order with writers before readers; of the boxes that may come next, the one that was first
    in the arrow does.
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
    """Names joined by dots; if the text is longer than `most` characters, the first names, which `own` has too, or all
    names but the last are left out.
    """
    if len(name) <= most:
        return shortened(name, most)
    rest = name.removeprefix(f"{own}.") if own and name.startswith(f"{own}.") else name.rpartition(".")[2]
    return shortened(f"\N{HORIZONTAL ELLIPSIS}{rest}" if rest != name else name, 36)


def word_of(name: str) -> str:
    """Return the word of an operation's name: `real.tanh_gelu` is `tanh gelu`."""
    return shortened(name.partition(".")[2] or name, 32).replace("_", " ")


def extents(type: Type) -> list[str]:
    """Return the extent of each axis of a type."""
    return [str(extent) for extent in type.shape]


def described(type: Type) -> str:
    """Return the format and the range of a wire's elements."""
    if not isinstance(type, Fixed):
        return "reals"
    text = f"[{_short(type.low)}, {_short(type.high)}] / 2^{type.fraction_bits}"
    return text.replace("-", "\N{MINUS SIGN}")


def _short(number: int) -> str:
    """Return all digits of a number, or for a great one the power of two, rounded up to a tenth."""
    if abs(number) < 10**8:
        return f"{number:,}"
    tenths = (abs(number) ** 10 - 1).bit_length()
    return f"{'-' if number < 0 else ''}2^{tenths // 10}.{tenths % 10}"

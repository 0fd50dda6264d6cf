"""The parts of an arrow that have a box in a folded picture: layers, derivatives and updates, grouped so that boxes
form no cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from enum import Enum

from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.operation import Provenance


class Kind(Enum):
    """The role of an operation in a training step: forward pass, derivative, update or rounding of an output."""

    FORWARD = "forward"
    DERIVATIVE = "derivative"
    UPDATE = "update"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a program: the layer, its role in the training step, and, if there is no layer, the source line."""

    layer: str
    kind: Kind
    place: str = ""

    @property
    def title(self) -> str:
        """Return the words above the part's box in a picture: the layer, or else the source line, and the role unless
        it is the forward pass.
        """
        word = "" if self.kind is Kind.FORWARD else self.kind.value
        return " ".join(word for word in (self.layer or self.place, word) if word) or "unnamed part"


def place(provenance: Provenance) -> str:
    """Return the source line of an operation as FILE:LINE, or an empty text if it is not known."""
    return f"{provenance.file}:{provenance.line}" if provenance.file else ""


def part_of(provenance: Provenance, depth: int | None = None) -> Part:
    """Return the part of the program to which an operation belongs by its provenance; of a nested layer's names only
    the first `depth` are kept, or all of them if `depth` is None.

    The parts of a program are named `block1.dense1`, `block1.dense1 derivative` by the reverse derivative,
    `block1.dense1.weight update` by the optimizer, and `output block1.dense1.weight` if an output is rounded to its
    format.
    """
    name, kind = provenance.part, Kind.FORWARD
    if name.startswith("output "):
        return Part(_cut(name.removeprefix("output "), depth, True), Kind.OUTPUT)
    if name.endswith(" update"):
        return Part(_cut(name.removesuffix(" update"), depth, True), Kind.UPDATE)
    while name == "derivative" or name.endswith(" derivative"):
        name, kind = name.removesuffix("derivative").rstrip(), Kind.DERIVATIVE
    return Part(_cut(name, depth, False), kind, "" if name else place(provenance))


def _cut(name: str, depth: int | None, parameter: bool) -> str:
    """Return the name of a layer; if `parameter` is true, the given name is a parameter's, and its last part is
    dropped, unless it has no other part.
    """
    names = name.split(".")
    if parameter and len(names) > 1:
        names = names[:-1]
    return ".".join(names if depth is None else names[:depth])


@dataclass(frozen=True, slots=True)
class Group:
    """The operations that are drawn as one box: their places in the arrow, in order."""

    part: Part
    edges: list[int]


def unfolded(arrow: Arrow) -> list[Group]:
    """Return groups of one operation each, for an unfolded picture of an arrow."""
    return [Group(part_of(arrow.provenances[row[3]]), [edge]) for edge, row in enumerate(arrow.rows)]


def folded(arrow: Arrow, depth: int | None) -> list[Group]:
    """Return the operations of an arrow in groups, where each group has operations of one part, and each operation is
    in one group.

    The groups depend on each other without a cycle: if operations of a part need results that depend on that same part,
    they form another group. Each operation, in the order of the arrow, joins the latest group of its part that it can
    join without a cycle.
    """
    parts = [part_of(provenance, depth) for provenance in arrow.provenances]
    return _acyclic(arrow, lambda edge: parts[arrow.rows[edge][3]], parts)


def _acyclic(arrow: Arrow, key: Callable[[int], Hashable], parts: list[Part]) -> list[Group]:
    groups: list[Group] = []
    above: list[int] = []  # By group, the set of groups that it depends on, as the bits of a number.
    own: dict[Hashable, list[int]] = {}
    written = [-1] * arrow.wire_count
    for edge, (_, sources, targets, provenance) in enumerate(arrow.rows):
        read = {written[wire] for wire in sources} - {-1}
        needed = 0
        for group in read:
            needed |= above[group] | 1 << group
        mine = own.setdefault(key(edge), [])
        # A group that some source's group depends on, and that is not that source's itself, would close a circle.
        chosen = next((group for group in reversed(mine) if not _closes(group, read, above)), None)
        if chosen is None:
            chosen = len(groups)
            groups.append(Group(parts[provenance], []))
            above.append(0)
            mine.append(chosen)
        gained = needed & ~above[chosen] & ~(1 << chosen)
        if gained:
            bit = 1 << chosen
            above[chosen] |= gained
            for group, depends in enumerate(above):
                if depends & bit:
                    above[group] = depends | gained
        groups[chosen].edges.append(edge)
        for wire in targets:
            written[wire] = chosen
    return groups


def _closes(group: int, read: set[int], above: list[int]) -> bool:
    return any(other != group and above[other] >> group & 1 for other in read)

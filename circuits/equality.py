"""A test whether two arrows are the same up to the numbering and the order of wires and edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .hypergraph import Arrow


def equal(a: Arrow, b: Arrow) -> bool:
    """Return whether some renaming of wires and edges takes one arrow to the other and preserves the interface and the
    order of sources.

    Every wire has one writer, so walking both arrows from the outputs at once finds the renaming: the walk has no
    choices. When arrows are compared, edges that no output reads are compared in stored order; `simplify` leaves no
    such edges. Two arrows that differ only in provenance are equal. Two arrows are equal if and only if `encode` gives
    the same bytes for both. The comparison of arrows is iterative and takes linear time.
    """
    if a is b:
        return True
    sizes = [(len(x.inputs), len(x.outputs), x.wire_count, x.edge_count) for x in (a, b)]
    if sizes[0] != sizes[1] or a.source != b.source or a.target != b.target:
        return False
    pairing = _Pairing(a, b)
    if not all(map(pairing.wires, a.inputs.tolist(), b.inputs.tolist())):
        return False
    if not all(map(pairing.written, a.outputs.tolist(), b.outputs.tolist())):
        return False
    left = [[edge for edge in range(a.edge_count) if edge not in taken] for taken in (pairing.edges, pairing.taken)]
    for edge, other in zip(*left, strict=True):
        if edge in pairing.edges or other in pairing.taken:
            if pairing.edges.get(edge) != other:
                return False
        elif not pairing.walk(edge, other):
            return False
    return True


class Itself:
    """An arrow as a dictionary key that is equal only to the key of the same object. Results that depend on an arrow's
    numbering or provenance are cached under an `Itself`.
    """

    __slots__ = ("arrow",)

    def __init__(self, arrow: Arrow) -> None:
        self.arrow = arrow

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Itself) and self.arrow is other.arrow

    def __hash__(self) -> int:
        return id(self.arrow)


class _Pairing:
    """A pairing of the wires and edges of one arrow with equal ones of another arrow."""

    def __init__(self, a: Arrow, b: Arrow) -> None:
        self.a, self.b = a, b
        self.forth: dict[int, int] = {}
        self.edges: dict[int, int] = {}
        self.taken: set[int] = set()
        self._writers = [{wire: edge for edge, row in enumerate(x.rows) for wire in row[2]} for x in (a, b)]
        self._alike: dict[tuple[int, int], bool] = {}

    def wires(self, wire: int, other: int) -> bool:
        """Pair a wire of each arrow; return whether the first wire has no other partner.

        The second wire of a pair has no other partner either: it is an input or a target of an edge, and each of these
        has one partner. The types of paired wires are equal: the types of the inputs are equal, and operations
        determine all other types.
        """
        return self.forth.setdefault(wire, other) == other

    def written(self, wire: int, other: int) -> bool:
        """Pair a wire of each arrow and everything from which the two wires are computed."""
        edge, other_edge = self._writers[0].get(wire), self._writers[1].get(other)
        if edge is None or other_edge is None:
            return edge is other_edge and self.wires(wire, other)
        return self.walk(edge, other_edge) and self.forth[wire] == other

    def walk(self, edge: int, other: int) -> bool:
        """Pair an edge of each arrow and everything from which the two edges are computed."""
        stack = [(edge, other)]
        while stack:
            edge, other = stack.pop()
            if edge in self.edges or other in self.taken:
                if self.edges.get(edge) != other:
                    return False
                continue
            self.edges[edge] = other
            self.taken.add(other)
            (operation, sources, targets, _), (operation_, sources_, targets_, _) = (
                self.a.rows[edge],
                self.b.rows[other],
            )
            if not self._same(operation, operation_) or (len(sources), len(targets)) != (len(sources_), len(targets_)):
                return False
            if not all(map(self.wires, targets, targets_)):
                return False
            for wire, partner in zip(sources, sources_, strict=True):
                made, made_ = self._writers[0].get(wire), self._writers[1].get(partner)
                if not self.wires(wire, partner) or (made is None) != (made_ is None):
                    return False
                if made is not None and made_ is not None:
                    stack.append((made, made_))
        return True

    def _same(self, operation: int, other: int) -> bool:
        key = operation, other
        if key not in self._alike:
            self._alike[key] = self.a.operations[operation] == self.b.operations[other]
        return self._alike[key]

"""Arrows: open hypergraphs of operations, stored as flat arrays, with functions that compose them in sequence and in
parallel, and fold them.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .equality import equal
from .errors import TypingError
from .operation import Edge, Operation, Provenance, Values
from .summary import arrow_table, listing, short
from .types import Fixed, Type, check_type, fixed

Indices = NDArray[np.int32]
V = TypeVar("V")


@dataclass(frozen=True, eq=False, repr=False)
class Arrow:
    """An open hypergraph: typed wires, edges labelled by operations, and an ordered interface of inputs and outputs.

    Every wire has exactly one writer (an input or an edge) and any number of readers: a wire with several readers is
    copied, a wire with none is discarded. Edges are stored in an order in which writers come before readers. The
    sources and targets of edges are in CSR form: the sources of edge e are
    `source_wires[source_offsets[e]:source_offsets[e + 1]]`. Wilson and Zanasi describe the representation of open
    hypergraphs as flat arrays in "Data-parallel algorithms for string diagrams" (arXiv 2305.01041). `==` on arrows
    tells whether two arrows are the same up to renaming.
    """

    operations: tuple[Operation, ...]
    types: tuple[Type, ...]
    provenances: tuple[Provenance, ...]
    wire_types: Indices
    edge_operations: Indices
    edge_provenances: Indices
    source_offsets: Indices
    source_wires: Indices
    target_offsets: Indices
    target_wires: Indices
    inputs: Indices
    outputs: Indices

    @property
    def wire_count(self) -> int:
        """Return the number of wires of an arrow; they are numbered from 0."""
        return len(self.wire_types)

    @property
    def edge_count(self) -> int:
        """Return the number of edges of an arrow: an operation is counted as often as it is applied."""
        return len(self.edge_operations)

    @property
    def source(self) -> tuple[Type, ...]:
        """Return the types of the arrow's inputs."""
        return tuple(self.types[t] for t in self.wire_types[self.inputs])

    @property
    def target(self) -> tuple[Type, ...]:
        """Return the types of the arrow's outputs."""
        return tuple(self.types[t] for t in self.wire_types[self.outputs])

    def type(self, wire: int) -> Type:
        """Return the type of a wire of the arrow."""
        return self.types[int(self.wire_types[wire])]

    def format(self, wire: int) -> Fixed:
        """Return the type of a wire, which must be a wire of integers. Raise TypingError for a wire of reals."""
        return fixed(self.type(wire))

    @cached_property
    def rows(self) -> list[tuple[int, list[int], list[int], int]]:
        """Return each edge as (operation index, sources, targets, provenance index), in order; the rows are plain
        lists, which are quick to walk.
        """
        sources, targets = self.source_wires.tolist(), self.target_wires.tolist()
        source_at, target_at = self.source_offsets.tolist(), self.target_offsets.tolist()
        return [
            (operation, sources[source_at[e] : source_at[e + 1]], targets[target_at[e] : target_at[e + 1]], provenance)
            for e, (operation, provenance) in enumerate(
                zip(self.edge_operations.tolist(), self.edge_provenances.tolist(), strict=True)
            )
        ]

    def edge(self, index: int) -> Edge:
        """Return a view of an edge: its operation, wires and provenance."""
        operation, sources, targets, provenance = self.rows[index]
        return Edge(index, self.operations[operation], sources, targets, self.provenances[provenance])

    def edges(self) -> Iterator[Edge]:
        """Return views of all edges in order, so that each wire is written before it is read."""
        return (self.edge(index) for index in range(self.edge_count))

    def readers(self) -> NDArray[np.int64]:
        """Return how many edges and outputs of an arrow read each wire."""
        read = np.concatenate([self.source_wires, self.outputs])
        return np.bincount(read, minlength=self.wire_count)

    def __eq__(self, other: object) -> bool:
        """Return whether two arrows are the same up to the numbering and the order of wires and edges; see `equal`."""
        return equal(self, other) if isinstance(other, Arrow) else NotImplemented

    def __hash__(self) -> int:
        return hash((len(self.inputs), len(self.outputs), self.wire_count, self.edge_count))

    def __rshift__(self, other: Arrow) -> Arrow:
        return compose(self, other)

    def __matmul__(self, other: Arrow) -> Arrow:
        return tensor(self, other)

    def __repr__(self) -> str:
        return short(self)

    def __str__(self) -> str:
        """Return a text with a line for each operation of the arrow and its types."""
        return listing(self)

    def _repr_html_(self) -> str:
        return arrow_table(self)


def identity(*types: Type) -> Arrow:
    """Return the identity arrow on a list of types, whose outputs are its inputs. Raise TypingError if one of the
    `types` is not the type of a wire.
    """
    for position, type in enumerate(types):
        check_type(type, f"identity: type {position}")
    table = tuple(dict.fromkeys(types))
    wires = np.arange(len(types), dtype=np.int32)
    nothing = np.zeros(0, np.int32)
    offsets = np.zeros(1, np.int32)
    wire_types = np.array([table.index(t) for t in types], np.int32)
    return Arrow((), table, (), wire_types, nothing, nothing, offsets, nothing, offsets, nothing, wires, wires)


def permute(types: Sequence[Type], choice: Sequence[int]) -> Arrow:
    """Return the arrow without edges whose output i is input choice[i]: it permutes, copies (an input chosen again) and
    discards (an input not chosen).

    Raise TypingError if an entry of `choice` is not the place of one of the types, counted from 0.
    """
    if not isinstance(types, Sequence):
        raise TypingError(f"permute: expected a list of types, found {_short(types)}; write [type]")
    return replace(identity(*types), outputs=places(choice, len(types), "permute: choice"))


def places(choice: Sequence[int], count: int, where: str) -> Indices:
    """Return the entries of `choice` as indices; raise TypingError unless each is a whole number from 0 to count -
    1.
    """
    chosen = np.asarray(choice)
    if not chosen.size:
        return np.zeros(0, np.int32)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
        raise TypingError(
            f"{where}: expected a list of whole numbers below {count}, found {_short(choice)}; count from 0"
        )
    outside = (chosen < 0) | (chosen >= count)
    if outside.any():
        at = int(np.argmax(outside))
        found = f"found {chosen[at]} at place {at}"
        raise TypingError(
            f"{where}: expected whole numbers below {count}, {found}; count from 0"
            if count
            else f"{where}: expected none where there are no wires, {found}; leave it out"
        )
    return chosen.astype(np.int32)


def _require_arrows(word: str, arrows: Sequence[object]) -> None:
    for position, arrow in enumerate(arrows):
        if not isinstance(arrow, Arrow):
            remedy = f"write {word}(*arrows)" if isinstance(arrow, (list, tuple)) else "give arrows only"
            raise TypingError(
                f"{word}: expected an arrow at argument {position}, found {type(arrow).__name__}; {remedy}"
            )


def compose(*arrows: Arrow) -> Arrow:
    """Compose arrows, the first arrow first: the outputs of each arrow become the inputs of the next. Composing arrows
    takes linear time for any number of arrows.

    Raise TypingError if an arrow's output type differs from the next arrow's input type, and if no arrow is given: each
    list of types has its own identity arrow, and nothing says which one to return.
    """
    if not arrows:
        raise TypingError(
            "compose: expected at least one arrow, found none, so no types that their composition would pass on; "
            "write identity(*types)"
        )
    _require_arrows("compose", arrows)
    for position, (first, second) in enumerate(pairwise(arrows)):
        if first.target != second.source:
            found, expected = _first_difference(first.target, second.source)
            raise TypingError(
                f"expected outputs of arrow {position} to be inputs of arrow {position + 1} ({expected}), "
                f"found {found}; reorder or reshape the interface"
            )
    joined = _disjoint(arrows)
    wires = np.arange(len(joined.wire_types), dtype=np.int32)
    offset = 0
    previous: Indices | None = None
    for arrow in arrows:
        if previous is not None:
            wires[arrow.inputs + offset] = previous
        previous = wires[arrow.outputs + offset]
        offset += arrow.wire_count
    assert previous is not None
    return _renumber(joined, wires, arrows[0].inputs, previous)


def tensor(*arrows: Arrow) -> Arrow:
    """Place arrows side by side: the inputs and outputs of each follow those of the arrow before; without arrows, the
    result is `identity()`. Placing arrows side by side takes linear time.
    """
    if not arrows:
        return identity()
    _require_arrows("tensor", arrows)
    joined = _disjoint(arrows)
    offsets = np.cumsum([0] + [arrow.wire_count for arrow in arrows])[:-1].astype(np.int32)
    inputs = _concatenate([arrow.inputs + offset for arrow, offset in zip(arrows, offsets, strict=True)])
    outputs = _concatenate([arrow.outputs + offset for arrow, offset in zip(arrows, offsets, strict=True)])
    return _renumber(joined, np.arange(len(joined.wire_types), dtype=np.int32), inputs, outputs)


@overload
def fold(
    arrow: Arrow, inputs: Sequence[V], interpret: Callable[[int, Operation, list[V]], Sequence[V]], keep: Literal[True]
) -> list[V]: ...
@overload
def fold(
    arrow: Arrow, inputs: Sequence[V], interpret: Callable[[int, Operation, list[V]], Sequence[V]], keep: bool = False
) -> list[V | None]: ...
def fold(
    arrow: Arrow, inputs: Sequence[V], interpret: Callable[[int, Operation, list[V]], Sequence[V]], keep: bool = False
) -> list[V] | list[V | None]:
    """Give every wire a value: the inputs have the given values, then each edge in order takes the result of
    `interpret(edge index, operation, source values)`.

    Return the value of each wire, by the wire's number. Unless `keep`, a wire's value is dropped after its last reader
    (the values of outputs stay), so that memory follows the live wires. Folding an arrow takes linear time, without
    recursion. Raise TypingError unless there are as many values as the arrow has inputs.
    """
    if len(inputs) != len(arrow.inputs):
        raise TypingError(
            f"expected {len(arrow.inputs)} values, one for each input, found {len(inputs)}; give one each"
        )
    values: list[Any] = [None] * arrow.wire_count
    for wire, value in zip(arrow.inputs.tolist(), inputs, strict=True):
        values[wire] = value
    operations = arrow.operations
    remaining: list[int] = [] if keep else arrow.readers().tolist()
    for index, (operation, sources, targets, _) in enumerate(arrow.rows):
        results = interpret(index, operations[operation], [values[wire] for wire in sources])
        for wire, value in zip(targets, results, strict=True):
            values[wire] = value
        if not keep:
            for wire in sources:
                remaining[wire] -= 1
                if not remaining[wire]:
                    values[wire] = None
    return values


def evaluate(arrow: Arrow, inputs: Iterable[ArrayLike]) -> list[Values]:
    """Return the values of an arrow's outputs when every operation runs on numpy arrays."""
    given: list[Values] = [np.asarray(value) for value in inputs]
    values = fold(arrow, given, lambda _, operation, sources: operation.run(*sources))
    return [value for wire in arrow.outputs.tolist() if (value := values[wire]) is not None]


def _disjoint(arrows: Sequence[Arrow]) -> Arrow:
    """Return one arrow that holds all wires and edges of several arrows, without an interface, with merged tables."""
    operations: dict[Operation, int] = {}
    types: dict[Type, int] = {}
    provenances: dict[Provenance, int] = {}
    offset = 0
    parts: list[tuple[Indices, ...]] = []
    for arrow in arrows:
        operation_map = _intern(operations, arrow.operations)
        type_map = _intern(types, arrow.types)
        provenance_map = _intern(provenances, arrow.provenances)
        parts.append(
            (
                type_map[arrow.wire_types],
                operation_map[arrow.edge_operations],
                provenance_map[arrow.edge_provenances],
                np.diff(arrow.source_offsets),
                arrow.source_wires + np.int32(offset),
                np.diff(arrow.target_offsets),
                arrow.target_wires + np.int32(offset),
            )
        )
        offset += arrow.wire_count
    wire_types, edge_operations, edge_provenances, arity, source_wires, coarity, target_wires = (
        _concatenate(columns) for columns in zip(*parts, strict=True)
    )
    nothing = np.zeros(0, np.int32)
    return Arrow(
        tuple(operations),
        tuple(types),
        tuple(provenances),
        wire_types,
        edge_operations,
        edge_provenances,
        offsets_of(arity),
        source_wires,
        offsets_of(coarity),
        target_wires,
        nothing,
        nothing,
    )


def _renumber(arrow: Arrow, wires: Indices, inputs: Indices, outputs: Indices) -> Arrow:
    """Identify wires by the map (old wire -> surviving old wire), then number the surviving wires without gaps."""
    survives = wires == np.arange(len(wires), dtype=np.int32)
    compact = np.cumsum(survives, dtype=np.int32) - 1
    final = compact[wires].astype(np.int32)
    return Arrow(
        arrow.operations,
        arrow.types,
        arrow.provenances,
        arrow.wire_types[survives],
        arrow.edge_operations,
        arrow.edge_provenances,
        arrow.source_offsets,
        final[arrow.source_wires],
        arrow.target_offsets,
        final[arrow.target_wires],
        final[inputs],
        final[outputs],
    )


def offsets_of(lengths: Values) -> Indices:
    """Return where each list starts in the concatenation of all lists, and at the end the length of the concatenation:
    one entry more than there are lists.
    """
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def _concatenate(columns: Sequence[Indices]) -> Indices:
    return np.concatenate(columns).astype(np.int32) if columns else np.zeros(0, np.int32)


def _intern(table: dict[V, int], entries: Sequence[V]) -> Indices:
    return np.array([table.setdefault(entry, len(table)) for entry in entries], np.int32)


def _short(found: object) -> str:
    return " ".join(reprlib.repr(found).split())


def _first_difference(found: tuple[Type, ...], expected: tuple[Type, ...]) -> tuple[str, str]:
    if len(found) != len(expected):
        return f"{len(found)} wires", f"{len(expected)} wires"
    return next((str(a), str(b)) for a, b in zip(found, expected, strict=True) if a != b)

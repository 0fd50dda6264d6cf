"""A builder that writes arrows one operation at a time, and finds the type of each wire as it is added."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .errors import OverflowRisk, TypingError
from .hypergraph import Arrow, offsets_of, places
from .operation import NOWHERE, Operation, Provenance
from .types import Fixed, Type, check_type, fixed


@dataclass(frozen=True, slots=True)
class Piece:
    """A few edges, recorded by rewriting one operation, that can be written again on other wires of the same types.

    Each step of a piece is (operation index, sources, target type indices); both indices refer to the builder's tables,
    and the wires are numbered with the piece's sources first. The field `results` of a piece holds wire numbers, and
    None in the place of a wire that is missing.
    """

    steps: list[tuple[int, list[int], tuple[int, ...]]]
    results: list[int | None]


class Builder:
    """An arrow that is under construction. A Builder's wires are plain integers; the result of typing is memoised by
    operation and source types.

    The field `provenance` of a Builder labels the edges that are added while it is set. With `share`, a Builder does
    not add an edge again that exists already (the same operation on the same wires).
    """

    def __init__(self, share: bool = False) -> None:
        self.provenance: Provenance = NOWHERE
        self._shared: dict[tuple[int, ...], list[int]] | None = {} if share else None
        self._scratch: Builder | None = None
        self._operations: dict[Operation, int] = {}
        self._operation_table: list[Operation] = []
        self._types: dict[Type, int] = {}
        self._type_table: list[Type] = []
        self._provenances: dict[Provenance, int] = {}
        self._labelled: Provenance | None = None
        self._label = 0
        self._wire_types: list[int] = []
        self._edge_operations: list[int] = []
        self._edge_provenances: list[int] = []
        self._arity: list[int] = []
        self._source_wires: list[int] = []
        self._coarity: list[int] = []
        self._target_wires: list[int] = []
        self._inputs: list[int] = []
        self._typing: dict[tuple[int, ...], tuple[int, ...]] = {}

    def input(self, type: Type) -> int:
        """Add a new input wire to the arrow. Raise TypingError if the given `type` is not the type of a wire."""
        check_type(type, "input")
        wire = self._wire(self._type_index(type))
        self._inputs.append(wire)
        return wire

    def inputs(self, types: Sequence[Type]) -> list[int]:
        """Add one input of each type; return their wires in order."""
        return [self.input(type) for type in types]

    def type(self, wire: int) -> Type:
        """Return the type of a wire of the arrow."""
        return self._type_table[self._wire_types[wire]]

    def format(self, wire: int) -> Fixed:
        """Return the type of a wire, which must be a wire of integers. Raise TypingError for a wire of reals."""
        return fixed(self.type(wire))

    def type_key(self, wire: int) -> int:
        """Return a small integer that is equal for wires of equal types in this builder."""
        return self._wire_types[wire]

    @property
    def edge_count(self) -> int:
        """Return how many edges the arrow has so far."""
        return len(self._edge_operations)

    def apply(self, operation: Operation, *sources: int) -> list[int]:
        """Add an edge of an operation; return the edge's target wires. Raise TypingError or OverflowRisk if the
        operation cannot read the given wires, with the provenance in the message.
        """
        index = self._operation_index(operation)
        key = (index, *self._keys(sources, operation.name))
        target_types = self._typing.get(key)
        if target_types is None:
            target_types = self._typing[key] = self._type_edge(operation, sources)
        return self._append(index, sources, target_types)

    def _keys(self, wires: Sequence[int], where: str) -> list[int]:
        """Return the types of wires, as numbers; raise TypingError for a wire that this builder does not have."""
        wire_types = self._wire_types
        try:
            if not wires or min(wires) >= 0:
                return [wire_types[wire] for wire in wires]
        except (IndexError, TypeError):
            pass
        raise TypingError(
            f"{where}: expected wires of this builder, whole numbers below {len(wire_types)}, found {list(wires)}; "
            "take them from its input, add or apply"
        )

    def _append(self, index: int, sources: Sequence[int], target_types: tuple[int, ...]) -> list[int]:
        if self._shared is not None:
            there = self._shared.get((index, *sources))
            if there is not None:
                return there
        wire_types = self._wire_types
        if self.provenance is not self._labelled:
            self._labelled = self.provenance
            self._label = self._provenances.setdefault(self.provenance, len(self._provenances))
        self._edge_operations.append(index)
        self._edge_provenances.append(self._label)
        self._arity.append(len(sources))
        self._source_wires.extend(sources)
        first = len(wire_types)
        wire_types.extend(target_types)
        targets = [first] if len(target_types) == 1 else list(range(first, first + len(target_types)))
        self._coarity.append(len(targets))
        self._target_wires.extend(targets)
        if self._shared is not None:
            self._shared[(index, *sources)] = targets
        return targets

    def capture(self, write: Callable[[Builder, list[int]], Sequence[int | None]], sources: Sequence[int]) -> Piece:
        """Return the edges that `write(builder, wires)` adds and the wires that it returns, for wires of the sources'
        types, recorded so that `replay` can add them to this builder again.
        """
        if self._scratch is None:
            self._scratch = Builder()
        scratch = self._scratch
        scratch.provenance = self.provenance
        wires = scratch.inputs([self.type(wire) for wire in sources])
        first, source, target = scratch.edge_count, len(scratch._source_wires), len(scratch._target_wires)
        results = write(scratch, wires)
        slots = {wire: slot for slot, wire in enumerate(wires)}
        steps = []
        for edge in range(first, scratch.edge_count):
            read = scratch._source_wires[source : source + scratch._arity[edge]]
            made = scratch._target_wires[target : target + scratch._coarity[edge]]
            source, target = source + len(read), target + len(made)
            operation = self._operation_index(scratch._operation_table[scratch._edge_operations[edge]])
            types = tuple(self._type_index(scratch.type(wire)) for wire in made)
            steps.append((operation, [slots[wire] for wire in read], types))
            slots.update((wire, len(slots) + position) for position, wire in enumerate(made))
        return Piece(steps, [None if wire is None else slots[wire] for wire in results])

    def replay(self, piece: Piece, sources: Sequence[int]) -> list[int | None]:
        """Add a captured piece's edges on wires of the types that it was captured for; return the wires of its
        results.
        """
        wires = list(sources)
        for operation, slots, types in piece.steps:
            wires += self._append(operation, [wires[slot] for slot in slots], types)
        return [None if slot is None else wires[slot] for slot in piece.results]

    def add(self, operation: Operation, *sources: int) -> int:
        """Add an edge with one target; return the target's wire. Raise TypingError for an operation with more than one
        target.
        """
        targets = self.apply(operation, *sources)
        if len(targets) != 1:
            raise TypingError(
                f"{operation.name}: expected an operation with one target, found {len(targets)}; return one term"
            )
        return targets[0]

    def splice(self, arrow: Arrow, sources: Sequence[int], relabel: bool = True) -> list[int]:
        """Add a copy of an arrow on the given wires; return the wires of its outputs.

        With `relabel`, copied edges without a provenance of their own take the builder's current provenance. Raise
        TypingError unless there is one wire for each input of the copied arrow, and for wires that this builder does
        not have.
        """
        if len(sources) != len(arrow.inputs):
            raise TypingError(
                f"splice: expected {len(arrow.inputs)} wires, one for each input of the arrow, found {len(sources)}"
            )
        found = [self._type_table[key] for key in self._keys(sources, "splice")]
        if found != list(arrow.source):
            raise TypingError(
                f"splice: expected wires of types {list(map(str, arrow.source))}, found {list(map(str, found))}"
            )
        wires: list[int] = [0] * arrow.wire_count
        for inner, outer in zip(arrow.inputs.tolist(), sources, strict=True):
            wires[inner] = outer
        operations, here = arrow.operations, self.provenance
        labels = [here if relabel and p == NOWHERE else p for p in arrow.provenances]
        for operation, edge_sources, edge_targets, provenance in arrow.rows:
            self.provenance = labels[provenance]
            made = self.apply(operations[operation], *[wires[wire] for wire in edge_sources])
            for inner, outer in zip(edge_targets, made, strict=True):
                wires[inner] = outer
        self.provenance = here
        return [wires[wire] for wire in arrow.outputs.tolist()]

    def build(self, outputs: Sequence[int]) -> Arrow:
        """Return the arrow that this builder has built so far, with the given output wires. Raise TypingError for a
        wire that this builder lacks.
        """
        return Arrow(
            tuple(self._operations),
            tuple(self._type_table),
            tuple(self._provenances),
            np.array(self._wire_types, np.int32),
            np.array(self._edge_operations, np.int32),
            np.array(self._edge_provenances, np.int32),
            offsets_of(np.array(self._arity, np.int32)),
            np.array(self._source_wires, np.int32),
            offsets_of(np.array(self._coarity, np.int32)),
            np.array(self._target_wires, np.int32),
            np.array(self._inputs, np.int32),
            places(outputs, len(self._wire_types), "build: output"),
        )

    def _wire(self, type_index: int) -> int:
        self._wire_types.append(type_index)
        return len(self._wire_types) - 1

    def _operation_index(self, operation: Operation) -> int:
        try:
            index = self._operations.get(operation)
        except TypeError:
            index = None
        if index is None:
            _require_operation(operation)
            index = self._operations[operation] = len(self._operations)
            self._operation_table.append(operation)
        return index

    def _type_index(self, type: Type) -> int:
        index = self._types.get(type)
        if index is None:
            index = self._types[type] = len(self._types)
            self._type_table.append(type)
        return index

    def _type_edge(self, operation: Operation, sources: Sequence[int]) -> tuple[int, ...]:
        source_types = [self.type(wire) for wire in sources]
        try:
            return tuple(self._type_index(type) for type in operation.target_types(*source_types))
        except (TypingError, OverflowRisk) as error:
            applied = ", ".join(map(str, source_types))
            raise error.__class__(f"{error}; in {operation.name} on ({applied}), {self.provenance}") from None


def _require_operation(operation: object) -> None:
    """Raise TypingError unless the object is an operation that has a name and can be hashed: its parameters must not
    change.
    """
    if isinstance(operation, Operation):
        if not hasattr(operation, "name"):
            kind = type(operation).__name__
            raise TypingError(f"expected a name in the class {kind}, found none; write name = 'mine.{kind.lower()}'")
        try:
            hash(operation)
        except TypeError:
            raise TypingError(f"expected tuples in an operation, found a list in {operation}; write (2, 3)") from None
    elif isinstance(operation, type):
        raise TypingError(
            f"expected an operation, found the class {operation.__name__}; write {operation.__name__}(...)"
        )
    else:
        raise TypingError(f"expected an operation, found {operation!r}; give one, such as arrays.Add()")


def generator(operation: Operation, *sources: Type) -> Arrow:
    """Return the arrow of a single operation."""
    builder = Builder()
    return builder.build(builder.apply(operation, *builder.inputs(sources)))

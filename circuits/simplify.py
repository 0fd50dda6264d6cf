"""A simplifier that changes no meaning: it removes dead code, common subterms, identities, and operations on small
constants.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from .errors import Undefined
from .hypergraph import Arrow, offsets_of
from .operation import Operation
from .types import Type

FOLD_LIMIT = 4096
"""Constants of at most this many elements are computed at compile time; larger ones stay symbolic."""
SIMPLE = "_simple"
"""The attribute that marks an arrow as simplified already."""


def simplify(arrow: Arrow, partial: Collection[type[Operation]] = ()) -> Arrow:
    """Return an arrow of the same function without unread edges, repeated edges, identities and operations on small
    constants.

    Simplifying makes two passes over the edges and takes linear time. The edges that remain after simplifying keep
    their order and provenance. Simplifying is idempotent: an arrow that is simplified already is returned unchanged.
    Edges of the operations in `partial` stay, though nothing may read them: the result then also has no value where the
    arrow has none.
    """
    if SIMPLE in vars(arrow):
        return arrow
    operations = list(arrow.operations)
    indices: dict[Operation, int] = {operation: index for index, operation in enumerate(operations)}
    wire_types = arrow.wire_types.tolist()
    types = arrow.types
    representative = list(range(arrow.wire_count))
    seen: dict[tuple[int, ...], list[int]] = {}
    constants: dict[int, Operation] = {}
    identities: dict[tuple[int, ...], bool] = {}
    kept: list[tuple[int, list[int], list[int], int]] = []
    for operation_index, sources, targets, provenance in arrow.rows:
        sources = [representative[wire] for wire in sources]
        operation = operations[operation_index]
        if len(sources) == 1:
            typed = (operation_index, wire_types[sources[0]])
            identity = identities.get(typed)
            if identity is None:
                identity = identities[typed] = operation.is_identity(types[typed[1]])
            if identity:
                representative[targets[0]] = sources[0]
                continue
        if sources and sources[0] in constants and len(targets) == 1 and all(wire in constants for wire in sources):
            folded = _constant(operation, [constants[wire] for wire in sources], types[wire_types[targets[0]]])
            if folded is not None:
                operation, sources = folded, []
                operation_index = indices.setdefault(operation, len(operations))
                if operation_index == len(operations):
                    operations.append(operation)
        key = (operation_index, *sources)
        earlier = seen.setdefault(key, targets)
        if earlier is not targets:
            for wire, same in zip(targets, earlier, strict=True):
                representative[wire] = same
            continue
        if not sources and operation.constant is not None:
            constants[targets[0]] = operation
        kept.append((operation_index, sources, targets, provenance))
    outputs = [representative[wire] for wire in arrow.outputs.tolist()]
    stay = {index for index, operation in enumerate(operations) if isinstance(operation, tuple(partial))}
    live = _live(kept, outputs, stay)
    simple = _assemble(arrow, tuple(operations), live, outputs)
    if not stay or len(live) == len(_live(kept, outputs, set())):
        vars(simple)[SIMPLE] = True
    return simple


def _constant(operation: Operation, sources: list[Operation], target: Type) -> Operation | None:
    """Return the Constant that results from an operation on constants, or None if the result is large, or undefined
    (which then shows at run time).
    """
    if target.size > FOLD_LIMIT or not operation.folds:
        return None
    values = [source.constant for source in sources]
    try:
        (result,) = operation.run(*[value for value in values if value is not None])
    except Undefined:
        return None
    return sources[0].constant_like(np.asarray(result), target)


def _live(
    rows: list[tuple[int, list[int], list[int], int]], outputs: list[int], stay: set[int]
) -> list[tuple[int, list[int], list[int], int]]:
    """Return the edges of an arrow on which some output depends, or an edge whose operation is in `stay`, in order."""
    needed = set(outputs)
    live = []
    for row in reversed(rows):
        if row[0] in stay or not needed.isdisjoint(row[2]):
            needed.update(row[1])
            live.append(row)
    live.reverse()
    return live


def _assemble(
    arrow: Arrow,
    operations: tuple[Operation, ...],
    rows: list[tuple[int, list[int], list[int], int]],
    outputs: list[int],
) -> Arrow:
    """Make the arrow of the remaining edges, with wires numbered densely: inputs first, then targets in order."""
    number = [0] * arrow.wire_count
    order: list[int] = []
    for wires in [arrow.inputs.tolist(), *(row[2] for row in rows)]:
        for wire in wires:
            number[wire] = len(order)
            order.append(wire)
    used = sorted({row[0] for row in rows})
    compact = {old: new for new, old in enumerate(used)}
    return Arrow(
        tuple(operations[index] for index in used),
        arrow.types,
        arrow.provenances,
        arrow.wire_types[np.array(order, np.int64)] if order else np.zeros(0, np.int32),
        np.array([compact[row[0]] for row in rows], np.int32),
        np.array([row[3] for row in rows], np.int32),
        offsets_of(np.array([len(row[1]) for row in rows], np.int32)),
        np.array([number[wire] for row in rows for wire in row[1]], np.int32),
        offsets_of(np.array([len(row[2]) for row in rows], np.int32)),
        np.array([number[wire] for row in rows for wire in row[2]], np.int32),
        np.arange(len(arrow.inputs), dtype=np.int32),
        np.array([number[wire] for wire in outputs], np.int32),
    )

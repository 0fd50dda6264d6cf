"""Expansion of an arrow: operations that a target does not implement directly are replaced by their definitions."""

from __future__ import annotations

from collections.abc import Set

from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import OverflowRisk
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.operation import Operation

from .expansion import Expansion
from .language import IntegerOperation


def expand(arrow: Arrow, keep: Set[type[Operation]] = frozenset()) -> Arrow:
    """Return an arrow of the same function without operations that are expansions other than those in `keep`; the arrow
    itself if it has none.

    Expanding keeps provenance: every edge of a definition carries the provenance of the edge that the definition
    replaces. The definition of an expansion is made once for each operation and its source types. The time that
    `expand` takes grows linearly with the number of edges. Raise OverflowRisk, naming the operation and its source
    line, if a step of a definition could pass 2^62.
    """
    replaced = [isinstance(o, Expansion) and type(o) not in keep for o in arrow.operations]
    if not any(replaced):
        return arrow
    builder = Builder()
    wires = [0] * arrow.wire_count
    for inner, wire in zip(arrow.inputs.tolist(), builder.inputs(arrow.source), strict=True):
        wires[inner] = wire
    definitions: dict[tuple[int, ...], Arrow] = {}
    for index, sources, targets, provenance in arrow.rows:
        builder.provenance = arrow.provenances[provenance]
        operation, outer = arrow.operations[index], [wires[wire] for wire in sources]
        if replaced[index]:
            key = (index, *map(builder.type_key, outer))
            definition = definitions.get(key)
            if definition is None:
                definition = definitions[key] = _definition(operation, builder, outer, keep)
            made = builder.splice(definition, outer)
        else:
            made = builder.apply(operation, *outer)
        for inner, wire in zip(targets, made, strict=True):
            wires[inner] = wire
    return builder.build([wires[wire] for wire in arrow.outputs.tolist()])


def operation_classes() -> tuple[type[IntegerOperation], ...]:
    """Return every class of the integer language, core operations first."""
    found = [c for c in Operation.registry.values() if issubclass(c, IntegerOperation)]
    return tuple(sorted(found, key=lambda c: (issubclass(c, Expansion), c.name)))


def _definition(operation: Operation, builder: Builder, wires: list[int], keep: Set[type[Operation]]) -> Arrow:
    assert isinstance(operation, Expansion)
    sources = [builder.type(wire) for wire in wires]
    try:
        return expand(operation.definition(*sources), keep)  # type: ignore[arg-type]
    except OverflowRisk as error:
        raise OverflowRisk(
            f"{error}; in the definition of {operation.name} on ({', '.join(map(str, sources))}), {builder.provenance}"
        ) from None

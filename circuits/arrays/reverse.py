"""The reverse derivative of an arrow whose operations all have reverse derivatives: these are replayed, from the last
operation to the first.
"""

from __future__ import annotations

from circuitize.circuits.builder import Builder, Piece
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.operation import Operation, Provenance
from circuitize.circuits.types import Array, Type

from .arithmetic.constant import Constant
from .arithmetic.elementwise import Add
from .language import RealOperation


def reverse(arrow: Arrow) -> Arrow:
    """Return R[f] of an arrow f : A -> B, as `reverse_derivative` gives it; composites in f must have a derivative of
    their own.
    """
    builder = Builder()
    wires: list[int] = [0] * arrow.wire_count
    for wire, type in zip(arrow.inputs.tolist(), arrow.source, strict=True):
        wires[wire] = builder.input(type)
    seeds = builder.inputs(arrow.target)
    operations, rows = arrow.operations, arrow.rows
    for operation, sources, targets, provenance in rows:
        builder.provenance = arrow.provenances[provenance]
        for wire, made in zip(targets, builder.apply(operations[operation], *[wires[w] for w in sources]), strict=True):
            wires[wire] = made

    cotangents: list[int | None] = [None] * arrow.wire_count
    add = Add()

    def accumulate(wire: int, cotangent: int) -> None:
        present = cotangents[wire]
        cotangents[wire] = cotangent if present is None else builder.add(add, present, cotangent)

    for wire, seed in zip(arrow.outputs.tolist(), seeds, strict=True):
        accumulate(wire, seed)
    pieces: dict[tuple[int, ...], Piece] = {}
    wire_types = arrow.wire_types.tolist()
    labels = [Provenance(f"{p.part} derivative".strip(), p.file, p.line) for p in arrow.provenances]
    for operation, sources, targets, provenance in reversed(rows):
        above = [cotangents[wire] for wire in targets]
        if all(cotangent is None for cotangent in above):
            continue
        builder.provenance = labels[provenance]
        known = [
            _zero(builder, arrow.types[wire_types[wire]]) if cotangent is None else cotangent
            for wire, cotangent in zip(targets, above, strict=True)
        ]
        around = [wires[wire] for wire in sources] + [wires[wire] for wire in targets] + known
        key = (operation, *[wire_types[wire] for wire in sources])
        piece = pieces.get(key)
        if piece is None:
            piece = pieces[key] = _reverse(builder, _real(operations[operation]), around, len(sources), len(targets))
        below = builder.replay(piece, around)
        for wire, cotangent in zip(sources, below, strict=True):
            if cotangent is not None:
                accumulate(wire, cotangent)
    results = []
    for wire, type in zip(arrow.inputs.tolist(), arrow.source, strict=True):
        cotangent = cotangents[wire]
        results.append(_zero(builder, type) if cotangent is None else cotangent)
    return builder.build(results)


def _reverse(builder: Builder, operation: RealOperation, around: list[int], arity: int, coarity: int) -> Piece:
    """Return the reverse derivative of one operation as a piece from the operation's sources, targets and cotangents to
    the cotangents of its sources.
    """

    def write(scratch: Builder, wires: list[int]) -> list[int | None]:
        targets = arity + coarity
        return operation.reverse(scratch, wires[:arity], wires[arity:targets], wires[targets:])

    return builder.capture(write, around)


def _real(operation: Operation) -> RealOperation:
    if not isinstance(operation, RealOperation):
        raise CircuitizeError(
            f"expected an arrow of real operations, found {operation.name}; differentiate before quantizing"
        )
    return operation


def _zero(builder: Builder, type: Type) -> int:
    assert isinstance(type, Array)
    return builder.add(Constant.zeros(type.shape))

"""Expanding composites until tiles can be computed: to sums, maxima and elementwise operations."""

from __future__ import annotations

from circuitize.circuits.arrays import (
    Broadcast,
    Composite,
    Divide,
    Einsum,
    Maximum,
    Norm,
    Softmax,
    SphericalAttention,
    SquareRoot,
    expand_composites,
)
from circuitize.circuits.arrays.term import Real
from circuitize.circuits.builder import Builder
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.operation import Operation
from circuitize.circuits.simplify import simplify

LETTERS = "abcdefgh"


def primitive(arrow: Arrow) -> Arrow:
    """Return an equal arrow in which composites, norms and spherical attention are replaced by their definitions.

    A softmax is kept if it is read only by contractions along its axis, because it can then be streamed (see `group`).
    """
    builder = Builder()
    wires = [0] * arrow.wire_count
    for wire, type in zip(arrow.inputs.tolist(), arrow.source, strict=True):
        wires[wire] = builder.input(type)
    kept = _contracted(arrow)
    for index, (operation, sources, targets, provenance) in enumerate(arrow.rows):
        builder.provenance = arrow.provenances[provenance]
        made = _written(builder, arrow.operations[operation], [wires[wire] for wire in sources], index in kept)
        for wire, target in zip(targets, made, strict=True):
            wires[wire] = target
    return simplify(builder.build([wires[wire] for wire in arrow.outputs.tolist()]))


def _written(builder: Builder, operation: Operation, wires: list[int], keep: bool) -> list[int]:
    if isinstance(operation, SphericalAttention):
        return [_spherical(operation, *(Real(builder, wire) for wire in wires)).wire]
    if isinstance(operation, Norm):
        return [_norm(Real(builder, wires[0]), operation.axis).wire]
    if isinstance(operation, Composite) and not keep:
        definition = primitive(expand_composites(operation.definition(*(builder.type(wire) for wire in wires))))  # type: ignore[arg-type]
        return builder.splice(definition, wires)
    return builder.apply(operation, *wires)


def _contracted(arrow: Arrow) -> set[int]:
    """Return the places in the arrow of the softmaxes that are read only by contractions which sum over the softmax's
    axis.
    """
    found: dict[int, tuple[int, int]] = {}
    outputs = {*arrow.outputs.tolist()}
    for index, (operation, _, targets, _) in enumerate(arrow.rows):
        made = arrow.operations[operation]
        if isinstance(made, Softmax) and targets[0] not in outputs:
            found[targets[0]] = (index, made.axis)
    kept = {index for index, _ in found.values()}
    for operation, sources, _, _ in arrow.rows:
        reader = arrow.operations[operation]
        for place, wire in enumerate(sources):
            if wire in found:
                index, axis = found[wire]
                if not isinstance(reader, Einsum) or reader.letters[place][axis] in reader.letters[2]:
                    kept.discard(index)
    return kept


def _norm(x: Real, axis: int) -> Real:
    letters = LETTERS[: x.ndim]
    return SquareRoot()(Einsum(f"{letters},{letters}->{letters.replace(letters[axis], '')}")(x, x))


def _spherical(operation: SphericalAttention, scores: Real, values: Real) -> Real:
    """Return spherical attention as two sums over the positions, and a division after the sums are complete."""
    batch = LETTERS[: scores.ndim - 2]
    norm = _norm(scores, scores.ndim - 1)
    divisor = Maximum()(norm, norm.constant(operation.floor))
    sums = Einsum(f"{batch}qx,{batch}xv->{batch}qv")(scores, values)
    return Divide()(sums, Broadcast(sums.shape, (sums.ndim - 1,))(divisor))

"""The translation of a program into the operations that stages are made of."""

from __future__ import annotations

import numpy as np

from circuitize.circuits.builder import Builder
from circuitize.circuits.hypergraph import Arrow, fold
from circuitize.circuits.integers import (
    PARTIAL,
    ArgMax,
    ArgMaxOneHot,
    Check,
    Clamp,
    Constant,
    Contract,
    IsNegative,
    Maximum,
    Reindex,
    Select,
    Subtract,
    View,
    expand,
)
from circuitize.circuits.operation import Operation
from circuitize.circuits.simplify import simplify

KEPT: frozenset[type[Operation]] = frozenset({Contract, Subtract, Select, Maximum, Clamp, ArgMax})
"""Operations with a default expansion that stages do themselves."""


def core(arrow: Arrow) -> Arrow:
    """Return a simplified arrow with the same function, made of core operations and of operations in KEPT.

    Gather and ScatterAdd become products with the one-hot code of their indices, as the definitions of these operations
    say. What may have no value stays, though nothing may read it.
    """
    expanded = expand(simplify(arrow, PARTIAL), KEPT | {ArgMaxOneHot})
    if not any(isinstance(operation, ArgMaxOneHot) for operation in expanded.operations):
        return simplify(expanded, PARTIAL)
    builder = Builder()

    def write(index: int, operation: Operation, sources: list[int]) -> list[int]:
        builder.provenance = expanded.edge(index).provenance
        if isinstance(operation, ArgMaxOneHot):
            return [_one_hot(builder, sources[0], operation.axis)]
        return builder.apply(operation, *sources)

    wires = fold(expanded, builder.inputs(expanded.source), write)
    whole = builder.build([wire for at in expanded.outputs.tolist() if (wire := wires[at]) is not None])
    return simplify(whole, PARTIAL)


def _one_hot(builder: Builder, wire: int, axis: int) -> int:
    """Return a wire that is 1 at the place of the greatest element along an axis, and 0 before and after this place."""
    shape = builder.type(wire).shape
    index = builder.add(Reindex(View.broadcast(shape, (axis,))), builder.add(ArgMax(axis), wire))
    places = np.arange(shape[axis]).reshape([-1 if other == axis else 1 for other in range(len(shape))])
    place = builder.add(Constant.of(np.broadcast_to(places, shape)))
    before = builder.add(IsNegative(), builder.add(Subtract(), place, index))
    after = builder.add(IsNegative(), builder.add(Subtract(), index, place))
    hot = builder.add(Subtract(), builder.add(Constant.splat(1, shape)), before)
    return builder.add(Check(0, 1), builder.add(Subtract(), hot, after))

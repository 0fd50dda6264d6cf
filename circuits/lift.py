"""The lift of an arrow: the same program on several inputs at once, along a new first axis of every wire."""

from __future__ import annotations

from .builder import Builder
from .errors import TypingError
from .hypergraph import Arrow
from .integers.expand import expand
from .integers.expansion import Expansion
from .integers.language import IntegerOperation
from .integers.view import View
from .integers.wiring import Reindex
from .operation import Operation
from .types import Fixed


def lift(arrow: Arrow, count: int) -> Arrow:
    """Return the integer arrow that does `count` runs of a given arrow: each wire has a new first axis, with one place
    for each run.

    `lift` is a functor: it maps an identity to an identity, a composition to the composition of lifts, and arrows side
    by side to their lifts side by side. Run i of a lifted arrow equals the original arrow on the values at place i, bit
    for bit; the lifted arrow is undefined if one run is. The intervals of a lifted arrow are those of the original
    arrow. A constant of a lifted arrow is stored once for all runs. When an arrow is lifted, operations that read at
    computed places are replaced by their definitions, because the places may differ between runs. Lifting an arrow
    takes linear time.

    Raise TypingError for an arrow of the real array language, and for fewer runs than one.
    """
    if count < 1:
        raise TypingError(f"lift: expected at least 1 run, found {count}")
    for type in arrow.types:
        if not isinstance(type, Fixed):
            raise TypingError(f"lift: expected an arrow of integers, found {type}; quantize the program first")
    whole = {o.__class__ for o in arrow.operations if isinstance(o, Expansion) and o.lifted(count) is not None}
    arrow = expand(arrow, whole)
    builder = Builder()
    entering = [lifted(arrow.format(wire), count) for wire in arrow.inputs.tolist()]
    wires = [0] * arrow.wire_count
    for inner, wire in zip(arrow.inputs.tolist(), builder.inputs(entering), strict=True):
        wires[inner] = wire
    operations = [_operation(operation, count) for operation in arrow.operations]
    for index, sources, (target,), provenance in arrow.rows:
        builder.provenance = arrow.provenances[provenance]
        wire = builder.add(operations[index], *(wires[source] for source in sources))
        if not sources:
            shape = lifted(arrow.format(target), count).shape
            wire = builder.add(Reindex(View.broadcast(shape, (0,))), wire)
        wires[target] = wire
    return builder.build([wires[wire] for wire in arrow.outputs.tolist()])


def lifted(type: Fixed, count: int) -> Fixed:
    """Return the type of an array that holds `count` values of a type along a new first axis."""
    return type.with_shape((count, *type.shape))


def _operation(operation: Operation, count: int) -> Operation:
    made = operation.lifted(count) if isinstance(operation, IntegerOperation) else None
    if made is None:
        raise TypingError(f"lift: expected operations that have a lift, found {operation.name}; give it one")
    return made

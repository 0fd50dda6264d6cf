"""Open hypergraphs of catgrad as arrows of the real array language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.types import Array, Shape
from circuitize.frontends.provenance import here, part, placed_at
from circuitize.frontends.tensor import Tensor

from .installed import module
from .objects import Constant, IndexedCoproduct, NdArrayType
from .operations import Splat, meaning_of

DEEPEST = 64
"""How deeply definitions of a diagram may be nested."""


@dataclass(frozen=True)
class Diagram:
    """An open hypergraph as plain lists: the operations are in an order in which each reads only wires that are already
    written.

    The field `types` has the types of a diagram's wires; `sources` and `targets` have the wires that each operation
    reads and writes.
    """

    operations: list[object]
    sources: list[list[int]]
    targets: list[list[int]]
    inputs: list[int]
    outputs: list[int]
    types: list[NdArrayType]

    def shapes(self, wires: Sequence[int]) -> list[Shape]:
        """Return the shapes of the given wires of a diagram."""
        return [tuple(self.types[wire].shape) for wire in wires]


def read(diagram: object, name: str = "diagram") -> Diagram:
    """Read a diagram of catgrad; raise CircuitizeError for anything else, for a wire that is not written and read once,
    and for a cycle.
    """
    if not isinstance(diagram, module("open_hypergraphs").OpenHypergraph):
        raise CircuitizeError(f"{name}: expected an open hypergraph of catgrad, found {type(diagram).__name__}")
    inner = diagram.H
    operations, types = list(inner.x.table), list(inner.w.table)
    sources, targets = _segments(inner.s), _segments(inner.t)
    inputs, outputs = diagram.s.table.tolist(), diagram.t.table.tolist()
    for boundary, ends, word in ((inputs, targets, "written"), (outputs, sources, "read")):
        met = np.bincount([*boundary, *(wire for wires in ends for wire in wires)], minlength=len(types))
        if (met != 1).any():
            wire = int(np.argmax(met != 1))
            raise CircuitizeError(
                f"{name}: expected each wire to be {word} once, found wire {wire} of shape {list(types[wire].shape)} "
                f"{word} {met[wire]} times; use copy and discard, which the derivative knows"
            )
    order = _ordered(operations, sources, targets, inputs, name)
    chosen = [[column[index] for index in order] for column in (operations, sources, targets)]
    return Diagram(chosen[0], chosen[1], chosen[2], inputs, outputs, types)


def _segments(family: IndexedCoproduct) -> list[list[int]]:
    """Return the wires of each operation of a catgrad diagram, from an indexed coproduct."""
    ends = np.cumsum(np.asarray(family.sources.table, np.int64)).tolist()
    values = np.asarray(family.values.table).tolist()
    return [values[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _ordered(
    operations: list[object], sources: list[list[int]], targets: list[list[int]], inputs: list[int], name: str
) -> list[int]:
    """Return the operations of a catgrad diagram in Kahn's order. Ordering the operations of a diagram takes linear
    time.
    """
    reader = {wire: index for index, wires in enumerate(sources) for wire in wires}
    missing = [len(wires) for wires in sources]
    order: list[int] = []

    def written(wires: Sequence[int]) -> None:
        for wire in wires:
            index = reader.get(wire)
            if index is not None:
                missing[index] -= 1
                if not missing[index]:
                    order.append(index)

    order += [index for index, wires in enumerate(sources) if not wires]
    written(inputs)
    for index in order:
        written(targets[index])
    if len(order) < len(operations):
        stuck = next(index for index, count in enumerate(missing) if count)
        raise CircuitizeError(
            f"{name}: expected no cycle, found {type(operations[stuck]).__name__} reading what follows from it; cut it"
        )
    return order


def arrow(diagram: object, name: str = "diagram") -> Arrow:
    """Return the arrow of a diagram in catgrad's core, in catgrad's language with derivatives, or in a mixture of the
    two.

    An operation of catgrad has the meaning that was registered for it, else the meaning that catgrad's core gives it,
    else that of its own definition (`arrow`) or translation (`to_core`). In the arrow of a diagram, copies and discards
    leave no trace; a product with a constant becomes a scale, and (x > 0) * x becomes ReLU. Raise CircuitizeError if a
    catgrad diagram has an unknown operation, a wire that is not written and read once, or a cycle. Translating a
    diagram takes linear time.
    """
    given = read(diagram, name)
    builder = Builder()
    with placed_at(here()):
        inputs = [Tensor(builder, builder.input(Array(shape))) for shape in given.shapes(given.inputs)]
        results = _run(builder, given, inputs, name, 0)
    return builder.build([tensor.wire for tensor in results])


def _run(builder: Builder, diagram: Diagram, inputs: Sequence[Tensor], name: str, depth: int) -> list[Tensor]:
    if depth > DEEPEST:
        raise CircuitizeError(
            f"{name}: expected definitions at most {DEEPEST} deep, found more; do they hold themselves?"
        )
    wires = dict(zip(diagram.inputs, inputs, strict=True))
    for operation, sources, targets in zip(diagram.operations, diagram.sources, diagram.targets, strict=True):
        read_tensors = [wires[wire] for wire in sources]
        label = type(operation).__name__
        with part(label):
            if _is_constant(operation):
                made: Tensor | Sequence[Tensor] = Splat(builder, float(operation.x), tuple(operation.T.shape))
            else:
                made = _applied(builder, operation, read_tensors, f"{name}: {label}", depth)
        results = [made] if isinstance(made, Tensor) else list(made)
        shapes = [tensor.shape for tensor in results]
        if shapes != diagram.shapes(targets):
            raise CircuitizeError(
                f"{name}: expected {label} to make shapes {diagram.shapes(targets)}, found {shapes}; "
                "correct what is registered for it"
            )
        wires.update(zip(targets, results, strict=True))
    return [wires[wire] for wire in diagram.outputs]


def _is_constant(operation: object) -> TypeGuard[Constant]:
    """Return whether an operation is a constant of catgrad's core."""
    return type(operation) is module("catgrad.core.operation").Constant


def _applied(
    builder: Builder, operation: object, tensors: list[Tensor], name: str, depth: int
) -> Tensor | Sequence[Tensor]:
    meaning = meaning_of(operation)
    if meaning is not None:
        try:
            return meaning(operation, *tensors)
        except CircuitizeError as error:
            raise error.__class__(f"{name}: {error}") from None
    definition = module("catgrad.special.definition").Definition
    if isinstance(operation, definition):
        return _run(builder, read(operation.arrow(), name), tensors, name, depth + 1)
    if hasattr(operation, "to_core"):
        return _run(builder, read(operation.to_core(), name), tensors, name, depth + 1)
    raise CircuitizeError(
        f"{name}: expected an operation of catgrad's core, a definition, or one with a meaning of its own, found none; "
        "say what it means with circuitize.frontends.catgrad.register"
    )


def forward(model: object, name: str = "model") -> tuple[Arrow, int]:
    """Return a model's arrow from its parameters and its inputs to its predictions, and how many parameters the model
    has.
    """
    read(model, name)
    parameters, parametrised = module("catgrad.special.parameter").factor_parameters(model)
    return arrow(parametrised, name), len(parameters.target)

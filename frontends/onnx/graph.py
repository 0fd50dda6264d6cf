"""A reader that translates an ONNX graph, node by node, into an arrow."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.types import Array
from circuitize.frontends.formats import Format
from circuitize.frontends.tensor import Tensor

from .elements import BOOL, ELEMENTS, EXACT, INT64, STRING, Known, Value
from .extents import Extents, open_or_fixed
from .model import check, declared, opsets, package, read
from .node import UnknownValue, constant
from .protos import GraphProto
from .scope import Scope
from .sizes import Bounded
from .tensors import element, labels, value
from .walk import walk
from .whole import Interval

__all__ = ["Imported", "UnknownValue", "arrow"]


@dataclass(frozen=True)
class Imported:
    """An arrow with the names of its inputs and outputs, in order, and the names of their element types."""

    arrow: Arrow
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_types: tuple[str, ...] = ()
    output_types: tuple[str, ...] = ()


def arrow(
    model: object,
    known: Mapping[str, Known] | None = None,
    intervals: Mapping[str, Interval] | None = None,
    *,
    formats: Mapping[str, Format] | None = None,
    dims: Mapping[str, int] | None = None,
    parameters: Collection[str] = (),
) -> Imported:
    """Return the arrow of an ONNX model (a ModelProto, or the path of a file), with initializers and `known` inputs as
    constants.

    Nodes of an ONNX graph that depend on constants alone are computed when the graph is read, so that shapes may depend
    on their results. Inputs of whole numbers lie in the interval of their ONNX element type, and within 2^52;
    `intervals` (low, high) by name states smaller intervals. The argument `formats` states formats for tensors, by the
    names under which ONNX nodes write them: such a tensor is rounded half to even, and saturates. The argument `dims`
    gives extents that a model file leaves open, by their name (`batch`) or by input and axis (`x:0`); `parameters`
    names the initializers that become inputs, after the other inputs. Raise UnknownValue if a shape depends on an input
    that is not known, FormatError for a malformed model, and CircuitizeError for an operator or a type that is not
    understood, for shapes that are not concrete, for whole numbers that float64 may not hold, and if the package `onnx`
    is missing.
    """
    onnx, proto = package(), read(model)
    check(proto)
    versions, graph, builder = opsets(onnx, proto), proto.graph, Bounded()
    extents, pinned = Extents(dims or {}), dict(formats or {})
    values, names = _sources(onnx, graph, builder, dict(known or {}), dict(intervals or {}), extents, parameters)
    extents.require_used()
    try:
        top = walk(onnx, proto, versions, values, builder, pinned)
    except UnknownValue as unknown:
        raise _followed(unknown, builder, values, names) from None
    if pinned:
        raise CircuitizeError(f"formats: expected names of tensors that nodes write, found {min(pinned)!r}; correct it")
    for name, wire in builder.masks.items():
        top.write(name, Value(Tensor(builder, wire), BOOL, 0, 1), "masks")
        names.append(name)
    return _imported(graph, builder, top, names)


def _sources(
    onnx: ModuleType,
    graph: GraphProto,
    builder: Builder,
    known: dict[str, Known],
    intervals: dict[str, Interval],
    extents: Extents,
    parameters: Collection[str],
) -> tuple[dict[str, Value], list[str]]:
    """Return the values with which the reading of an ONNX graph starts: its initializers and inputs by name, and the
    names of the inputs that stay inputs.
    """
    values: dict[str, Value] = {}
    names, held = [], {entry.name for entry in graph.initializer}
    for tensor in graph.initializer:
        if tensor.name not in parameters:
            named = labels(tensor) if _only_picked(tensor.name, graph) else None
            values[tensor.name] = named or value(onnx, tensor, f"initializer {tensor.name!r}")
    for entry in graph.input:
        if entry.name in held and entry.name not in known:
            continue
        kind, shape = declared(onnx, entry, extents)
        low, high = max(kind.low, -EXACT), min(kind.high, EXACT)
        if entry.name in known:
            given = np.asarray(known.pop(entry.name))
            if given.dtype.kind not in {"float": "f", "int": "iu", "bool": "b"}[kind.kind] or given.shape != shape:
                found = f"{given.dtype} of shape {list(given.shape)}"
                raise CircuitizeError(
                    f"known input {entry.name!r}: expected {kind.name} of shape {list(shape)}, found {found}; cast it"
                )
            values[entry.name] = Value.of(given, kind)
            continue
        if not math.prod(shape):
            values[entry.name] = Value.of(np.zeros(shape), kind)
            continue
        if entry.name in intervals and kind.kind == "int":
            least, most = intervals.pop(entry.name)
            if not low <= least <= most <= high:
                raise CircuitizeError(
                    f"interval of {entry.name!r}: expected one in [{low}, {high}], found [{least}, {most}]; correct it"
                )
            low, high = int(least), int(most)
        values[entry.name] = Value(Tensor(builder, builder.input(Array(shape))), kind, low, high)
        names.append(entry.name)
    for what, left in (("known", known), ("intervals", intervals)):
        if left:
            raise CircuitizeError(f"{what}: expected names of inputs of the graph, found {sorted(left)}; correct them")
    for tensor in graph.initializer:
        if tensor.name in parameters:
            kind = element(onnx, tensor.data_type, f"initializer {tensor.name!r}")
            values[tensor.name] = Value(Tensor(builder, builder.input(Array(tuple(tensor.dims)))), kind)
            names.append(tensor.name)
    return values, names


def _only_picked(name: str, graph: GraphProto) -> bool:
    """Return whether ONNX nodes only pick elements of an initializer and do nothing else with it: only then may places
    in a list stand for the texts of an initializer.
    """
    return all(node.op_type in ("ArrayFeatureExtractor", "Gather") for node in graph.node if name in node.input)


def _followed(
    unknown: UnknownValue, builder: Builder, values: Mapping[str, Value], names: Sequence[str]
) -> UnknownValue:
    """Return the name of an input from which an unknown value is computed: an input of whole numbers or truth values if
    there is one.
    """
    if unknown.name in names or unknown.wire < 0:
        return unknown
    made = builder.build([unknown.wire])
    needed = set(made.outputs.tolist())
    for _, sources, targets, _ in reversed(list(made.rows)):
        if needed.intersection(targets):
            needed.update(sources)
    behind = [name for name, wire in zip(names, made.inputs.tolist(), strict=True) if wire in needed]
    behind.sort(key=lambda name: values[name].element.kind == "float")
    if not behind:
        return unknown
    text = str(unknown).replace(f"input {unknown.name!r}", f"{unknown.name!r}, which follows from input {behind[0]!r}")
    return UnknownValue(behind[0], text, unknown.wire)


def _imported(graph: GraphProto, builder: Builder, scope: Scope, names: Sequence[str]) -> Imported:
    wires = []
    for entry in graph.output:
        result = scope.read(entry.name, "outputs")
        assert result is not None
        tensor = entry.type.tensor_type
        if entry.type.HasField("tensor_type") and tensor.elem_type:
            said = tensor.shape.dim if tensor.HasField("shape") else None
            extents = None if said is None else [open_or_fixed(d) for d in said]
            fits = extents is None or (
                len(extents) == len(result.shape)
                and all(e in (None, n) for e, n in zip(extents, result.shape, strict=True))
            )
            texts = tensor.elem_type == STRING and result.element == INT64
            if (ELEMENTS.get(tensor.elem_type) != result.element and not texts) or not fits:
                raise FormatError(
                    f"output {entry.name!r}: expected what the graph declares, found {result.element.name} of shape "
                    f"{list(result.shape)}; correct the declaration"
                )
        content = result.content
        try:
            wires.append((content if isinstance(content, Tensor) else constant(builder, content)).wire)
        except CircuitizeError as error:
            raise CircuitizeError(f"output {entry.name!r}: {error}") from None
    return Imported(
        builder.build(wires),
        tuple(names),
        tuple(entry.name for entry in graph.output),
        tuple(scope.values[name].element.name for name in names),
        tuple(scope.values[entry.name].element.name for entry in graph.output),
    )

"""Reads an ONNX graph, node by node, into an arrow."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.types import Array
from circuitize.frontends.formats import Format
from circuitize.frontends.provenance import part, placed_at
from circuitize.frontends.tensor import Tensor

from .elements import ELEMENTS, EXACT, Known, Value
from .foreign import domains_of
from .model import CONVERT, attribute, check, declared, opsets, package, read, shown
from .node import OPERATORS, Attributes, Node, UnknownValue, constant
from .quantized import stated
from .schema import OLDEST, Misfit, Signature, signature
from .sizes import Bounded
from .tensors import value
from .translate import translated
from .whole import Interval

__all__ = ["Imported", "UnknownValue", "arrow"]

TRAINING = ("Adagrad", "Adam", "Momentum")


@dataclass(frozen=True)
class Imported:
    """An arrow with the names of its inputs and outputs, in order, and the names of their element types."""

    arrow: Arrow
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_types: tuple[str, ...] = ()
    output_types: tuple[str, ...] = ()


def arrow(
    model: Any,
    known: Mapping[str, Known] | None = None,
    intervals: Mapping[str, Interval] | None = None,
    formats: Mapping[str, Format] | None = None,
) -> Imported:
    """The arrow of an ONNX model (a ModelProto, or the path of a file), initializers and `known` inputs as constants.

    What is computed from constants alone is computed now, so that shapes may depend on it. Inputs of whole numbers lie
    in their element type's interval, and within 2^52; `intervals` (low, high) by name promises less. `formats` by the
    name of a tensor that a node writes are stated for it: rounded half to even, saturated. Raises
    UnknownValue where a shape depends on an input that is not known, FormatError for a malformed model, CircuitizeError
    for an operator or a type that is not understood, for shapes that are not concrete, for whole numbers that float64
    may not hold, and where the package `onnx` is missing.
    """
    onnx, model = package(), read(model)
    check(model)
    versions, graph, builder = opsets(onnx, model), model.graph, Bounded()
    values, names = _sources(onnx, graph, builder, dict(known or {}), dict(intervals or {}))
    written, pinned = set(values), dict(formats or {})
    later = {name for proto in graph.node for name in proto.output}
    for place, proto in enumerate(graph.node):
        called = shown(proto.op_type)
        where = f"{called} {proto.name!r}" if proto.name else f"node {place + 1}, {called}"
        with placed_at((shown(graph.name) or "graph", place + 1)), part(shown(proto.name) or called):
            node, chosen = _node(onnx, proto, where, versions, values, later, builder)
            made = translated(node, OPERATORS[node.operator], chosen)
        for name, result in zip(proto.output, made, strict=True):
            if name in written:
                raise FormatError(
                    f"{where}: expected outputs with names of their own, found {name!r} again; rename one"
                )
            if name:
                values[name] = stated(name, result, pinned)
                written.add(name)
    if pinned:
        raise CircuitizeError(f"formats: expected names of tensors that nodes write, found {min(pinned)!r}; correct it")
    return _imported(graph, builder, values, names)


def _sources(
    onnx: ModuleType, graph: Any, builder: Builder, known: dict[str, Known], intervals: dict[str, Interval]
) -> tuple[dict[str, Value], list[str]]:
    """What the graph starts from: its initializers and inputs by name, and the names of the inputs that stay."""
    values = {entry.name: value(onnx, entry, f"initializer {entry.name!r}") for entry in graph.initializer}
    names = []
    for entry in graph.input:
        if entry.name in values and entry.name not in known:
            continue
        kind, shape = declared(onnx, entry, "input")
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
    return values, names


def _node(
    onnx: ModuleType,
    proto: Any,
    where: str,
    versions: Mapping[str, int],
    values: Mapping[str, Value],
    later: set[str],
    builder: Builder,
) -> tuple[Node, Signature]:
    domain = "" if proto.domain == "ai.onnx" else proto.domain
    if proto.op_type not in OPERATORS or not _is_in(domain, proto.op_type):
        found = f"{proto.domain}.{proto.op_type}" if proto.domain else proto.op_type
        raise CircuitizeError(f"expected an operator that is understood, found {shown(found)}; see docs/onnx.md")
    if domain not in versions:
        raise FormatError(f"{where}: expected an opset of domain {domain!r}, found none; import one")
    version = versions[domain]
    chosen = signature(proto.op_type, version, domain)
    if chosen is None:
        raise FormatError(f"{where}: expected an operator of opset {version}, found none, or one withdrawn; correct it")
    if domain == "" and version < OLDEST and chosen != signature(proto.op_type, OLDEST, domain):
        raise CircuitizeError(f"{where}: expected an opset from {OLDEST} on, found {version}; {CONVERT}")
    inputs = [_read(name, values, later, where) for name in proto.input]
    while inputs and inputs[-1] is None:
        inputs.pop()
    try:
        kinds = onnx.AttributeProto.AttributeType
        chosen.check([(a.name, kinds.Name(a.type) if a.type in kinds.values() else "?") for a in proto.attribute])
        results = chosen.bind(inputs, len(proto.output))
    except Misfit as error:
        raise FormatError(f"{where} (opset {version}): {error}") from None
    given = {entry.name: attribute(onnx, entry, where) for entry in proto.attribute}
    attributes = Attributes({**chosen.defaults, **given}, frozenset(given))
    return Node(proto.op_type, proto.name, version, attributes, list(proto.input), inputs, results, builder), chosen


def _is_in(domain: str, operator: str) -> bool:
    """Whether the operator of that name is one of this domain."""
    if operator in TRAINING:
        return domain == "ai.onnx.preview.training"
    return domain in domains_of(operator)


def _read(name: str, values: Mapping[str, Value], later: set[str], where: str) -> Value | None:
    if not name:
        return None
    if name not in values:
        found = "it written later" if name in later else "nothing of that name"
        raise FormatError(
            f"{where}: expected input {name!r} to be written before it is read, found {found}; sort the nodes"
        )
    return values[name]


def _imported(graph: Any, builder: Builder, values: Mapping[str, Value], names: Sequence[str]) -> Imported:
    wires = []
    for entry in graph.output:
        result = _read(entry.name, values, set(), "outputs")
        assert result is not None
        tensor = entry.type.tensor_type
        if entry.type.HasField("tensor_type") and tensor.elem_type:
            said = tensor.shape.dim if tensor.HasField("shape") else None
            extents = None if said is None else [d.dim_value if d.HasField("dim_value") else None for d in said]
            fits = extents is None or (
                len(extents) == len(result.shape)
                and all(e in (None, n) for e, n in zip(extents, result.shape, strict=True))
            )
            if ELEMENTS.get(tensor.elem_type) != result.element or not fits:
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
        tuple(values[name].element.name for name in names),
        tuple(values[entry.name].element.name for entry in graph.output),
    )

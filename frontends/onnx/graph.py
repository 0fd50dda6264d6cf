"""Reads an ONNX graph, node by node, into an arrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import Arrow, evaluate
from circuitize.circuits.types import Array
from circuitize.frontends.provenance import part, placed_at
from circuitize.frontends.trace import Tensor

from .node import OPERATORS, Known, Node, UnknownValue, Value, constant

__all__ = ["Imported", "UnknownValue", "arrow"]

DOMAINS = ("", "ai.onnx", "ai.onnx.preview.training")
REMEDY = "pip install 'circuitize[onnx]'"


@dataclass(frozen=True)
class Imported:
    """An arrow with the names of its inputs and outputs, in order."""

    arrow: Arrow
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def arrow(model: Any, known: Mapping[str, Known] | None = None) -> Imported:
    """The arrow of an ONNX model (a ModelProto), its initializers and the `known` inputs as constants.

    What is computed from constants alone is computed now, so that shapes may depend on it. Raises UnknownValue where
    a shape depends on an input that is not known, CircuitizeError for an operator or a type that is not understood,
    for shapes that are not concrete, and where the package `onnx` is missing.
    """
    try:
        import onnx
    except ImportError:
        raise CircuitizeError(f"expected the package onnx to read a model, found none; {REMEDY}") from None
    # It tells floats from whole numbers between nodes, and no more; what is wrong with the graph is said below.
    with suppress(onnx.shape_inference.InferenceError):
        model = onnx.shape_inference.infer_shapes(model)
    graph = model.graph
    version = next((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), 1)
    builder = Builder()
    values: dict[str, Value] = {i.name: onnx.numpy_helper.to_array(i) for i in graph.initializer}
    values |= dict(known or {})
    names, integer = (
        [],
        {name: value.dtype.kind in "iub" for name, value in values.items() if isinstance(value, np.ndarray)},
    )
    for declared in (*graph.input, *graph.value_info):
        kind = declared.type.tensor_type.elem_type
        if declared.type.HasField("tensor_type"):
            integer.setdefault(declared.name, onnx.helper.tensor_dtype_to_np_dtype(kind).kind in "iub")
    for declared in graph.input:
        if declared.name not in values:
            values[declared.name] = Tensor(builder, builder.input(Array(_shape(declared))))
            names.append(declared.name)
    for place, proto in enumerate(graph.node):
        with placed_at((graph.name or "graph", place + 1)), part(proto.name or proto.op_type):
            node = _node(onnx, proto, version, values, integer, builder)
            made = _translated(node)
        for name, value in zip(proto.output, made, strict=False):
            values[name] = value
            if isinstance(value, np.ndarray):
                integer.setdefault(name, value.dtype.kind in "iub")
    results = [values[output.name] for output in graph.output]
    wires = [(value if isinstance(value, Tensor) else constant(builder, value)).wire for value in results]
    return Imported(builder.build(wires), tuple(names), tuple(output.name for output in graph.output))


def _shape(declared: Any) -> tuple[int, ...]:
    if not declared.type.HasField("tensor_type"):
        raise CircuitizeError(f"input {declared.name!r}: expected a tensor, found another type; give tensors")
    extents = declared.type.tensor_type.shape.dim
    if any(not extent.HasField("dim_value") for extent in extents):
        found = [extent.dim_param or "?" for extent in extents if not extent.HasField("dim_value")]
        raise CircuitizeError(f"input {declared.name!r}: expected a concrete shape, found {found}; fix its extents")
    return tuple(extent.dim_value for extent in extents)


def _node(
    onnx: Any, proto: Any, version: int, values: Mapping[str, Value], integer: Mapping[str, bool], builder: Builder
) -> Node:
    if proto.domain not in DOMAINS or proto.op_type not in OPERATORS:
        known = f"{proto.domain}.{proto.op_type}" if proto.domain else proto.op_type
        raise CircuitizeError(f"expected an operator that is understood, found {known}; see docs/onnx.md")
    attributes = {entry.name: onnx.helper.get_attribute_value(entry) for entry in proto.attribute}
    attributes = {
        name: onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value
        for name, value in attributes.items()
    }
    inputs = [values[name] if name else None for name in proto.input]
    whole = [integer.get(name, False) for name in proto.input]
    return Node(proto.op_type, version, attributes, list(proto.input), inputs, whole, len(proto.output), builder)


def _translated(node: Node) -> Sequence[Value]:
    """The results of a node; computed now where all that it reads is known."""
    translation = OPERATORS[node.operator]
    arrays = [value for value in node.inputs if value is not None]
    if not arrays or any(isinstance(value, Tensor) for value in arrays):
        return _several(translation(node))
    scratch = Builder()
    made = _several(translation(Node(**{**vars(node), "builder": scratch})))
    wires = [value.wire for value in made if isinstance(value, Tensor)]
    computed = iter(evaluate(scratch.build(wires), []))
    found = [next(computed) if isinstance(value, Tensor) else value for value in made]
    whole = all(node.integer)
    return [np.rint(value).astype(np.int64) if whole and value.dtype.kind == "f" else value for value in found]


def _several(made: Value | Sequence[Value]) -> list[Value]:
    return [made] if isinstance(made, (Tensor, np.ndarray)) else list(made)

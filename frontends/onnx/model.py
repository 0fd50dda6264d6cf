"""A reader of ONNX models from files, which checks their structure before anything is made from it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from circuitize.circuits.errors import CircuitizeError, FormatError

from .elements import Element
from .extents import Extents
from .protos import AttributeProto, ModelProto, NodeProto, ValueInfoProto
from .schema import OLDEST
from .tensors import element, value

REMEDY = "pip install 'circuitize[onnx]'"
CONVERT = "convert the model with onnx.version_converter"
TRAINING = "ai.onnx.preview.training"
MOST = 1 << 26
"""The most elements that one tensor may have."""
LARGEST = (1 << 31) - 1
"""The most bytes of a model file: protobuf takes no more."""


def package() -> ModuleType:
    """Return the installed package onnx. Raise CircuitizeError if the package onnx is missing."""
    try:
        import onnx
    except ImportError:
        raise CircuitizeError(f"expected the package onnx to read a model, found none; {REMEDY}") from None
    return onnx


def read(source: object) -> ModelProto:
    """Return the given ModelProto, or the ModelProto that a file holds. Raise FormatError if the file holds no ONNX
    model; external data is not followed.
    """
    onnx = package()
    if isinstance(source, onnx.ModelProto):
        given: ModelProto = source
        return given
    if not isinstance(source, (str, Path)):
        raise CircuitizeError(
            f"expected an ONNX ModelProto or the path of a file, found {type(source).__name__}; load the model"
        )
    path = Path(source)
    try:
        if path.stat().st_size > LARGEST:
            raise FormatError(
                f"{path}: expected a model of at most {LARGEST} bytes, found {path.stat().st_size}; split it"
            )
        held: ModelProto = onnx.ModelProto.FromString(path.read_bytes())
        return held
    except OSError as error:
        raise CircuitizeError(f"{path}: expected an ONNX model, found {error.strerror}; check the path") from None
    except CircuitizeError:
        raise
    except Exception as error:  # protobuf's DecodeError: its class depends on the implementation
        raise FormatError(
            f"{path}: expected an ONNX model, found bytes that are none ({type(error).__name__}); export it again"
        ) from None


def opsets(onnx: ModuleType, model: ModelProto) -> dict[str, int]:
    """Return the opset of an ONNX model for each domain of operators. Raise FormatError if an ONNX opset is missing,
    given twice, too old or too new.
    """
    found: dict[str, int] = {}
    for entry in model.opset_import:
        domain = "" if entry.domain == "ai.onnx" else entry.domain
        if found.get(domain, entry.version) != entry.version:
            raise FormatError(f"expected one opset of domain {domain!r}, found two; correct the model")
        found[domain] = entry.version
    newest = onnx.defs.onnx_opset_version()
    if "" in found and not 1 <= found[""] <= newest:
        raise FormatError(f"expected an opset from {OLDEST} to {newest}, found {found['']}; {CONVERT}")
    if found.get(TRAINING, 1) != 1:
        raise FormatError(f"expected opset 1 of {TRAINING}, found {found[TRAINING]}; convert the model")
    return found


def check(model: ModelProto) -> None:
    """Raise FormatError for parts of an ONNX model that are not read, which are training information and sparse
    initializers, and for a model without a graph.
    """
    graph = model.graph
    if not all(isinstance(text, str) for text in _texts(model)):
        raise FormatError("expected names that are text, found other bytes; the file is damaged")
    if not model.HasField("graph") or not len(graph.output):
        raise FormatError("expected a graph with outputs, found none; export the model again")
    for found, what, remedy in (
        (model.training_info, "training information", "take it out: train the arrow instead"),
        (graph.sparse_initializer, "sparse initializers", "make them dense"),
    ):
        if len(found):
            raise FormatError(f"expected a graph of ONNX's operators, found {what}; {remedy}")
    distinct((entry.name for entry in graph.input), "input")
    distinct((entry.name for entry in graph.initializer), "initializer")
    distinct((entry.name for entry in graph.output), "output")


def _texts(model: ModelProto) -> Iterator[object]:
    """Yield every name in an ONNX model, in its functions and in its inner graphs; protobuf gives bytes for a name that
    is no text.
    """
    yield from (entry.domain for entry in model.opset_import)
    graphs, nodes = [model.graph], list[NodeProto]()
    for function in model.functions:
        yield from (function.name, function.domain, function.overload)
        yield from (*function.input, *function.output, *function.attribute)
        yield from (entry.name for entry in function.attribute_proto)
        yield from (entry.domain for entry in function.opset_import)
        nodes.extend(function.node)
    while graphs or nodes:
        if graphs:
            graph = graphs.pop()
            yield graph.name
            ends = (*graph.input, *graph.output)
            yield from (*(end.name for end in ends), *(tensor.name for tensor in graph.initializer))
            for end in ends:
                yield from (extent.dim_param for extent in end.type.tensor_type.shape.dim)
            nodes.extend(graph.node)
        while nodes:
            node = nodes.pop()
            yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
            for entry in node.attribute:
                yield from (entry.name, entry.ref_attr_name)
                if entry.HasField("g"):
                    graphs.append(entry.g)


def shown(text: str) -> str:
    """Return a text of an ONNX file as one line without control characters."""
    return text if text.isprintable() else ascii(text)


def distinct(names: Iterable[str], what: str) -> None:
    """Raise FormatError if a name in an ONNX model is empty or occurs twice."""
    seen: set[str] = set()
    for name in names:
        if not name or name in seen:
            raise FormatError(
                f"{what} {name!r}: expected a name of its own, found {'none' if not name else 'it twice'}; rename it"
            )
        seen.add(name)


def declared(onnx: ModuleType, entry: ValueInfoProto, extents: Extents) -> tuple[Element, tuple[int, ...]]:
    """Return the element type and concrete shape of an ONNX model's input. Raise CircuitizeError if the ONNX file does
    not declare the element type or the shape of the input.
    """
    what = "input"
    where = f"{what} {entry.name!r}"
    if not entry.type.HasField("tensor_type"):
        raise CircuitizeError(f"{where}: expected a tensor, found another type; give tensors")
    tensor = entry.type.tensor_type
    kind = element(onnx, tensor.elem_type, where)
    if not tensor.HasField("shape"):
        raise CircuitizeError(f"{where}: expected a concrete shape, found none; fix its extents")
    shape = extents.shape(entry.name, tensor.shape.dim)
    if min(shape, default=0) < 0 or math.prod(shape) > MOST:
        raise CircuitizeError(
            f"{where}: expected at most {MOST} elements, found shape {list(shape)}; correct its extents"
        )
    return kind, shape


def attribute(onnx: ModuleType, entry: AttributeProto, where: str) -> Any:
    """Return the value of an ONNX node's attribute; a tensor is returned as a Value. Raise FormatError for attributes
    of an ONNX node that are subgraphs, sparse tensors or references.
    """
    kinds = onnx.AttributeProto
    if entry.ref_attr_name:
        raise FormatError(f"{where}: expected a value of {entry.name!r}, found a reference; inline the function")
    if entry.type == kinds.TENSOR:
        return value(onnx, entry.t, f"{where}, attribute {entry.name!r}")
    if entry.type not in (kinds.FLOAT, kinds.INT, kinds.STRING, kinds.FLOATS, kinds.INTS, kinds.STRINGS):
        found = kinds.AttributeType.Name(entry.type) if entry.type in kinds.AttributeType.values() else entry.type
        raise FormatError(
            f"{where}: expected numbers, a string or a tensor as {entry.name!r}, found {found}; rewrite the node"
        )
    found = onnx.helper.get_attribute_value(entry)
    if entry.type in (kinds.STRING, kinds.STRINGS):
        try:
            return found.decode() if isinstance(found, bytes) else [text.decode() for text in found]
        except UnicodeDecodeError:
            raise FormatError(
                f"{where}: expected text as {entry.name!r}, found other bytes; correct the node"
            ) from None
    return found if isinstance(found, (int, float)) else list(found)

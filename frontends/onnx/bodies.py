"""Bodies of ONNX functions: those in a model, and those by which ONNX itself defines operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

from circuitize.circuits.errors import FormatError

from .elements import CODES, Value
from .model import shown
from .protos import AttributeProto, FunctionProto, ModelProto, NodeProto, TypeProto


@dataclass(frozen=True)
class FunctionBody:
    """The nodes of an ONNX function, the names that they read and write, the defaults of attributes, and the function's
    own opsets.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: Sequence[NodeProto]
    defaults: Sequence[AttributeProto]
    versions: Mapping[str, int]


def _body(proto: FunctionProto) -> FunctionBody:
    versions = {"" if e.domain == "ai.onnx" else e.domain: e.version for e in proto.opset_import}
    return FunctionBody(
        tuple(proto.input), tuple(proto.output), list(proto.node), list(proto.attribute_proto), versions
    )


def own_functions(onnx: ModuleType, model: ModelProto) -> dict[tuple[str, str], FunctionBody]:
    """Return the functions in an ONNX model, by domain and name. Raise FormatError if two functions of an ONNX model
    have one name.
    """
    found: dict[tuple[str, str], FunctionBody] = {}
    for proto in model.functions:
        key = ("" if proto.domain == "ai.onnx" else proto.domain, proto.name)
        if key in found:
            raise FormatError(f"function {shown(proto.name)}: expected one of that name, found two; rename one")
        if proto.overload:
            raise FormatError(f"function {shown(proto.name)}: expected no overload, found one; inline the function")
        found[key] = _body(proto)
    return found


def body_of(
    onnx: ModuleType,
    proto: NodeProto,
    attributes: Sequence[AttributeProto | None],
    since: int,
    opset: int,
    inputs: Sequence[Value | None],
) -> FunctionBody | None:
    """Return the body by which ONNX defines the operator of a node, for inputs of the given types; None if there is
    none.
    """
    domain = "" if proto.domain == "ai.onnx" else proto.domain
    schema = onnx.defs.get_schema(proto.op_type, opset, domain)
    called = onnx.NodeProto()
    called.CopyFrom(proto)
    del called.attribute[:]
    called.attribute.extend(entry for entry in attributes if entry is not None)
    try:
        if schema.has_context_dependent_function:
            types = [_type(onnx, value).SerializeToString() for value in inputs]
            fits = [n for n in schema.context_dependent_function_opset_versions if n <= opset]
            if not fits:
                return None
            text = schema.get_context_dependent_function_with_opset_version(
                max(fits), called.SerializeToString(), types
            )
        elif schema.has_function:
            fits = [n for n in schema.function_opset_versions if n <= opset]
            if not fits:
                return None
            text = schema.get_function_with_opset_version(max(fits))
        else:
            return None
    except Exception:  # the package is free in what it raises where types do not fit a body
        return None
    if not text:
        return None
    body = _body(onnx.FunctionProto.FromString(text))
    defaults = [
        schema.attributes[name].default_value
        for name in schema.attributes
        if schema.attributes[name].default_value.name
    ]
    return FunctionBody(
        body.inputs, body.outputs, body.nodes, [*defaults, *body.defaults], {domain: opset, **body.versions}
    )


def _type(onnx: ModuleType, value: Value | None) -> TypeProto:
    made: TypeProto = (
        onnx.TypeProto() if value is None else onnx.helper.make_tensor_type_proto(CODES[value.element], value.shape)
    )
    return made

"""The messages of ONNX (`onnx/onnx.proto` of the package onnx), by the fields that are read or written here."""

from __future__ import annotations

from collections.abc import Iterable, MutableSequence, Sequence, Sized
from typing import Protocol, Self


class Message(Protocol):
    """A message of protobuf (`google.protobuf.message.Message`)."""

    def CopyFrom(self, other: Self, /) -> None:  # noqa: N802
        """Take the fields of another message."""

    def HasField(self, name: str, /) -> bool:  # noqa: N802
        """Return whether the message has a field."""


class TypeProto(Message, Protocol):
    """The type of a value (`onnx.TypeProto`)."""

    tensor_type: TensorType

    def SerializeToString(self) -> bytes:  # noqa: N802
        """Return the message as bytes."""


class TensorType(Message, Protocol):
    """The type of a tensor (`onnx.TypeProto.Tensor`)."""

    elem_type: int
    shape: TensorShapeProto


class TensorShapeProto(Message, Protocol):
    """The shape of a tensor (`onnx.TensorShapeProto`)."""

    dim: Sequence[Dimension]


class Dimension(Message, Protocol):
    """An extent of a shape (`onnx.TensorShapeProto.Dimension`): a number, a name, or neither."""

    dim_value: int
    dim_param: str


class ValueInfoProto(Message, Protocol):
    """A declaration of an input or an output (`onnx.ValueInfoProto`)."""

    name: str
    type: TypeProto


class TensorProto(Message, Protocol):
    """A tensor (`onnx.TensorProto`)."""

    name: str
    data_type: int
    dims: Sequence[int]
    string_data: Sequence[bytes]
    raw_data: bytes
    data_location: int
    external_data: Sized


class AttributeProto(Message, Protocol):
    """An attribute of a node (`onnx.AttributeProto`)."""

    name: str
    ref_attr_name: str
    type: int
    f: float
    i: int
    t: TensorProto
    g: GraphProto


class NodeProto(Message, Protocol):
    """A node (`onnx.NodeProto`)."""

    name: str
    op_type: str
    domain: str
    input: MutableSequence[str]
    output: MutableSequence[str]
    attribute: MutableSequence[AttributeProto]


class GraphProto(Message, Protocol):
    """A graph (`onnx.GraphProto`)."""

    name: str
    node: MutableSequence[NodeProto]
    initializer: MutableSequence[TensorProto]
    sparse_initializer: Sized
    input: MutableSequence[ValueInfoProto]
    output: MutableSequence[ValueInfoProto]


class OperatorSetIdProto(Message, Protocol):
    """The version of a domain of operators (`onnx.OperatorSetIdProto`)."""

    domain: str
    version: int


class FunctionProto(Message, Protocol):
    """A function (`onnx.FunctionProto`)."""

    name: str
    domain: str
    overload: str
    input: Sequence[str]
    output: Sequence[str]
    attribute: Sequence[str]
    attribute_proto: Sequence[AttributeProto]
    node: Sequence[NodeProto]
    opset_import: Sequence[OperatorSetIdProto]


class ModelProto(Message, Protocol):
    """A model (`onnx.ModelProto`)."""

    ir_version: int
    graph: GraphProto
    opset_import: MutableSequence[OperatorSetIdProto]
    functions: MutableSequence[FunctionProto]
    training_info: Sized


class FormalParameter(Protocol):
    """A formal parameter of an operator (`onnx.defs.OpSchema.FormalParameter`)."""

    @property
    def name(self) -> str:
        """The name."""

    @property
    def type_str(self) -> str:
        """The type, or the variable of types."""

    @property
    def types(self) -> Iterable[str]:
        """The types that are taken."""

    @property
    def option(self) -> object:
        """How often it may occur, by its name: `Single`, `Optional` or `Variadic`."""

    @property
    def is_homogeneous(self) -> bool:
        """Whether all that it stands for have one type."""

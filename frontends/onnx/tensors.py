"""Readers of the tensors inside a model file, which are checked before memory is used for them."""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np

from circuitize.circuits.errors import FormatError

from .elements import ELEMENTS, INT64, STRING, Element, Value
from .protos import TensorProto

FIELDS = {
    "float": "float_data",
    "double": "double_data",
    "int64": "int64_data",
    "uint32": "uint64_data",
    "uint64": "uint64_data",
}
"""The field of a TensorProto that lists elements of each type that are not raw; types that are not listed use
int32_data.
"""
SIZES = {"float": 4, "double": 8, "float16": 2, "bfloat16": 2, "bool": 1}
LISTS = ("float_data", "double_data", "int32_data", "int64_data", "uint64_data", "string_data")


def element(onnx: ModuleType, code: int, where: str) -> Element:
    """Return the element type of the numbers of a TensorProto. Raise FormatError for an ONNX element type that is not
    read.
    """
    if code not in ELEMENTS:
        names = onnx.TensorProto.DataType
        found = names.Name(code) if code in names.values() else code
        raise FormatError(
            f"{where}: expected elements that are floats, whole numbers or truth values, found {found}; cast them"
        )
    return ELEMENTS[code]


def labels(tensor: TensorProto) -> Value | None:
    """Return a list of texts, which names classes, as places: for each text the place of its first occurrence in the
    list. Return None for a tensor that is no list of texts.
    """
    if tensor.data_type != STRING or len(tensor.dims) != 1 or list(tensor.dims) != [len(tensor.string_data)]:
        return None
    first = {text: place for place, text in reversed(list(enumerate(tensor.string_data)))}
    return Value.of(np.array([first[text] for text in tensor.string_data], np.int64), INT64)


def value(onnx: ModuleType, tensor: TensorProto, where: str) -> Value:
    """Return the elements of a TensorProto. Raise FormatError if the elements of an ONNX tensor are in another file, or
    if their number does not match the shape.
    """
    kind = element(onnx, tensor.data_type, where)
    if tensor.data_location == onnx.TensorProto.EXTERNAL or len(tensor.external_data):
        raise FormatError(
            f"{where}: expected its elements in the model, found them in another file; load them with onnx.load"
        )
    if tensor.HasField("segment"):
        raise FormatError(f"{where}: expected a whole tensor, found a segment of one; join its segments")
    shape = list(tensor.dims)
    if any(extent < 0 for extent in shape):
        raise FormatError(f"{where}: expected extents of at least 0, found {shape}; correct the file")
    size, raw = math.prod(shape), tensor.HasField("raw_data")
    listed = FIELDS.get(kind.name, "int32_data")
    filled = [name for name in LISTS if len(getattr(tensor, name)) and (raw or name != listed)]
    if filled:
        raise FormatError(
            f"{where}: expected its elements once, as {'raw_data' if raw else listed}, found {filled}; correct the file"
        )
    found = len(tensor.raw_data) if raw else len(getattr(tensor, listed))
    packed = kind.kind == "int" and kind.bits < 8
    wanted = size * (SIZES.get(kind.name, kind.bits // 8) if raw else 1)
    if packed:
        wanted = -(-size * kind.bits // 8)
    if found != wanted:
        unit = "bytes" if raw or packed else "elements"
        raise FormatError(f"{where}: expected {wanted} {unit} for shape {shape}, found {found}; the file is damaged")
    if kind.kind != "float" and not raw:
        held = np.array(getattr(tensor, listed), np.int64 if listed != "uint64_data" else np.uint64)
        low, high = (0, 255) if packed else (kind.low, kind.high)
        if held.size and not low <= int(held.min()) <= int(held.max()) <= high:
            raise FormatError(
                f"{where}: expected elements of {kind.name}, found some outside its interval; correct the file"
            )
    return Value.of(onnx.numpy_helper.to_array(tensor), kind)

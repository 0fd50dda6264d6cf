"""UOps whose elements are known when the graph is read, computed by numpy: shapes, ranges, masks, constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .graph import Node

Known = NDArray[Any]

TYPES: dict[str, type[np.generic]] = {
    "float": np.float32,
    "double": np.float64,
    "half": np.float16,
    "__bf16": np.float32,
    "bool": np.bool_,
    "weakint": np.int64,
    "weakfloat": np.float64,
    "int": np.int32,
    "long": np.int64,
    "short": np.int16,
    "signed char": np.int8,
    "unsigned char": np.uint8,
    "unsigned short": np.uint16,
    "unsigned int": np.uint32,
    "unsigned long": np.uint64,
}
"""numpy's types by the names of types in tinygrad and polygrad."""

FLOATS = ("float", "double", "half", "__bf16", "weakfloat")

_BINARY: dict[str, Callable[..., Known]] = {
    "ADD": np.add,
    "SUB": np.subtract,
    "MUL": np.multiply,
    "MAX": np.maximum,
    "CMPLT": np.less,
    "CMPNE": np.not_equal,
    "CMPEQ": np.equal,
    "AND": np.bitwise_and,
    "OR": np.bitwise_or,
    "XOR": np.bitwise_xor,
    "SHL": np.left_shift,
    "SHR": np.right_shift,
    "FDIV": np.divide,
    "POW": np.power,
    "FLOORDIV": np.floor_divide,
    "FLOORMOD": np.mod,
    "CMOD": np.fmod,
    "CDIV": lambda x, y: ((np.abs(x) // np.abs(y)) * np.sign(x) * np.sign(y)).astype(x.dtype),
}
_UNARY: dict[str, Callable[..., Known]] = {
    "EXP2": np.exp2,
    "LOG2": np.log2,
    "SIN": np.sin,
    "SQRT": np.sqrt,
    "NEG": np.negative,
    "TRUNC": np.trunc,
    "RECIPROCAL": np.reciprocal,
}
_REDUCED: dict[str, Callable[..., Known]] = {"ADD": np.sum, "MUL": np.prod, "MAX": np.max}
SAME = ("CONTIGUOUS", "CONTIGUOUS_BACKWARD", "DETACH", "COPY", "NOOP")
"""Operations that hand on their first source."""


def computed(dtype: str) -> type[np.generic]:
    """Return the type in which a known UOp is computed: floats in double precision, other types unchanged."""
    return np.float64 if dtype in FLOATS else TYPES.get(dtype, np.int64)


def evaluated(node: Node, values: Sequence[Known]) -> Known | None:
    """Return the elements of a UOp from those of its sources; None for an operation that this module does not
    compute.
    """
    found = _evaluated(node, values)
    return None if found is None else np.asarray(found).astype(computed(node.dtype), copy=False)


def _evaluated(node: Node, values: Sequence[Known]) -> Known | None:
    name = node.name
    if name == "CONST":
        return np.broadcast_to(np.asarray(node.argument), node.shape)
    if name == "STACK":
        return np.stack(values) if values else np.zeros(0, np.int64)
    if name in SAME:
        return values[0]
    with np.errstate(all="ignore"):
        if name in _BINARY:
            return _BINARY[name](values[0], values[1])
        if name in _UNARY:
            return _UNARY[name](values[0].astype(computed(node.dtype), copy=False))
        if name == "WHERE":
            return np.where(values[0], values[1], values[2])
        if name == "MULACC":
            return np.asarray(values[0] * values[1] + values[2])
        if name == "CAST":
            wide = values[0]
            return wide != 0 if node.dtype == "bool" else wide.astype(TYPES.get(node.dtype, np.float64))
    if name == "REDUCE":
        operation, count = node.reduction
        return (
            _REDUCED[operation](values[0], axis=tuple(range(count)), dtype=computed(node.dtype))
            if operation != "MAX"
            else np.max(values[0], axis=tuple(range(count)))
        )
    return moved(node, values[0], values[1:])


def moved(node: Node, x: Known, rest: Sequence[Known]) -> Known | None:
    """Return the result of RESHAPE, EXPAND, PERMUTE, SHRINK, FLIP or PAD on a numpy array, as a view wherever numpy has
    one.
    """
    match node.name:
        case "RESHAPE":
            return x.reshape(node.shape)
        case "EXPAND":
            return np.broadcast_to(x, node.shape)
        case "PERMUTE":
            return x.transpose(node.axes)
        case "FLIP":
            return x[tuple(slice(None, None, -1 if flipped else 1) for flipped in flips(node))]
        case "SHRINK":
            return x[tuple(slice(at, at + extent) for at, extent in zip(offsets(rest), node.shape, strict=True))]
        case "PAD":
            return np.pad(
                x,
                [(at, wide - at - extent) for at, wide, extent in zip(offsets(rest), node.shape, x.shape, strict=True)],
            )
        case _:
            return None


def offsets(rest: Sequence[Known]) -> list[int]:
    """Return the place at which the part that SHRINK or PAD selects begins in each axis, from the UOp's sources after
    the first.
    """
    return [int(at) for at in np.asarray(rest[0]).reshape(-1)]


def flips(node: Node) -> tuple[bool, ...]:
    """Return for each axis whether FLIP reverses it."""
    return tuple(bool(flipped) for flipped in node.axes)

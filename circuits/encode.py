"""The canonical bytes and the digest of arrows and programs."""

from __future__ import annotations

import hashlib
import json
import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from .hypergraph import Arrow, offsets_of
from .operation import Operation, Values
from .port import Port
from .program import Program
from .types import Fixed

MAGIC = b"CIRCUIT\x04"


def canonical(arrow: Arrow) -> Arrow:
    """Return the arrow with edges and wires renumbered in the order of a depth-first walk from the outputs, and tables
    in the order of first use.

    Arrows that differ only in the numbering and order of wires and edges have equal canonical arrows if every edge
    reaches an output (after `simplify` every edge does); edges that reach no output are numbered in stored order. The
    walk that makes an arrow canonical is iterative and takes linear time.
    """
    rows = arrow.rows
    writer = np.full(arrow.wire_count, -1, np.int64)
    writer[arrow.target_wires] = np.repeat(np.arange(arrow.edge_count), np.diff(arrow.target_offsets))
    writers: list[int] = writer.tolist()
    order: list[int] = []
    state = bytearray(arrow.edge_count)
    roots = [writers[wire] for wire in arrow.outputs.tolist()] + list(range(arrow.edge_count))
    for root in roots:
        stack = [root] if root >= 0 and not state[root] else []
        while stack:
            edge = stack[-1]
            if state[edge]:
                stack.pop()
                if state[edge] == 1:
                    state[edge] = 2
                    order.append(edge)
                continue
            state[edge] = 1
            stack.extend(w for wire in reversed(rows[edge][1]) if (w := writers[wire]) >= 0 and not state[w])
    return _reorder(arrow, order)


def _reorder(arrow: Arrow, order: list[int]) -> Arrow:
    rows = arrow.rows
    targets = [wire for edge in order for wire in rows[edge][2]]
    old = np.concatenate([arrow.inputs, np.array(targets, np.int32)]).astype(np.int64)
    number = np.zeros(arrow.wire_count, np.int32)
    number[old] = np.arange(len(old), dtype=np.int32)
    edges = np.array(order, np.int64)
    type_order, wire_types = _first_use(arrow.wire_types[old])
    operation_order, edge_operations = _first_use(arrow.edge_operations[edges])
    sources = np.array([wire for edge in order for wire in rows[edge][1]], np.int64)
    return Arrow(
        tuple(arrow.operations[index] for index in operation_order),
        tuple(arrow.types[index] for index in type_order),
        arrow.provenances,
        wire_types,
        edge_operations,
        arrow.edge_provenances[edges],
        offsets_of(np.diff(arrow.source_offsets)[edges]),
        number[sources],
        offsets_of(np.diff(arrow.target_offsets)[edges]),
        number[np.array(targets, np.int64)],
        number[arrow.inputs],
        number[arrow.outputs],
    )


def _first_use(column: Values) -> tuple[list[int], NDArray[np.int32]]:
    """Return the distinct entries of a column in the order of their first use, and the column renumbered by them."""
    distinct, first, inverse = np.unique(column, return_index=True, return_inverse=True)
    by_use = np.argsort(first, kind="stable")
    rank = np.empty(len(distinct), np.int32)
    rank[by_use] = np.arange(len(distinct), dtype=np.int32)
    return distinct[by_use].tolist(), rank[inverse].astype(np.int32)


COLUMNS = (
    "wire_types",
    "edge_operations",
    "source_offsets",
    "source_wires",
    "target_offsets",
    "target_wires",
    "inputs",
    "outputs",
)


def encode(arrow: Arrow) -> bytes:
    """Return the canonical bytes of an arrow, without provenance: equal programs have equal bytes."""
    return b"".join(_pieces(arrow))


def _pieces(arrow: Arrow) -> list[bytes | memoryview]:
    """Return the pieces that `encode` joins: constants are not copied, since a program may have 128 MiB of them."""
    arrow = canonical(arrow)
    blobs = _Blobs()
    header = {
        "operations": [_value(operation, blobs) for operation in arrow.operations],
        "types": [_value(type, blobs) for type in arrow.types],
    }
    return pack(header, [np.ascontiguousarray(getattr(arrow, column), "<i4") for column in COLUMNS] + blobs.arrays)


def digest(arrow: Arrow) -> str:
    """Return the SHA-256 of an arrow's canonical bytes, in hexadecimal."""
    return _sha256(_pieces(arrow))


def program_digest(program: Program) -> str:
    """Return the SHA-256 of an integer program: of its arrow, and of each port's name, visibility, format and role, in
    order.

    A program's digest includes the roles of its ports because roles say which ports a tensor proof binds by one root.
    """
    ports = [[_port(port) for port in side] for side in (program.inputs, program.outputs)]
    # Not in ASCII: there a character past 16 bits is written as the two surrogates that another name may consist of.
    text = json.dumps(ports, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
    return _sha256([b"circuitize program 2\0", text, b"\0", *_pieces(program.arrow)])


def _sha256(pieces: Iterable[bytes | memoryview]) -> str:
    found = hashlib.sha256()
    for piece in pieces:
        found.update(piece)
    return found.hexdigest()


def is_digest(text: object) -> bool:
    """Return whether a text is written as a program's digest is: 64 hexadecimal digits, in small letters."""
    return isinstance(text, str) and re.fullmatch("[0-9a-f]{64}", text) is not None


class _Blobs:
    """A list of constant arrays, kept outside the encoded header."""

    def __init__(self) -> None:
        self.arrays: list[Values] = []

    def place(self, array: Values) -> int:
        self.arrays.append(array)
        return len(self.arrays) - 1


def _port(port: Port[Fixed | None]) -> list[object]:
    format = _value(port.format, _Blobs()) if port.format else None
    return [port.name, port.visibility.value, format, port.role.value]


def _value(value: object, blobs: _Blobs) -> object:
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, tuple):
        return {"tuple": [_value(entry, blobs) for entry in value]}
    kind: type = type(value)
    names = _fields(kind)
    if names is not None:
        name = value.name if isinstance(value, Operation) else type(value).__name__
        return {"class": name, "fields": {field: _value(getattr(value, field), blobs) for field in names}}
    if isinstance(value, np.ndarray):
        return {"array": blobs.place(value)}
    if isinstance(value, float):
        return {"float": value.hex()}
    raise TypeError(f"operation parameter of type {type(value).__name__} has no canonical encoding")


@cache
def _fields(kind: type) -> tuple[str, ...] | None:
    """Return the names of the fields that make a value of a dataclass, or None if the type is no dataclass."""
    return tuple(field.name for field in fields(kind) if field.init) if is_dataclass(kind) else None


def pack(header: Mapping[str, object], arrays: Sequence[Values]) -> list[bytes | memoryview]:
    """Return a header and arrays as pieces of bytes: a magic number, the length of the text (u64), the text that
    describes header and arrays, the arrays.

    An array that has the same bytes in memory as in the file is not copied.
    """
    described = [{"dtype": a.dtype.newbyteorder("<").str, "shape": list(a.shape)} for a in arrays]
    text = json.dumps({"header": header, "arrays": described}, separators=(",", ":"), sort_keys=True).encode()
    little = [np.ascontiguousarray(a, a.dtype.newbyteorder("<")).reshape(-1).view(np.uint8).data for a in arrays]
    return [MAGIC, struct.pack("<Q", len(text)), text, *little]

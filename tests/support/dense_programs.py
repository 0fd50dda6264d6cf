"""Saved programs of so many bytes, whose lengths and checksums fit."""

from __future__ import annotations

import hashlib
import json
import struct
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from dense_contents import BINARY, NOISE, Content, repeated

from circuitize import load, save
from circuitize.circuits.integers import Constant

MOST_PROGRAM = (1 << 27) - 64
COLUMNS = 9
"""Arrays of a saved program that are no constants."""


def _saved(honest: bytes) -> tuple[dict[str, Any], bytes]:
    (length,) = struct.unpack_from("<Q", honest, 8)
    return json.loads(honest[16 : 16 + length]), honest[16 + length : -32]


def _program(honest: bytes, told: object, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """A saved program whose length and checksum fit."""
    described = json.dumps(told, separators=(",", ":"), sort_keys=True).encode()
    checksum = hashlib.sha256()
    for piece in [honest[:8] + struct.pack("<Q", len(described)) + described, *pieces]:
        checksum.update(piece)
        yield piece
    yield checksum.digest()


def constants(honest: bytes, size: int) -> Iterator[bytes]:
    """A program as long as one may be, almost all of it one array that an operation holds."""
    told, arrays = _saved(honest)
    count = (min(size, MOST_PROGRAM) - len(honest) - 4096) // 8
    operations = told["header"]["operations"]
    operations.append(
        {
            "class": "integer.constant",
            "fields": {
                "amounts": {"array": len(told["arrays"]) - COLUMNS},
                "shape": {"tuple": [count]},
                "fraction_bits": 0,
            },
        }
    )
    told["arrays"].append({"dtype": "<i8", "shape": [count]})
    return _program(honest, told, _each([arrays], repeated(NOISE, 8 * count)))


def used(honest: bytes, size: int) -> Iterator[bytes]:
    """The honest program and one constant that an edge writes, almost as long as a program may be."""
    count = (min(size, MOST_PROGRAM) - len(honest) - 4096) // 8
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.arrow"
        path.write_bytes(honest)
        program = load(path)
        arrow = program.arrow
        constant = Constant.of(np.frombuffer(b"".join(repeated(NOISE, 8 * count)), "<i8") >> 8)
        grown = replace(
            arrow,
            operations=(*arrow.operations, constant),
            types=(*arrow.types, *constant.target_types()),
            wire_types=np.append(arrow.wire_types, np.int32(len(arrow.types))),
            edge_operations=np.append(arrow.edge_operations, np.int32(len(arrow.operations))),
            edge_provenances=np.append(arrow.edge_provenances, np.int32(0)),
            source_offsets=np.append(arrow.source_offsets, arrow.source_offsets[-1]),
            target_offsets=np.append(arrow.target_offsets, arrow.target_offsets[-1] + np.int32(1)),
            target_wires=np.append(arrow.target_wires, np.int32(arrow.wire_count)),
        )
        save(replace(program, arrow=grown), path)
        yield path.read_bytes()


def unused(honest: bytes, size: int) -> Iterator[bytes]:
    """The honest program with an array that nothing in it names."""
    told, arrays = _saved(honest)
    count = (min(size, MOST_PROGRAM) - len(honest) - 4096) // 8
    told["arrays"].append({"dtype": "<i8", "shape": [count]})
    return _program(honest, told, _each([arrays], repeated(NOISE, 8 * count)))


def examples(honest: bytes, size: int) -> Iterator[bytes]:
    """The honest program with one more example, of so many numbers."""
    told, arrays = _saved(honest)
    count = (min(size, MOST_PROGRAM) - len(honest) - 4096) // 8
    header = told["header"]
    ports = header["ports"][0]
    held = told["arrays"]
    header["examples"] += [{port[0]: len(held) - COLUMNS + place for place, port in enumerate(ports)}]
    for _ in ports:
        held.append({"dtype": "<f8", "shape": [count // len(ports)]})
    return _program(honest, told, _each([arrays], repeated(NOISE, 8 * len(ports) * (count // len(ports)))))


def described(entry: object) -> Content:
    """The honest program with as many entries as one may describe among its precision's fields."""

    def content(honest: bytes, size: int) -> Iterator[bytes]:
        told, arrays = _saved(honest)
        each = json.dumps(entry, separators=(",", ":"))
        marks = sum(each.count(mark) for mark in ",[{") + 1
        count = min(min(size, (1 << 22) - (1 << 16)) // (len(each) + 1), ((1 << 20) - (1 << 13)) // marks)
        told["header"]["provenances"] += [entry] * count
        return _program(honest, told, iter([arrays]))

    return content


def _each(first: list[bytes], then: Iterator[bytes]) -> Iterator[bytes]:
    yield from first
    yield from then


SAVED = BINARY | {
    "constants": constants,
    "used": used,
    "unused": unused,
    "examples": examples,
    "lists described": described([]),
    "objects described": described({"a": 0}),
    "provenances": described(["", "", 0]),
}

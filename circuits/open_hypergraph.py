"""Arrows and programs written as open hypergraphs in JSON, for any reader: wires, edges between wires, and two lists of
wires.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, overload

import numpy as np

from .encode import _Blobs
from .errors import CircuitizeError, FormatError
from .files import write_whole
from .hypergraph import Arrow, offsets_of
from .operation import Values
from .program import IntegerProgram, Program, require_integers
from .reading import Json, parse_json, read_at_most, read_list, read_object
from .restore import Restorer
from .saved import MOST_BYTES, decoding, described, read_kind, require_all_named, restored_arrow, restored_program

VERSION = 1
"""The version of the format, which stands at the beginning of a file as `open_hypergraph`."""

MOST_VALUES = 1 << 24
"""The most values in an open hypergraph's file, and the most numbers in the arrays that it describes."""

NAMES = ("types", "operations", "places", "wires", "edges", "sources", "targets")
PORTS = ("inputs", "outputs", "precision", "examples")


def to_json(given: Program | Arrow, *, examples: bool = False) -> Json:
    """Return a program, or an arrow alone, in the form that the module `json` writes: plain values, lists and objects.

    In the JSON form, `wires` has for each wire the place of its type in `types`; each item of `edges` has the place of
    its operation in `operations`, the wires that the edge reads (`sources`) and writes (`targets`), and the place of
    its origin in `places`. The edges in an open hypergraph's file are in an order in which writers come before readers.
    The lists `sources` and `targets` at the top of an open hypergraph's file are the wires of the arrow's inputs and
    outputs. In the JSON form an operation, and any value that has a name, is {"class": name, parameter: value, ...}; an
    array is {"dtype", "shape", "values"}, where the values are the numbers in C order, or one number that stands for
    all. In the JSON form of a program, `program` has its ports, its precision and, on request, its `examples`.
    """
    arrow, blobs = given.arrow if isinstance(given, Program) else given, _Blobs()
    header = described(given, blobs, examples)
    made: Json = {
        "open_hypergraph": VERSION,
        "types": _plain(header["types"], blobs.arrays),
        "operations": _plain(header["operations"], blobs.arrays),
        "places": header["provenances"],
        "wires": arrow.wire_types.tolist(),
        "edges": [
            {"operation": operation, "sources": sources, "targets": targets, "place": place}
            for operation, sources, targets, place in arrow.rows
        ],
        "sources": arrow.inputs.tolist(),
        "targets": arrow.outputs.tolist(),
    }
    if isinstance(given, Program):
        made["program"] = {
            "inputs": [_port(port, blobs.arrays) for port in header["ports"][0]],
            "outputs": [_port(port, blobs.arrays) for port in header["ports"][1]],
            "precision": _plain(header["precision"], blobs.arrays),
            "examples": [
                {name: _plain({"array": index}, blobs.arrays) for name, index in batch.items()}
                for batch in header["examples"]
            ],
        }
    return made


def from_json(given: object, *, integer: bool = False, where: str = "open hypergraph") -> Program | Arrow:
    """Return the program that a JSON value describes, or the arrow if the value has no ports; the integer language is
    expected if `integer` says so.

    The writer of the JSON object need not be trusted: every operation, type and wire is checked, and nothing is
    imported because the object names it. Raise FormatError, in one line, for anything that `to_json` does not make.
    """
    with decoding(Path(where)):
        if not isinstance(given, dict) or given.get("open_hypergraph") != VERSION:
            raise ValueError(f"no open hypergraph of version {VERSION}")
        if not given.keys() <= {"open_hypergraph", "program", *NAMES}:
            raise ValueError(f"other names than {', '.join(NAMES)}")
        arrays = _Arrays()
        header: Json = {name: arrays.described(given[name]) for name in ("types", "operations")}
        header["provenances"] = given["places"]
        program = given.get("program")
        if program is not None:
            ports = read_object(program)
            header["ports"] = [[arrays.port(port) for port in read_list(ports[side])] for side in ("inputs", "outputs")]
            header["precision"] = arrays.described(ports["precision"])
            header["examples"] = [
                {name: read_object(arrays.described(array))["array"] for name, array in read_object(batch).items()}
                for batch in read_list(ports["examples"])
            ]
        restorer = Restorer(arrays.found, integer)
        arrow = restored_arrow(header, _columns(given), restorer)
        if program is not None:
            return restored_program(header, arrow, restorer)
        require_all_named(restorer)
        return arrow


def save_open_hypergraph(given: Program | Arrow, path: str | Path, *, examples: bool = False) -> None:
    """Write a program, or an arrow alone, in JSON, whole or not at all; `to_json` describes the form.

    Examples may be private data: with `examples`, only the owner may read the file. Raise CircuitizeError for a program
    that is larger than `load_open_hypergraph` reads, and for numbers that are not finite.
    """
    path = Path(path)
    try:
        text = json.dumps(to_json(given, examples=examples), separators=(",", ":"), allow_nan=False).encode()
    except ValueError:
        raise CircuitizeError(
            f"{path}: expected finite numbers, found one that is not; JSON has none: save it as an arrow"
        ) from None
    values = sum(text.count(mark) for mark in (b",", b"[", b"{"))
    if len(text) > MOST_BYTES or values > MOST_VALUES:
        raise CircuitizeError(
            f"{path}: expected at most {MOST_VALUES:,} values in {MOST_BYTES:,} bytes, found {values:,} in "
            f"{len(text):,}; give large constants as inputs"
        )
    held = examples and isinstance(given, Program) and bool(given.examples)
    write_whole(path, [text, b"\n"], private=held)


@overload
def load_open_hypergraph(path: str | Path, *, integer: Literal[True]) -> IntegerProgram: ...
@overload
def load_open_hypergraph(path: str | Path, *, integer: bool = False) -> Program | Arrow: ...
def load_open_hypergraph(path: str | Path, *, integer: bool = False) -> Program | Arrow:
    """Read the program or the arrow in a JSON file; with `integer`, an integer program.

    Raise FormatError for a JSON file that is of another kind, damaged or too large.
    """
    path = Path(path)
    try:
        content = read_at_most(path, MOST_BYTES, "an open hypergraph", "give large constants as inputs")
    except OSError as error:
        raise FormatError(f"{path}: expected an open hypergraph, found {error.strerror}; check the path") from None
    with decoding(path):
        given = parse_json(content, MOST_VALUES, distinct=True)
    found = from_json(given, integer=integer, where=str(path))
    if integer:
        if isinstance(found, Arrow):
            raise FormatError(f"{path}: expected a program, found an arrow without ports; save the program")
        require_integers(found)
    return found


def _plain(value: object, arrays: Sequence[Values]) -> object:
    """Return the description that `encode` makes, with tuples as lists, floats as numbers, and each array at the place
    where it is used.
    """
    if isinstance(value, list):
        return [_plain(entry, arrays) for entry in value]
    if not isinstance(value, dict):
        return value
    if "tuple" in value:
        return [_plain(entry, arrays) for entry in value["tuple"]]
    if "float" in value:
        return float.fromhex(value["float"])
    if "class" in value:
        return {"class": value["class"]} | {name: _plain(entry, arrays) for name, entry in value["fields"].items()}
    array = arrays[value["array"]]
    flat = array.reshape(-1)
    bits = flat.view(np.dtype(f"V{flat.itemsize}")) if flat.size else flat
    numbers = flat[:1] if flat.size and (bits == bits[0]).all() else flat
    dtype = array.dtype.newbyteorder("<").str
    return {"dtype": dtype, "shape": list(array.shape), "values": numbers.tolist()}


def _port(port: Sequence[object], arrays: Sequence[Values]) -> Json:
    name, seen, format, role = port
    return {"name": name, "visibility": seen, "format": _plain(format, arrays), "role": role}


class _Arrays:
    """A converter of plain values that takes the arrays out of them, so that the rest is a description like one of
    `encode`.
    """

    def __init__(self) -> None:
        self.found: list[Values] = []
        self._count = 0

    def described(self, value: object, outermost: bool = True) -> object:
        if isinstance(value, list):
            entries = [self.described(entry, False) for entry in value]
            return entries if outermost else {"tuple": entries}
        if isinstance(value, float):
            return {"float": value.hex()}
        if not isinstance(value, dict):
            return value
        if "class" in value:
            fields = {name: self.described(entry, False) for name, entry in value.items() if name != "class"}
            return {"class": value["class"], "fields": fields}
        self.found.append(self._array(value))
        return {"array": len(self.found) - 1}

    def port(self, value: object) -> list[object]:
        """Return a port's description as `encode` makes it."""
        named = read_object(value)
        return [named["name"], named["visibility"], self.described(named["format"]), named["role"]]

    def _array(self, value: Mapping[str, object]) -> Values:
        (dtype, shape), numbers = read_kind(value), read_list(value["values"])
        size = math.prod(shape)
        self._count += size
        if min(shape, default=0) < 0 or self._count > MOST_VALUES or len(numbers) not in (1, size):
            raise ValueError(f"{len(numbers)} numbers for an array of shape {list(shape)}")
        allowed: set[type] = {bool} if dtype.kind == "b" else {int, float} if dtype.kind == "f" else {int}
        if not set(map(type, numbers)) <= allowed:
            raise ValueError(f"other values in an array of {dtype.name}")
        with np.errstate(over="ignore"):
            array = np.array(numbers, dtype)
        if array.tolist() != numbers:
            raise ValueError(f"numbers in an array of {dtype.name} that it does not hold")
        array = np.broadcast_to(array, size).reshape(shape).copy() if len(numbers) != size else array.reshape(shape)
        array.flags.writeable = False
        return array


def _columns(given: Mapping[str, object]) -> dict[str, Values]:
    """Return the flat columns of an arrow's description."""
    edges = [read_object(edge) for edge in read_list(given["edges"])]
    if not all(edge.keys() == {"operation", "sources", "targets", "place"} for edge in edges):
        raise ValueError("edges of other names than operation, sources, targets, place")
    sources, targets = ([read_list(edge[side]) for edge in edges] for side in ("sources", "targets"))
    return {
        "wire_types": _column(read_list(given["wires"])),
        "edge_operations": _column([edge["operation"] for edge in edges]),
        "edge_provenances": _column([edge["place"] for edge in edges]),
        "source_offsets": offsets_of(np.array([len(wires) for wires in sources], np.int64)),
        "source_wires": _column([wire for wires in sources for wire in wires]),
        "target_offsets": offsets_of(np.array([len(wires) for wires in targets], np.int64)),
        "target_wires": _column([wire for wires in targets for wire in wires]),
        "inputs": _column(read_list(given["sources"])),
        "outputs": _column(read_list(given["targets"])),
    }


def _column(numbers: Sequence[object]) -> Values:
    found = [number for number in numbers if type(number) is int and 0 <= number < 1 << 31]
    if len(found) < len(numbers):
        raise ValueError("wires or places that are no whole numbers")
    return np.array(found, np.int32)

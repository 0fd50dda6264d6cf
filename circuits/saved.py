"""Saved programs: files that hold a program of the real or the integer language, whose writer a reader need not
trust.
"""

from __future__ import annotations

import hashlib
import math
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Literal, overload

import numpy as np

from .encode import COLUMNS, MAGIC, _Blobs, _port, _value, pack
from .errors import CircuitizeError, FormatError
from .files import write_whole
from .hypergraph import Arrow
from .operation import Provenance, Values
from .port import Port, Role, Visibility
from .program import IntegerProgram, Program, as_integers
from .reading import Json, parse_json, read_list, read_object, read_text, whole
from .restore import Restorer
from .types import Array, Fixed, Shape
from .validate import validate

MOST_BYTES = 1 << 27
"""The most bytes of a saved program: 128 MiB, or 16 million constants. Weights are inputs, which take no bytes of a
saved program.
"""

MOST_HEADER = 1 << 22
"""The most bytes of a saved program that describe operations, types, ports and arrays; a transformer's step takes 100
kB.
"""

MOST_VALUES = 1 << 20
"""The greatest number of values in the description of a saved program."""

MOST_ENTRIES = 1 << 18
"""The most wires of a saved program, and the most ends of its edges."""

CHECKSUM = 32
CHUNK = 1 << 20

DTYPES = {
    text: np.dtype(text)
    for text in ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8")
}
"""The kinds of numbers that arrays may hold, by how a file names them."""


def save(program: Program, path: Path, *, examples: bool = False) -> None:
    """Write a program of either language to a file, provenance included, whole or not at all.

    Examples may be private data, so they are not saved by default; with `examples` they are written too, and only the
    owner may read the file. Raise CircuitizeError for a program that is larger than `load` reads.
    """
    arrow, blobs = program.arrow, _Blobs()
    kept = program.examples if examples else ()
    header = described(program, blobs, examples)
    columns = [np.ascontiguousarray(getattr(arrow, column), "<i4") for column in (*COLUMNS, "edge_provenances")]
    chunks = pack(header, columns + blobs.arrays)
    _require_readable(path, sum(map(len, chunks)) + CHECKSUM, len(chunks[2]), columns, bool(kept))
    checksum = hashlib.sha256()
    for chunk in chunks:
        checksum.update(chunk)
    write_whole(path, [*chunks, checksum.digest()], private=bool(kept))


def described(program: Program | Arrow, blobs: _Blobs, examples: bool = False) -> Json:
    """Return the description of a program, or of an arrow alone, for a file, without the arrow's columns; constants are
    added to `blobs`.
    """
    arrow = program.arrow if isinstance(program, Program) else program
    header: Json = {
        "operations": [_value(operation, blobs) for operation in arrow.operations],
        "types": [_value(type, blobs) for type in arrow.types],
        "provenances": [[p.part, p.file, p.line] for p in arrow.provenances],
    }
    if isinstance(program, Program):
        kept = program.examples if examples else ()
        header |= {
            "ports": [[_port(port) for port in side] for side in (program.inputs, program.outputs)],
            "precision": _value(program.precision, blobs),
            "examples": [{name: blobs.place(np.asarray(a)) for name, a in batch.items()} for batch in kept],
        }
    return header


@overload
def load(path: Path, *, integer: Literal[True]) -> IntegerProgram: ...
@overload
def load(path: Path, *, integer: bool = False) -> Program: ...
def load(path: Path, *, integer: bool = False) -> Program:
    """Read a saved program, of the integer language if `integer` says so.

    Raise FormatError if the file of a saved program is truncated, altered, of another version, or larger than saved
    programs may be. While a saved program is read, nothing is imported because the file names it, and no array is made
    before the file is known to hold the array's numbers.
    """
    try:
        with Path(path).open("rb") as file:
            return _read(file, Path(path), integer)
    except OSError as error:
        raise FormatError(f"{path}: expected a saved program, found {error.strerror}; check the path") from None


def _read(file: IO[bytes], path: Path, integer: bool) -> Program:
    size = os.fstat(file.fileno()).st_size
    magic = file.read(len(MAGIC))
    if magic != MAGIC:
        raise FormatError(f"{path}: expected a saved program (magic {MAGIC!r}), found {magic!r}; save it again")
    if size > MOST_BYTES:
        raise FormatError(
            f"{path}: expected a saved program of at most {MOST_BYTES:,} bytes, found {size:,}; give large constants "
            "as inputs, and save it again"
        )
    if not _undamaged(file, size):
        raise FormatError(
            f"{path}: expected the checksum at its end to match, found other bytes; the file is damaged, save it again"
        )
    with decoding(path):
        content = _header(file, size)
        arrays = list(_arrays(file, read_list(content["arrays"]), size - CHECKSUM))
        return _program(read_object(content["header"]), arrays, integer)


@contextmanager
def decoding(path: Path) -> Iterator[None]:
    """Report errors in the content of a file in one line that names the file."""
    try:
        yield
    except _ANY as error:
        told = " ".join(str(error).split())[:200]
        raise FormatError(
            f"{path}: expected a program of this version, found one that does not decode ({told}); save it again"
        ) from None


_ANY = (
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    struct.error,
    CircuitizeError,
)
"""The errors that operations and types raise for parameters that they do not have."""


def _undamaged(file: IO[bytes], size: int) -> bool:
    """Return whether the last bytes of a file are the SHA-256 of all bytes before them. Checking a file's SHA-256 takes
    constant memory.
    """
    file.seek(0)
    checksum, left = hashlib.sha256(), size - CHECKSUM
    while left > 0 and (chunk := file.read(min(CHUNK, left))):
        checksum.update(chunk)
        left -= len(chunk)
    return left == 0 and file.read() == checksum.digest()


def _header(file: IO[bytes], size: int) -> Mapping[str, object]:
    file.seek(len(MAGIC))
    (length,) = struct.unpack("<Q", file.read(8))
    if length > min(MOST_HEADER, size - file.tell() - CHECKSUM):
        raise ValueError(f"a description of {length} bytes")
    return read_object(parse_json(file.read(length), MOST_VALUES))


def _arrays(file: IO[bytes], described: Sequence[object], end: int) -> Iterator[Values]:
    """Yield the arrays of a file, each in separate memory that nothing writes to."""
    kinds = [read_kind(read_object(entry)) for entry in described]
    if any(extent < 0 for _, shape in kinds for extent in shape):
        raise ValueError("an array of a negative extent")
    length = sum(dtype.itemsize * math.prod(shape) for dtype, shape in kinds)
    if length != end - file.tell():
        raise ValueError(f"{length} bytes of arrays described, {end - file.tell()} there")
    for dtype, shape in kinds:
        array = np.empty(shape, dtype)
        if file.readinto(array.reshape(-1).view(np.uint8)) != array.nbytes:  # type: ignore[attr-defined]
            raise ValueError("an array that was cut off")
        array.flags.writeable = False
        yield array


def read_kind(described: Mapping[str, object]) -> tuple[np.dtype[np.generic], Shape]:
    """Return the kind of numbers and the shape of an array that a file describes. Raise LookupError for another kind of
    numbers than arrays hold, and TypeError for a shape of anything but integers.
    """
    return DTYPES[read_text(described["dtype"])], tuple(map(whole, read_list(described["shape"])))


def restored_arrow(header: Mapping[str, object], columns: Mapping[str, Values], restorer: Restorer) -> Arrow:
    """Return the arrow that a header and columns describe, after checking it. Raise ValueError, or an error that a
    class in the description raises in its own checks.
    """
    names = (*COLUMNS, "edge_provenances")
    if any(columns[name].dtype != np.int32 or columns[name].ndim != 1 for name in names):
        raise ValueError("columns of other numbers than whole ones")
    if max(len(columns[name]) for name in names) > MOST_ENTRIES:
        raise ValueError(f"more than {MOST_ENTRIES} wires or ends of edges")
    arrow = Arrow(
        operations=tuple(map(restorer.operation, read_list(header["operations"]))),
        types=tuple(map(restorer.wire_type, read_list(header["types"]))),
        provenances=tuple(map(_provenance, read_list(header["provenances"]))),
        **columns,
    )
    validate(arrow)
    return arrow


def restored_program(header: Mapping[str, object], arrow: Arrow, restorer: Restorer) -> Program:
    """Return the program of an arrow with the ports that a saved program's header describes; once the ports are
    restored, every array of the file must have been used.
    """
    inputs, outputs = (
        [_read_port(entry, restorer) for entry in read_list(side)] for side in read_list(header["ports"])
    )
    precision = restorer.precision(header["precision"])
    examples = tuple(
        {name: restorer.array(index) for name, index in read_object(batch).items()}
        for batch in read_list(header["examples"])
    )
    require_all_named(restorer)
    fed = tuple(port.of(port.format) for port in inputs if port.format is not None)
    program = Program(arrow, fed, tuple(outputs), examples, precision)
    return as_integers(program) or program


def require_all_named(restorer: Restorer) -> None:
    """Raise ValueError if a saved program's file holds an array that nothing uses."""
    if restorer.left:
        raise ValueError(f"{restorer.left} arrays that nothing names")


def _program(header: Mapping[str, object], arrays: Sequence[Values], integer: bool) -> Program:
    names = (*COLUMNS, "edge_provenances")
    restorer = Restorer(arrays[len(names) :], integer)
    return restored_program(header, restored_arrow(header, dict(zip(names, arrays, strict=False)), restorer), restorer)


def _read_port(entry: object, restorer: Restorer) -> Port[Fixed | None]:
    name, seen, format, role = read_list(entry)
    found = None if format is None else restorer.wire_type(format)
    if not isinstance(name, str) or isinstance(found, Array):
        raise TypeError("a port without a name or a format")
    port: Port[Fixed | None] = Port(name, Visibility(seen), found, Role(role))
    return port


def _provenance(entry: object) -> Provenance:
    part, file, line = read_list(entry)
    if not isinstance(part, str) or not isinstance(file, str):
        raise TypeError("a place that is no text")
    return Provenance(part, file, whole(line))


def _require_readable(path: Path, size: int, header: int, columns: Sequence[Values], with_examples: bool) -> None:
    """Raise CircuitizeError for a program that is too large for `load`."""
    if size > MOST_BYTES:
        remedy = "save it without examples" if with_examples else "give large constants as inputs"
        raise CircuitizeError(
            f"{path}: expected a program of at most {MOST_BYTES:,} bytes to save, found {size:,}; {remedy}"
        )
    entries = max(map(len, columns))
    if header > MOST_HEADER or entries > MOST_ENTRIES:
        raise CircuitizeError(
            f"{path}: expected a program of at most {MOST_ENTRIES:,} wires and {MOST_HEADER:,} bytes of description to "
            f"save, found {entries:,} and {header:,}; save it in parts"
        )

"""A reader and writer of safetensors files, arrays by name, byte for byte, which needs no package safetensors."""

from __future__ import annotations

import json
import math
import os
import stat
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from circuitize.circuits.errors import CircuitizeError, FormatError, excerpt
from circuitize.circuits.operation import Values
from circuitize.circuits.reading import parse_json
from circuitize.circuits.restore import MOST_AXES
from circuitize.circuits.types import Shape

from .stored_numbers import KINDS, decoded, encoded

METADATA = "__metadata__"
"""The one entry of a safetensors header that describes no tensor."""

MOST_HEADER = 1 << 25
"""The most bytes of a safetensors header, 32 MiB: some 300,000 tensors."""

MOST_VALUES = 1 << 22
"""The most values in a safetensors header."""

SUFFIX = ".safetensors"


@dataclass(frozen=True, slots=True)
class Entry:
    """The description of a tensor in a safetensors header: its name, the type of its numbers, its shape, and where its
    bytes begin.
    """

    name: str
    kind: str
    shape: Shape
    begin: int

    @property
    def bytes(self) -> int:
        """Return how many bytes a tensor takes in a safetensors file."""
        return KINDS[self.kind].itemsize * math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class Header:
    """The description of a safetensors file's tensors, in the order of their bytes, and the text from which it was
    read.
    """

    entries: tuple[Entry, ...]
    metadata: Mapping[str, str]
    text: bytes


def read_file(path: Path) -> tuple[Header, dict[str, Values]]:
    """Return the header and the arrays of one safetensors file. Raise CircuitizeError if the safetensors file cannot be
    read, FormatError for a file of another kind.

    While a safetensors file is read, no memory is allocated for an array before the file is known to hold the array.
    """
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise CircuitizeError(f"{path}: expected a safetensors file, found a device or a pipe; check the path")
            header = _header(file, found.st_size, str(path))
            return header, {entry.name: _array(file, entry, str(path)) for entry in header.entries}
    except OSError as error:
        raise CircuitizeError(
            f"{path}: expected a safetensors file, found {error.strerror or error}; check the path"
        ) from None


def _header(file: IO[bytes], size: int, where: str) -> Header:
    remedy = "the file is damaged or cut off, fetch it again"
    if size < 8:
        raise FormatError(f"{where}: expected a safetensors file, found {size} bytes; {remedy}")
    (length,) = struct.unpack("<Q", file.read(8))
    most = min(MOST_HEADER, size - 8)
    if length > most:
        raise FormatError(f"{where}: expected a header of at most {most:,} bytes, found one of {length:,}; {remedy}")
    text = file.read(length)
    try:
        if text[:1] != b"{":
            raise ValueError(f"one that begins with {text[:8]!r}")
        described = parse_json(text, MOST_VALUES, distinct=True)
    except ValueError as error:
        raise FormatError(
            f"{where}: expected a header in JSON, found another ({' '.join(str(error).split())[:120]}); {remedy}"
        ) from None
    metadata = described.pop(METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise FormatError(f"{where}: expected {METADATA} that maps names to text, found other values; write it again")
    entries = sorted(
        (_entry(name, entry, where) for name, entry in described.items()), key=lambda pair: (pair[0].begin, pair[1])
    )
    at, before = 0, "the header"
    for entry, end in entries:
        if entry.begin != at:
            raise FormatError(
                f"{where}: expected tensor {excerpt(entry.name)} at byte {at}, where {before} ends, found it at "
                f"{entry.begin}; tensors lie side by side, write the file again"
            )
        at, before = end, excerpt(entry.name)
    if at != size - 8 - length:
        raise FormatError(f"{where}: expected {at:,} bytes of tensors, found {size - 8 - length:,}; {remedy}")
    return Header(tuple(entry for entry, _ in entries), metadata, text)


def _entry(name: str, described: object, where: str) -> tuple[Entry, int]:
    """Return the description of one tensor in a safetensors header, and where the tensor's bytes end. Raise FormatError
    if a tensor's description in a safetensors header is malformed.
    """
    where = f"{where}: tensor {excerpt(name)}"
    if not name or not name.isprintable():
        raise FormatError(f"{where}: expected a name of printable characters, at least one; rename it")
    if not isinstance(described, dict) or described.keys() != {"dtype", "shape", "data_offsets"}:
        raise FormatError(
            f"{where}: expected dtype, shape and data_offsets, found {excerpt(described)}; write it again"
        )
    kind, shape, offsets = described["dtype"], described["shape"], described["data_offsets"]
    if not isinstance(kind, str) or kind not in KINDS:
        raise FormatError(f"{where}: expected numbers among {', '.join(KINDS)}, found {excerpt(kind)}; convert it")
    if not _counts(shape) or len(shape) > MOST_AXES:
        raise FormatError(f"{where}: expected a shape of at most {MOST_AXES} axes, found {excerpt(shape)}; correct it")
    if not _counts(offsets) or len(offsets) != 2:
        raise FormatError(f"{where}: expected two places in data_offsets, found {excerpt(offsets)}; correct them")
    entry = Entry(name, kind, tuple(shape), offsets[0])
    if offsets[1] - offsets[0] != entry.bytes:
        raise FormatError(
            f"{where}: expected {entry.bytes:,} bytes of {kind}{shape}, found {offsets[1] - offsets[0]:,}; correct it"
        )
    return entry, offsets[1]


def _counts(found: object) -> bool:
    return isinstance(found, list) and all(type(number) is int and 0 <= number < 1 << 62 for number in found)


def _array(file: IO[bytes], entry: Entry, where: str) -> Values:
    stored = np.empty(entry.shape, KINDS[entry.kind])
    if file.readinto(stored.reshape(-1).view(np.uint8)) != stored.nbytes:  # type: ignore[attr-defined]
        raise FormatError(f"{where}: expected {stored.nbytes:,} bytes of {entry.name!r}, found fewer; fetch it again")
    return decoded(entry.kind, stored)


def file_chunks(header: Header, arrays: Mapping[str, Values], where: str) -> list[bytes | memoryview]:
    """Return the bytes of a safetensors file, in pieces. Raise CircuitizeError for an array that does not fit the type
    or the shape in its description.
    """
    chunks: list[bytes | memoryview] = [struct.pack("<Q", len(header.text)), header.text]
    for entry in header.entries:
        place, array = f"{where}: tensor {entry.name!r}", np.asarray(arrays[entry.name])
        if array.shape != entry.shape:
            raise CircuitizeError(
                f"{place}: expected shape {list(entry.shape)}, found {list(array.shape)}; torch keeps [out, in]"
            )
        chunks.append(encoded(entry.kind, array, place).reshape(-1).view(np.uint8).data)
    return chunks


def header_of(arrays: Mapping[str, Values], kinds: Mapping[str, str], metadata: Mapping[str, str]) -> Header:
    """Return the header that the package safetensors writes: widest types first, then by name, padded with spaces to a
    multiple of 8 bytes.
    """
    rank = list(KINDS)
    entries, at = [], 0
    for name in sorted(arrays, key=lambda name: (-rank.index(kinds[name]), name)):
        entries.append(Entry(name, kinds[name], np.shape(arrays[name]), at))
        at += entries[-1].bytes
    described: dict[str, object] = {METADATA: dict(metadata)} if metadata else {}
    for entry in entries:
        offsets = [entry.begin, entry.begin + entry.bytes]
        described[entry.name] = {"dtype": entry.kind, "shape": list(entry.shape), "data_offsets": offsets}
    text = json.dumps(described, separators=(",", ":"), ensure_ascii=False).encode()
    return Header(tuple(entries), metadata, text + b" " * (-len(text) % 8))

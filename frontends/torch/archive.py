"""A reader of archives of torch.export (.pt2), the graph and the tensors stored with it, without torch and without
unpickling.
"""

from __future__ import annotations

import io
import json
import math
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.archives import InPieces, require_usual
from circuitize.circuits.errors import CircuitizeError, FormatError, excerpt
from circuitize.circuits.reading import Json, parse_json
from circuitize.frontends.stored_numbers import KINDS, decoded

MODEL, WEIGHTS, CONSTANTS = (
    "models/model.json",
    "data/weights/model_weights_config.json",
    "data/constants/model_constants_config.json",
)
OLDER = "serialized_exported_program.json"
"""The file by which older archives are recognised, of which the tensors are pickled."""

SCHEMA = 8
"""The major version of torch.export's schema that is read."""

MOST_ENTRIES = 1 << 14
MOST_TEXT = 1 << 26
"""The most bytes of one description in an archive."""

MOST_VALUES = 1 << 22
"""The most values in a description of a torch.export archive."""

MOST_ELEMENTS = 1 << 28
"""The most elements of one tensor in a torch.export archive."""

SCALARS = {1: "U8", 2: "I8", 3: "I16", 4: "I32", 5: "I64", 6: "F16", 7: "F32", 8: "F64", 12: "BOOL", 13: "BF16"}
"""The types of numbers by their number in the schema, as safetensors calls them."""

AGAIN = "save it again with torch.export.save of a recent torch, such as 2.15"


@dataclass(frozen=True)
class Stored:
    """A tensor of a torch archive: its values, and the bytes of which it is a view, which tied tensors share."""

    values: NDArray[np.generic]
    place: tuple[object, ...]


@dataclass(frozen=True)
class Archive:
    """The content of a torch archive: the graph with its signature, and tensors by their names in the module."""

    where: str
    graph: Json
    signature: Json
    tensors: Mapping[str, Stored]


def read(source: str | Path | bytes) -> Archive:
    """Read a torch archive; raise CircuitizeError if a file cannot be read, FormatError for a file that is of another
    kind, older or damaged.
    """
    where = "archive" if isinstance(source, bytes) else str(source)
    try:
        with io.BytesIO(source) if isinstance(source, bytes) else Path(source).open("rb") as file:
            return _read(file, where)
    except OSError as error:
        raise CircuitizeError(
            f"{where}: expected an archive of torch.export, found {error.strerror or error}; check the path"
        ) from None
    except CircuitizeError:
        raise
    except (
        *(ValueError, TypeError, LookupError, ArithmeticError, AttributeError, EOFError, NotImplementedError),
        *(RuntimeError, MemoryError, struct.error, zipfile.BadZipFile, zlib.error),
    ) as error:
        told = " ".join(str(error).split())[:120] or type(error).__name__
        raise FormatError(f"{where}: expected an archive of torch.export, found another ({told}); {AGAIN}") from None


def _read(file: BinaryIO, where: str) -> Archive:
    pieces = InPieces(file)
    with zipfile.ZipFile(pieces) as archive:
        entries = archive.infolist()
        if len(entries) > MOST_ENTRIES:
            raise ValueError(f"{len(entries)} entries")
        found = {entry.filename.partition("/")[2]: entry for entry in entries}
        if len(found) < len(entries):
            raise ValueError("an entry twice")
        if OLDER in {entry.filename for entry in entries} | found.keys():
            raise FormatError(f"{where}: expected tensors as bytes, found an older archive, with pickles; {AGAIN}")
        model = _json(archive, found[MODEL])
        version = model["schema_version"]["major"]
        if version != SCHEMA:
            raise FormatError(f"{where}: expected version {SCHEMA} of the schema, found {excerpt(version)}; {AGAIN}")
        if "byteorder" in found and archive.read(found["byteorder"]).strip() != b"little":
            raise FormatError(f"{where}: expected the lowest byte first, found another order; {AGAIN}")
        tensors = {}
        for config in (WEIGHTS, CONSTANTS):
            if config in found:
                folder = config.rpartition("/")[0]
                for name, entry in _json(archive, found[config])["config"].items():
                    tensors[name] = _stored(archive, found, folder, name, entry, where)
    made = model["graph_module"]
    return Archive(where, made["graph"], made["signature"], tensors)


def _json(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Json:
    found = parse_json(_bytes(archive, entry, MOST_TEXT), MOST_VALUES)
    if not isinstance(found, dict):
        raise ValueError(f"no object in {entry.filename[:80]!r}")
    return found


def _bytes(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int) -> bytes:
    require_usual(entry)
    with archive.open(entry) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise ValueError(f"more than {most} bytes in {entry.filename[:80]!r}")
    return content


def _stored(
    archive: zipfile.ZipFile, found: Mapping[str, zipfile.ZipInfo], folder: str, name: str, entry: Json, where: str
) -> Stored:
    """Return a tensor of a torch archive, as a view of its bytes by extents, strides and an offset, each of which is
    checked against the bytes.
    """
    meta, file = entry["tensor_meta"], entry["path_name"]
    if entry["use_pickle"] is not False:
        raise FormatError(f"{where}: expected tensor {excerpt(name)} as bytes, found a pickle; {AGAIN}")
    kind = SCALARS.get(meta["dtype"])
    if kind is None:
        raise FormatError(f"{where}: expected tensor {excerpt(name)} of real numbers, found another kind; convert it")
    shape, strides = sizes(meta["sizes"]), sizes(meta["strides"])
    offset = sizes([meta["storage_offset"]])[0]
    if len(shape) != len(strides) or math.prod(shape) > MOST_ELEMENTS:
        raise ValueError(f"extents {list(shape)} with strides {list(strides)}")
    last = offset + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
    width = KINDS[kind].itemsize
    if last >= MOST_ELEMENTS:
        raise ValueError(f"a place past {MOST_ELEMENTS}")
    content = _bytes(archive, found[f"{folder}/{file}"], MOST_ELEMENTS * width)
    flat = np.frombuffer(content, KINDS[kind], len(content) // width)
    if math.prod(shape) and last >= len(flat):
        raise ValueError(f"{len(flat)} numbers for tensor {name[:80]!r}, of which one at {last}")
    view = np.lib.stride_tricks.as_strided(flat[offset:], shape, [stride * width for stride in strides])
    return Stored(decoded(kind, np.array(view)), (folder, file, kind, shape, strides, offset))


def sizes(entries: Sequence[Json]) -> tuple[int, ...]:
    """Return the extents of a shape in a torch archive as numbers. Raise ValueError for an extent in a torch archive
    that is symbolic, or not a whole number of at least 0.
    """
    found = []
    for entry in entries:
        number = entry.get("as_int")
        if type(number) is not int or not 0 <= number < 1 << 48:
            raise ValueError(
                f"expected extents that are numbers, found {json.dumps(entries)[:80]}; export without dynamic shapes"
            )
        found.append(number)
    return tuple(found)

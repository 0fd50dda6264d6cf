"""Checkpoints: the tensors of one safetensors file, or of the several files that an index lists."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from circuitize.circuits.errors import CircuitizeError, FormatError, excerpt
from circuitize.circuits.files import write_whole
from circuitize.circuits.operation import Values
from circuitize.circuits.reading import parse_json, read_at_most

from .safetensors import MOST_HEADER, MOST_VALUES, SUFFIX, Header, file_chunks, header_of, read_file
from .stored_numbers import FLOATS, KINDS, kind_of

WHOLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
MOST_FILES = 4096
"""The most files that an index may list."""


@dataclass(frozen=True, eq=False)
class Tensors(Mapping[str, Values]):
    """Arrays by name, with the headers of the files that they came from, and with the index if the files have one.

    The numbers of a checkpoint's arrays are those of the file, in numpy's types: BF16 becomes float32, which represents
    each of its numbers exactly.
    """

    arrays: Mapping[str, Values]
    files: Mapping[str, Header]
    index: bytes | None = None

    def __getitem__(self, name: str) -> Values:
        return self.arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)

    def __repr__(self) -> str:
        return f"Tensors of {len(self)} names in {', '.join(self.files)}"

    @property
    def kinds(self) -> dict[str, str]:
        """Return the type of each tensor's numbers in its file, such as BF16."""
        return {entry.name: entry.kind for header in self.files.values() for entry in header.entries}


def load_safetensors(path: str | Path) -> Tensors:
    """Read the tensors of a .safetensors file, of a model.safetensors.index.json and its files, or of a folder with
    either.

    Raise CircuitizeError if a file of a checkpoint cannot be read, and FormatError if a file is damaged or contradicts
    itself. While a checkpoint is read, nothing outside the folder of its index is read, whatever the index says.
    """
    path = Path(path)
    if path.is_dir():
        path = path / (INDEX if (path / INDEX).exists() and not (path / WHOLE).exists() else WHOLE)
    if path.suffix == ".json":
        return _sharded(path)
    header, arrays = read_file(path)
    return Tensors(arrays, {path.name: header})


def _sharded(path: Path) -> Tensors:
    try:
        content = read_at_most(path, MOST_HEADER, "an index", "fetch it again")
    except OSError as error:
        raise CircuitizeError(
            f"{path}: expected an index of tensors, found {error.strerror or error}; check the path"
        ) from None
    places = _places(content, str(path))
    files, arrays = {}, dict[str, Values]()
    for file in sorted(set(places.values())):
        header, found = read_file(path.parent / file)
        for name in found:
            if places.get(name) != file:
                said = f"it in {places[name]}" if name in places else "no word of it"
                raise FormatError(
                    f"{path}: expected tensor {excerpt(name)} in {file}, where it is, found {said}; correct the index"
                )
        files[file] = header
        arrays |= found
    for name, file in places.items():
        if name not in arrays:
            raise FormatError(f"{path}: expected tensor {excerpt(name)} in {file}, found none there; correct the index")
    return Tensors(arrays, files, content)


def _places(content: bytes, where: str) -> dict[str, str]:
    """Return the file of each tensor of a checkpoint, by the tensor's name. Raise FormatError for a file that is not in
    the folder of the checkpoint's index.
    """
    try:
        found = parse_json(content, MOST_VALUES, distinct=True)
    except ValueError as error:
        raise FormatError(
            f"{where}: expected an index in JSON, found another text ({' '.join(str(error).split())[:120]}); "
            "fetch it again"
        ) from None
    places = found.get("weight_map") if isinstance(found, dict) else None
    if not isinstance(places, dict) or not places:
        raise FormatError(f"{where}: expected a weight_map of tensors to files, found none; fetch it again")
    for name, file in places.items():
        if not is_plain(file):
            raise FormatError(
                f"{where}: expected the name of a {SUFFIX} file beside it for tensor {excerpt(name)}, found "
                f"{excerpt(file)}; correct the index"
            )
    if len(set(places.values())) > MOST_FILES:
        raise FormatError(f"{where}: expected at most {MOST_FILES} files, found more; merge some")
    return places


def is_plain(file: object) -> bool:
    """Return whether a text is the name of a safetensors file, without a folder."""
    return (
        isinstance(file, str)
        and file.isprintable()
        and file.endswith(SUFFIX)
        and not file.startswith(".")
        and not set(file) & set("/\\:")
    )


def save_safetensors(
    path: str | Path,
    arrays: Mapping[str, ArrayLike],
    *,
    like: Tensors | None = None,
    kind: str | None = None,
    metadata: Mapping[str, str] | None = None,
    most_bytes: int | None = None,
) -> None:
    """Write arrays by name to a .safetensors file, or to a folder as model.safetensors or as several files with an
    index.

    With `like`, the tensors that were loaded, their files, headers and types are written again, and tensors that are
    not given stay unchanged; if no tensor has changed, the bytes are equal. Without `like`, floats are written with the
    given `kind` (F32, F16, BF16, F64) or with their type in numpy; each file in a folder takes at most `most_bytes` of
    tensors. Each file of a checkpoint is written whole or not at all. Raise CircuitizeError for a name that `like` does
    not have, for another shape than in `like`, and for numbers that a type does not hold.
    """
    path = Path(path)
    if like is not None:
        if kind is not None or metadata is not None or most_bytes is not None:
            raise CircuitizeError(
                f"{path}: expected like alone, found a kind, metadata or most_bytes beside it; leave it"
            )
        _require_known(path, arrays, like)
        given: dict[str, Values] = {**like, **{name: np.asarray(array) for name, array in arrays.items()}}
        files, index = like.files, like.index
    else:
        given = {name: np.asarray(array) for name, array in arrays.items()}
        files, index = _files(path, given, kind, dict(metadata or {}), most_bytes)
    if path.suffix == SUFFIX:
        if len(files) > 1:
            raise CircuitizeError(
                f"{path}: expected a folder for {len(files)} files, found the name of one; name a folder"
            )
        written = dict(zip([path], files.values(), strict=True))
    else:
        written = {path / file: header for file, header in files.items()}
    for file, header in written.items():
        write_whole(file, file_chunks(header, given, str(path)))
    if index is not None:
        write_whole(path / INDEX, [index])


def _require_known(path: Path, names: Collection[str], like: Tensors) -> None:
    for name in names:
        if name not in like:
            raise CircuitizeError(
                f"{path}: expected names among the {len(like)} of like, found {excerpt(name)}; rename it"
            )


def _files(
    path: Path, arrays: Mapping[str, Values], kind: str | None, metadata: Mapping[str, str], most: int | None
) -> tuple[dict[str, Header], bytes | None]:
    """Return the headers of a checkpoint by file, and the index if there are several files."""
    if kind is not None and kind not in FLOATS:
        raise CircuitizeError(f"{path}: expected a kind among {', '.join(FLOATS)}, found {kind!r}; choose one")
    kinds = {}
    for name, array in arrays.items():
        where = f"{path}: tensor {excerpt(name)}"
        if not isinstance(name, str) or not name or not name.isprintable() or name == "__metadata__":
            raise CircuitizeError(f"{where}: expected a name of printable characters of its own; rename it")
        own = kind_of(array, where)
        kinds[name] = kind if kind is not None and own in FLOATS else own
    groups: list[list[str]] = [[]]
    room = most
    for name, array in arrays.items():
        size = KINDS[kinds[name]].itemsize * array.size
        if room is not None and most is not None:
            if size > room and groups[-1]:
                groups.append([])
                room = most
            room -= size
        groups[-1].append(name)
    if len(groups) == 1:
        return {WHOLE: header_of(arrays, kinds, metadata)}, None
    names = [f"model-{number:05}-of-{len(groups):05}{SUFFIX}" for number in range(1, len(groups) + 1)]
    files = {
        file: header_of({name: arrays[name] for name in group}, kinds, metadata)
        for file, group in zip(names, groups, strict=True)
    }
    total = sum(entry.bytes for header in files.values() for entry in header.entries)
    places = {name: file for file, group in zip(names, groups, strict=True) for name in group}
    index = {"metadata": {"total_size": total}, "weight_map": dict(sorted(places.items()))}
    return files, (json.dumps(index, indent=2) + "\n").encode()

"""Files of named arrays (.npz), of which only the wanted arrays are read; nothing in a file is ever unpickled."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO

import numpy as np

from .errors import CircuitizeError, FormatError
from .operation import Values
from .types import Shape

MOST_ARRAYS = 4096
"""The most arrays that a file may have."""

MOST_LIST = 1 << 20
"""The most bytes of the list of a file's arrays, and of any piece that is read at once."""

MOST_HEADER = 4096
"""The most bytes that may describe one array."""

MOST_PIPED = 1 << 27
"""The most bytes that may come through a pipe, where they are held until its end."""

HEADER = re.compile(
    r"\{ *'descr': *'([<>|=]?[?a-zA-NP-Z]\d{0,3}(?:\[\w{1,8}\])?)', *'fortran_order': *(True|False), *"
    r"'shape': *\(((?:\d{1,18}, *){0,32}(?:\d{1,18})?)\) *,? *\}\s*"
)

Wanted = Callable[[str, Shape], bool]
"""Whether an array of a given name and shape is worth reading."""


def read_npz(path: Path, wanted: Wanted = lambda name, shape: True) -> dict[str, Values]:
    """Return the arrays of an .npz file, by name. Raise FormatError for a file that is damaged or no .npz file.

    An array that is not `wanted`, or holds no numbers, is not read: the result holds instead an array of the same shape
    and type that takes no memory, so that the caller can report the fault.
    """
    try:
        with path.open("rb") as opened:
            # An archive is read from its end, which a pipe does not have before all of it is read.
            file: IO[bytes] = opened if opened.seekable() else io.BytesIO(_piped(opened))
            with zipfile.ZipFile(InPieces(file)) as archive:
                entries = archive.infolist()
                names = [entry.filename.removesuffix(".npy") for entry in entries]
                if len(entries) > MOST_ARRAYS or len(set(names)) < len(names):
                    raise ValueError("too many entries, or one twice")
                return {
                    name: read_array(archive, entry, name, wanted) for name, entry in zip(names, entries, strict=True)
                }
    except OSError as error:
        raise CircuitizeError(
            f"{path}: expected an .npz file, found {error.strerror or error}; check the path"
        ) from None
    except (
        *(ValueError, TypeError, LookupError, ArithmeticError, EOFError, MemoryError, NotImplementedError),
        *(RuntimeError, struct.error, zipfile.BadZipFile, zlib.error),
    ):
        raise FormatError(
            f"{path}: expected an .npz of arrays of numbers by name, found another, a damaged or a pickled file; "
            "write it again with numpy.savez"
        ) from None


class InPieces:
    """A file object from which no more than MOST_LIST bytes are read at once, since the list of an archive is read
    whole.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes of the file, or the rest of the file if `size` is not given. Raise ValueError if
        more than MOST_LIST bytes of an archive are asked for at once.
        """
        content = self._file.read(size if 0 <= size <= MOST_LIST else MOST_LIST + 1)
        if len(content) > MOST_LIST:
            raise ValueError(f"expected at most {MOST_LIST} bytes, found more")
        return content


def _piped(file: IO[bytes]) -> bytes:
    content = file.read(MOST_PIPED + 1)
    if len(content) > MOST_PIPED:
        raise ValueError(f"expected at most {MOST_PIPED} bytes through a pipe, found more")
    return content


def require_usual(info: zipfile.ZipInfo) -> None:
    """Raise ValueError for an entry compressed by an unusual method, since some methods expand a few bytes to gigabytes
    at once.
    """
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError("compressed in another way than numpy does")


def read_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, wanted: Wanted) -> Values:
    """Return the array of one archive entry, called `name`, by the same rules as `read_npz`. Raise ValueError or
    EOFError for an archive entry that is no array of numbers.
    """
    require_usual(info)
    with archive.open(info) as entry:
        dtype, shape, fortran = _described(entry)
        if dtype.kind not in "biuf" or not wanted(name, shape):
            return np.broadcast_to(np.zeros((), dtype), shape)
        found = np.empty(shape[::-1] if fortran else shape, dtype)
        content = found.reshape(-1).view(np.uint8)
        for at in range(0, len(content), MOST_LIST >> 2):
            piece = content[at : at + (MOST_LIST >> 2)]
            while len(piece):
                count = entry.readinto(piece)  # type: ignore[attr-defined]
                if not count:
                    raise EOFError
                piece = piece[count:]
        if entry.read(1):
            raise ValueError("bytes after the array")
        return found.T if fortran else found


def _described(entry: IO[bytes]) -> tuple[np.dtype[np.generic], Shape, bool]:
    """Return the type of an array's numbers, the array's shape, and whether the first axis varies fastest, from the
    header that numpy writes.
    """
    start = entry.read(8)
    wide = start[6:7] in (b"\x02", b"\x03")
    length = int.from_bytes(entry.read(4 if wide else 2), "little")
    if start[:6] != b"\x93NUMPY" or start[6:7] not in (b"\x01", b"\x02", b"\x03") or length > MOST_HEADER:
        raise ValueError("expected an array")
    found = HEADER.fullmatch(entry.read(length).decode("latin1"))
    if found is None:
        raise ValueError("expected an array of numbers")
    kind, fortran, extents = found.groups()
    return np.dtype(kind), tuple(map(int, re.findall(r"\d+", extents))), fortran == "True"

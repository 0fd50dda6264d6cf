"""Archives of arrays, of so many bytes: in the file, or when it is read."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Iterator
from typing import Any

from dense_contents import BINARY, NOISE, PIECE, Content, noise, repeated


def _npy(shape: str, kind: str = "<f8") -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def archive(name: str, head: bytes, method: int = zipfile.ZIP_STORED, piece: bytes = NOISE) -> Content:
    """An archive of one entry that begins so, and goes on; a compressed one is as long when it is read."""

    def content(honest: bytes, size: int) -> Iterator[bytes]:
        kept = _Kept()
        file = zipfile.ZipFile(kept, "w", method, compresslevel=1)
        with file, file.open(f"{name}.npy", "w", force_zip64=True) as entry:
            entry.write(head)
            for part in repeated(piece, size):
                entry.write(part)
                yield from kept.taken()
        yield from kept.taken()

    return content


class _Kept(io.RawIOBase):
    """What an archive writes, to be taken piece by piece; it cannot seek."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._at = 0

    def writable(self) -> bool:
        return True

    def write(self, piece: Any) -> int:
        content = bytes(piece)
        self._pieces.append(content)
        self._at += len(content)
        return len(content)

    def tell(self) -> int:
        return self._at

    def flush(self) -> None:
        return None

    def taken(self) -> list[bytes]:
        pieces, self._pieces = self._pieces, []
        return pieces


def entries(honest: bytes, size: int) -> Iterator[bytes]:
    """An archive whose list of arrays is so long."""
    name = b"x.npy"
    entry = struct.pack(
        "<4s4B4HL2L5H2L", b"PK\x01\x02", 20, 3, 20, 0, 0, 0, 0, 33, 0, 0, 0, len(name), 0, 0, 0, 0, 0, 0
    )
    count = size // len(entry + name)
    yield from repeated(entry + name, count * len(entry + name))
    yield struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count & 0xFFFF, count & 0xFFFF, count * len(entry + name), 0, 0)


def behind(honest: bytes, size: int) -> Iterator[bytes]:
    """An honest archive behind noise: of such a file its end is read."""
    yield from noise(honest, size)
    yield honest


ARCHIVE = BINARY | {
    "a giant x": archive("x", _npy("(134217728,)")),
    "x, and more": archive("x", _npy("(2,)")),
    "compressed x, and more": archive("x", _npy("(2,)"), zipfile.ZIP_DEFLATED, bytes(PIECE)),
    "a giant compressed x": archive("x", _npy("(134217728,)"), zipfile.ZIP_DEFLATED, bytes(PIECE)),
    "another name": archive("z", _npy("(134217728,)")),
    "a description": archive("x", b"\x93NUMPY\x02\x00\xff\xff\xff\x7f{", piece=b" " * PIECE),
    "entries": entries,
    "behind": behind,
}

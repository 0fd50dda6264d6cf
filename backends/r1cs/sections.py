"""The framing of iden3's binary files: a magic word, a version, and typed sections with their sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError, FormatError

from ..field import Field

Bytes = NDArray[np.uint8]


class SectionFile:
    """A file of sections, which is mapped into memory and checked as a whole; the field `sections` has the contents of
    the sections by type.

    Every length that a file of sections states is compared with the file's own length before anything is allocated.
    Raise FormatError for anything but a complete file with the given magic word and version, and CircuitizeError if the
    file cannot be opened. Error messages name the kind of file by the magic word, or by `extension` if one is given.
    """

    def __init__(self, path: Path, magic: bytes, version: int, extension: str | None = None) -> None:
        self.path = Path(path)
        try:
            size = self.path.stat().st_size
            whole = np.memmap(self.path, dtype=np.uint8, mode="r") if size else np.zeros(0, np.uint8)
        except OSError as error:
            raise CircuitizeError(
                f"cannot read {self.path}: {error.strerror or error}; remedy: give the path of a "
                f".{extension or magic.decode()} file"
            ) from error
        self._whole: Bytes = whole
        if bytes(whole[:4]) != magic:
            self.fail(f'the magic word "{magic.decode()}"', repr(bytes(whole[:4])))
        if self._integer(4, 4) != version:
            self.fail(f"version {version}", f"version {self._integer(4, 4)}")
        self.sections: dict[int, Bytes] = {}
        at = 12
        for _ in range(self._integer(8, 4)):
            kind, size = self._integer(at, 4), self._integer(at + 4, 8)
            left = len(whole) - at - 12
            if size > left:
                self.fail(f"{size} bytes in section {kind}", f"{left} up to the end of the file")
            if kind in self.sections:
                self.fail(f"one section of type {kind}", "two")
            self.sections[kind] = whole[at + 12 : at + 12 + size]
            at += 12 + size
        if at != len(whole):
            self.fail(f"{at} bytes", f"{len(whole)}")

    def section(self, kind: int, size: int | None = None) -> Bytes:
        """Return the content of one section; raise FormatError if the section is missing or has another size."""
        if kind not in self.sections:
            self.fail(f"a section of type {kind}", f"only types {sorted(self.sections)}")
        payload = self.sections[kind]
        if size is not None and len(payload) != size:
            self.fail(f"{size} bytes in section {kind}", f"{len(payload)}")
        return payload

    def header(self, field: Field, size: int) -> bytes:
        """Return the `size` bytes in section 1 that follow the element size and the prime, which must be those of the
        field.
        """
        payload = self.section(1).tobytes()
        width, prime = int.from_bytes(payload[:4], "little"), int.from_bytes(payload[4:-size], "little")
        if width != field.bytes:
            self.fail(f"{field.bytes} bytes per field element", f"{width}")
        if len(payload) != 4 + width + size:
            self.fail(f"{4 + width + size} bytes in section 1", f"{len(payload)}")
        if prime != field.prime:
            self.fail(f"the prime {field.prime}", f"{prime}")
        return payload[-size:]

    def fail(self, expected: str, found: str) -> NoReturn:
        """Raise a FormatError that says in one line what was expected and what was found."""
        raise FormatError(
            f"{self.path}: expected {expected}, found {found}; "
            "remedy: the file is damaged or of another kind, write it again"
        )

    def _integer(self, at: int, size: int) -> int:
        if at + size > len(self._whole):
            self.fail(f"at least {at + size} bytes", f"{len(self._whole)}")
        return int.from_bytes(self._whole[at : at + size].tobytes(), "little")


def section_chunks(
    magic: bytes, version: int, sections: Sequence[tuple[int, int, Iterable[bytes | memoryview]]]
) -> Iterator[bytes | memoryview]:
    """Yield the bytes of a file of sections; each section is given as its type, its size, and chunks of bytes with that
    total size.
    """
    yield magic + version.to_bytes(4, "little") + len(sections).to_bytes(4, "little")
    for kind, size, chunks in sections:
        yield kind.to_bytes(4, "little") + size.to_bytes(8, "little")
        written = 0
        for chunk in chunks:
            written += len(chunk)
            yield chunk
        if written != size:
            raise ValueError(f"section {kind} of {size} bytes was given {written}")

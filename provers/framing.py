"""The header with which the file of every proof begins: a magic number, a version, whether the proof is zero-knowledge,
and the digest of its circuit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.circuits.reading import TooLong, read_at_most

from .binding import digest_bytes

HEADER_BYTES = 16 + 4 + 4 + 32

P = TypeVar("P")


@dataclass(frozen=True)
class Framing:
    """The header of one kind of proof's files; `magic` is its magic number of 16 bytes."""

    name: str
    magic: bytes
    version: int
    zero_knowledge: bool

    def header(self, digest: str) -> bytes:
        """Return the bytes of a proof's header: the magic number, the version (u32), flags (u32: 1 if zero-knowledge,
        else 0) and the digest (32 bytes), all little-endian.
        """
        return self._start + digest_bytes(digest)

    @property
    def _start(self) -> bytes:
        flags = int(self.zero_knowledge)
        return self.magic + self.version.to_bytes(4, "little") + flags.to_bytes(4, "little")

    def split(self, content: bytes) -> tuple[str, bytes]:
        """Return the digest in a proof's header, and the bytes after the header. Raise FormatError unless the header of
        the proof has exactly the expected form.
        """
        if not content.startswith(self.magic):
            raise FormatError(
                f"expected a {self.name} proof to begin with {self.magic.decode()!r}, found {content[:16]!r}"
            )
        if len(content) < HEADER_BYTES:
            raise FormatError(f"expected a {self.name} proof of more than {HEADER_BYTES} bytes, found {len(content)}")
        version, flags = (int.from_bytes(content[at : at + 4], "little") for at in (16, 20))
        if (version, flags) != (self.version, int(self.zero_knowledge)):
            meaning = "zero-knowledge" if self.zero_knowledge else "not zero-knowledge"
            raise FormatError(
                f"expected a {self.name} proof of version {self.version} with flags {int(self.zero_knowledge)} "
                f"({meaning}), found version {version} with flags {flags}"
            )
        return content[24:HEADER_BYTES].hex(), content[HEADER_BYTES:]


def read_proof(path: Path, most: int, decode: Callable[[bytes], P]) -> P:
    """Return the proof in a file, if the file has at most `most` bytes.

    Raise CircuitizeError for a file that cannot be read; if `decode` raises FormatError, the message is given the
    file's name.
    """
    try:
        content = read_at_most(path, most, "a proof", "ask for the proof again")
    except TooLong:
        _named(path, decode, _beginning(path, most))
        raise
    except OSError as error:
        raise CircuitizeError(f"cannot read proof {path}: {error.strerror or error}") from error
    return _named(path, decode, content)


def _beginning(path: Path, most: int) -> bytes:
    """Return the first `most` bytes of a file that is too long: they say to which prover the proof belongs, which tells
    the user more than the length.
    """
    with Path(path).open("rb") as file:
        return file.read(most)


def _named(path: Path, decode: Callable[[bytes], P], content: bytes) -> P:
    try:
        return decode(content)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from error

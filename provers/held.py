"""Held files: everything that a verifier must hold to check a proof's or a run's folder again, without Python.

`provers/native/verify/src/held.rs` reads held files and states the format; docs/verify-anywhere.md says what a held
file is worth.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

MAGIC = b"circuitize-heldf"
VERSION = 1
SAME = "same"


@dataclass(frozen=True)
class Entry:
    """A file of a proof's folder: its path in the folder, written with `/`, the bytes that it begins with, and the
    proof behind them.

    `kind` is the proof's prover, or `same` if there is no proof: then `head` is the whole file. `own` is what that
    prover's verifier takes, each in parts: for tensor an instance, for the others a key and public values.
    """

    path: str
    kind: str
    head: bytes
    own: Sequence[Sequence[bytes]] = ()


@dataclass
class _Blobs:
    """The parts of a held file, each stored once: proofs of a run share a plan."""

    places: dict[bytes, int] = field(default_factory=dict)

    def of(self, parts: Iterable[bytes]) -> bytes:
        return _list(_number(self.places.setdefault(part, len(self.places))) for part in parts)


def encode(lines: Sequence[str], entries: Sequence[Entry]) -> bytes:
    """Return the content of a held file; `lines` are the verdict's lines, which are shown if every entry holds."""
    blobs = _Blobs()
    encoded = _list(
        _bytes(entry.path.encode())
        + _bytes(entry.kind.encode())
        + blobs.of([entry.head])
        + _list(map(blobs.of, entry.own))
        for entry in entries
    )
    content = MAGIC + _number(VERSION) + _list(_bytes(line.encode()) for line in lines)
    content += _list(map(_bytes, blobs.places)) + encoded
    return content + hashlib.sha256(content).digest()


def _number(value: int) -> bytes:
    return value.to_bytes(8, "little")


def _bytes(value: bytes) -> bytes:
    return _number(len(value)) + value


def _list(items: Iterable[bytes]) -> bytes:
    whole = list(items)
    return _number(len(whole)) + b"".join(whole)

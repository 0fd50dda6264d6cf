"""Held files: a held file contains everything that a verifier without Python must hold to check the folder of a proof
or a run again.

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
    """An entry of a held file, which stands for one file of a proof's folder: the file's path in the folder, written
    with `/`, the bytes with which the file begins, and what is needed to check the proof after these bytes.

    The `kind` of an entry is the name of the proof's prover, or `same` for a file without a proof, in which case `head`
    is the whole file. The field `own` of an entry holds the arguments of the prover's verifier, in parts: an instance
    for the tensor prover, and a key and public values for the other provers.
    """

    path: str
    kind: str
    head: bytes
    own: Sequence[Sequence[bytes]] = ()


@dataclass
class _Blobs:
    """The parts of a held file, each of which is stored once, because the proofs of a run share a plan."""

    places: dict[bytes, int] = field(default_factory=dict)

    def of(self, parts: Iterable[bytes]) -> bytes:
        return _list(_number(self.places.setdefault(part, len(self.places))) for part in parts)


def encode(lines: Sequence[str], entries: Sequence[Entry]) -> bytes:
    """Return the content of a held file; `lines` are the lines of the verdict, which are shown if the proofs of all
    entries hold.
    """
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

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
    """An entry of a held file, for a file of a proof's folder: its path in the folder, written with `/`, the bytes with
    which the file begins, and the proof behind them.

    The `kind` of an entry is the proof's prover, or `same` if there is no proof: in that case `head` is the whole file.
    The field `own` of an entry is what the prover's verifier takes, in parts: for the tensor prover an instance, for
    other provers a key and public values.
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
    """Return the content of a held file; `lines` are the verdict's lines, which are shown if every entry's proof
    holds.
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

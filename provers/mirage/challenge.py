"""The challenge of Mirage, which is a hash of a commitment, the public values and the verifying key."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from .keys import VerifyingKey

DOMAIN = b"circuitize-mirage-challenge-0001"
"""The text that is hashed first to draw Mirage's challenge: no other use of SHA-256 in this package begins with it."""

CHECKSUM_BYTES = 32


def key_hash(key: VerifyingKey) -> bytes:
    """Return the SHA-256 of a verifying key's file without its last 32 bytes, which hold this hash."""
    return sha256(key.native.encode()[:-CHECKSUM_BYTES]).digest()


def challenge(key: VerifyingKey, publics: Sequence[int], point: bytes) -> int:
    """Return the value of the last public wire, the challenge, which is below 2^253: SHA-256(DOMAIN, key, publics, D.x,
    D.y) >> 3.

    In the hash that gives Mirage's challenge, `publics` are all other public values, and `point` is the commitment D,
    as two coordinates of 32 little-endian bytes. Integers enter the hash as 32 bytes each, the most significant byte
    first. This Python definition of Mirage's challenge serves for comparison: the prover and the verifier compute the
    same challenge natively.
    """
    coordinates = (int.from_bytes(point[at : at + 32], "little") for at in (0, 32))
    integers = b"".join(value.to_bytes(32, "big") for value in (*publics, *coordinates))
    return int.from_bytes(sha256(DOMAIN + key_hash(key) + integers).digest(), "big") >> 3

"""A halo2 proof and its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from circuitize.circuits.errors import FormatError
from circuitize.circuits.files import write_whole
from circuitize.provers.framing import Framing, read_proof

if TYPE_CHECKING:
    from .keys import VerifyingKey

FRAMING = Framing("halo2", b"circuitize-hl2pf", version=1, zero_knowledge=True)
MOST_BYTES = 1 << 24
"""The most bytes of a proof that is read without a key."""

ONCE, FOR_EACH_BYTE = 1 << 13, 22
"""The constants in the bound of a proof's length, by `most_bytes` from its key."""


def most_bytes(key: bytes) -> int:
    """Return the greatest length of a proof's file for a verifying key of the given length.

    In a halo2 proof, an advice column takes 64 bytes (in the key: 4), a lookup 352 (16 or more), a cell that is read 32
    (12), and a copied column at most 224 (68); the quotient, of at most 64 points, and everything else take fewer than
    ONCE bytes.
    """
    return ONCE + FOR_EACH_BYTE * len(key)


@dataclass(frozen=True)
class Proof:
    """A halo2 proof: commitments, values and two openings, and the digest of the program to which the proof claims to
    belong.

    The `content` of a halo2 proof is its transcript: each point as two integers and each value as one integer, of 32
    big-endian bytes, the form that an Ethereum contract reads. Nothing in a proof may be believed before it is verified
    with the verifier's own key. The field `phases` of a proof holds the prover's wall-clock seconds, which the proof's
    file does not contain.
    """

    digest: str
    content: bytes
    phases: Mapping[str, float] = field(default_factory=dict, compare=False)

    prover: ClassVar[str] = "halo2"
    zero_knowledge: ClassVar[bool] = True

    def encode(self) -> bytes:
        """Return the bytes of a proof's file: the header, and the transcript."""
        return FRAMING.header(self.digest) + self.content

    @classmethod
    def decode(cls, content: bytes) -> Self:
        """Return the proof that the bytes of a file encode; raise FormatError unless the header is exact, while
        `verify` checks everything after the header.
        """
        if len(content) > MOST_BYTES:
            raise FormatError(f"expected a halo2 proof of at most {MOST_BYTES} bytes, found more")
        return cls(*FRAMING.split(content))

    @classmethod
    def read(cls, path: Path, key: VerifyingKey | None = None) -> Self:
        """Return the proof in a file; if the verifier's key is given, no more bytes are read than a proof for that key
        can have.
        """
        most = MOST_BYTES if key is None else min(MOST_BYTES, most_bytes(key.native.encode()))
        return read_proof(path, most, cls.decode)

    def write(self, path: Path) -> None:
        """Write the proof to a file, which appears complete or not at all."""
        write_whole(path, [self.encode()])

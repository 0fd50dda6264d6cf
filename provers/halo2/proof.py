"""A halo2 proof and its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Self

from circuitize.circuits.errors import FormatError
from circuitize.circuits.files import write_whole
from circuitize.provers.framing import Framing, read_proof

FRAMING = Framing("halo2", b"circuitize-hl2pf", version=1, zero_knowledge=True)
PROOF_FILE = "proof.halo2"
MOST_BYTES = 1 << 24


@dataclass(frozen=True)
class Proof:
    """Commitments, values and two openings, and the digest of the program they are claimed to be for.

    `content` is the transcript: points as two, values as one integer of 32 big-endian bytes, as an EVM reads them.
    Nothing in a proof is to be believed before it is verified against the verifier's own key. `phases` holds the
    prover's wall-clock seconds and is not stored.
    """

    digest: str
    content: bytes
    phases: Mapping[str, float] = field(default_factory=dict, compare=False)

    prover: ClassVar[str] = "halo2"
    zero_knowledge: ClassVar[bool] = True

    def encode(self) -> bytes:
        """The header, and `content`."""
        return FRAMING.header(self.digest) + self.content

    @classmethod
    def decode(cls, content: bytes) -> Self:
        """Raises FormatError unless the framing is exact; everything behind it is for `verify`."""
        if len(content) > MOST_BYTES:
            raise FormatError(f"expected a halo2 proof of at most {MOST_BYTES} bytes, found more")
        return cls(*FRAMING.split(content))

    @classmethod
    def read(cls, path: Path) -> Self:
        return read_proof(path, MOST_BYTES, cls.decode)

    def write(self, path: Path) -> None:
        write_whole(path, [self.encode()])

"""A Groth16 proof and its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Self

from circuitize.circuits.errors import FormatError
from circuitize.circuits.files import write_whole
from circuitize.provers.framing import HEADER_BYTES, Framing, read_proof

from .compression import compress, decompress

PROOF_FILE = "proof.groth16"
MAGICS = {b"circuitize-g16pf": "groth16", b"circuitize-mirpf": "mirage"}


@dataclass(frozen=True)
class Proof:
    """A Groth16 proof: three points, and the digest of the circuit for which it claims to be.

    The `points` of a Groth16 proof are A (64 bytes), B (128) and C (64), coordinates of 32 little-endian bytes. Nothing
    in a proof is to be believed before it is verified against the verifier's own key. Anyone can re-randomise a valid
    proof into another valid one: never use a proof, or its hash, as an identifier. The field `phases` of a proof holds
    the prover's wall-clock seconds and is not stored.
    """

    digest: str
    points: bytes
    zero_knowledge: bool = True
    phases: Mapping[str, float] = field(default_factory=dict, compare=False)

    prover: ClassVar[str] = "groth16"
    framing: ClassVar[Framing] = Framing("Groth16", b"circuitize-g16pf", version=2, zero_knowledge=True)
    file_bytes: ClassVar[int] = HEADER_BYTES + 128

    def compressed(self) -> bytes:
        """The points alone, as arkworks compresses them: half of `points`."""
        return compress(self.points)

    def encode(self) -> bytes:
        """The bytes of a proof's file: the header and the compressed points."""
        return self.framing.header(self.digest) + self.compressed()

    @classmethod
    def decode(cls, content: bytes) -> Self:
        """Raise FormatError unless a proof's framing is exact and its points are on their curves; `verify` checks the
        rest.
        """
        found = MAGICS.get(content[:16])
        if found not in (None, cls.prover):
            raise FormatError(f"a proof of the prover {found}, expected one of {cls.prover}")
        if len(content) != cls.file_bytes:
            raise FormatError(f"expected a {cls.framing.name} proof of {cls.file_bytes} bytes, found {len(content)}")
        digest, points = cls.framing.split(content)
        return cls(digest, decompress(points))

    @classmethod
    def read(cls, path: Path, key: object = None) -> Self:
        """Read a Groth16 proof from its file, whose length is the same for every key."""
        return read_proof(path, cls.file_bytes, cls.decode)

    def write(self, path: Path) -> None:
        """Write the proof to a file, whole or not at all."""
        write_whole(path, [self.encode()])

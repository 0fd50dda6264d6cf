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
    """A Groth16 proof: three points, and the digest of the circuit to which the proof claims to belong.

    The `points` of a Groth16 proof are A (64 bytes), B (128 bytes) and C (64 bytes), with coordinates of 32
    little-endian bytes. Nothing in a proof may be believed before it is verified with the verifier's own key. Anyone
    can turn a valid Groth16 proof into another valid proof of the same statement: never use a proof, or its hash, as an
    identifier. The field `phases` of a proof holds the prover's wall-clock seconds, which the proof's file does not
    contain.
    """

    digest: str
    points: bytes
    zero_knowledge: bool = True
    phases: Mapping[str, float] = field(default_factory=dict, compare=False)

    prover: ClassVar[str] = "groth16"
    framing: ClassVar[Framing] = Framing("Groth16", b"circuitize-g16pf", version=2, zero_knowledge=True)
    file_bytes: ClassVar[int] = HEADER_BYTES + 128

    def compressed(self) -> bytes:
        """Return the points of the proof, compressed as by arkworks to half the length of `points`."""
        return compress(self.points)

    def encode(self) -> bytes:
        """Return the bytes of a proof's file: the header and the compressed points."""
        return self.framing.header(self.digest) + self.compressed()

    @classmethod
    def decode(cls, content: bytes) -> Self:
        """Return the proof that the bytes of a file encode; raise FormatError unless the header is exact and the points
        are on their curves, while `verify` checks the rest.
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
        """Write the proof to a file, which appears complete or not at all."""
        write_whole(path, [self.encode()])

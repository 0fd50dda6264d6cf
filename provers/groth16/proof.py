"""A Groth16 proof and its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.circuits.files import write_whole

from .config import digest_bytes

MAGIC = b"circuitize-g16pf"
VERSION = 1
ZERO_KNOWLEDGE = 1
POINT_BYTES = 256
FILE_BYTES = len(MAGIC) + 4 + 4 + 32 + POINT_BYTES


@dataclass(frozen=True)
class Proof:
    """Three points, and the digest of the circuit they are claimed to be for.

    `points` is A (64 bytes), B (128) and C (64), coordinates of 32 little-endian bytes. Nothing in a proof is
    to be believed before it is verified against the verifier's own key. Anyone can re-randomise a valid proof
    into another valid one: never use a proof, or its hash, as an identifier. `phases` holds the prover's
    wall-clock seconds and is not stored.
    """

    digest: str
    points: bytes
    zero_knowledge: bool = True
    phases: Mapping[str, float] = field(default_factory=dict, compare=False)

    def encode(self) -> bytes:
        """Magic, version (u32), flags (u32: 1, zero knowledge), digest, points: 312 bytes, little-endian."""
        header = MAGIC + VERSION.to_bytes(4, "little") + ZERO_KNOWLEDGE.to_bytes(4, "little")
        return header + digest_bytes(self.digest) + self.points

    @staticmethod
    def decode(content: bytes) -> Proof:
        """Raises FormatError unless the framing is exact; whether the points make sense is for `verify`."""
        if len(content) != FILE_BYTES:
            raise FormatError(f"expected a Groth16 proof of {FILE_BYTES} bytes, found {len(content)}")
        if not content.startswith(MAGIC):
            raise FormatError(f"expected a Groth16 proof to begin with {MAGIC.decode()!r}, found {content[:16]!r}")
        version, flags = (int.from_bytes(content[at : at + 4], "little") for at in (16, 20))
        if (version, flags) != (VERSION, ZERO_KNOWLEDGE):
            raise FormatError(
                f"expected a Groth16 proof of version {VERSION} with flags {ZERO_KNOWLEDGE}, found version "
                f"{version} with flags {flags}"
            )
        return Proof(content[24:56].hex(), content[56:])

    @staticmethod
    def read(path: Path) -> Proof:
        try:
            with Path(path).open("rb") as file:
                content = file.read(FILE_BYTES + 1)
        except OSError as error:
            raise CircuitizeError(f"cannot read proof {path}: {error.strerror or error}") from error
        try:
            return Proof.decode(content)
        except FormatError as error:
            raise FormatError(f"{path}: {error}") from error

    def write(self, path: Path) -> None:
        write_whole(path, [self.encode()])

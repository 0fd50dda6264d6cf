"""A Groth16 proof and its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Self

from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.circuits.files import write_whole

from .compression import compress, decompress
from .config import digest_bytes

VERSION = 2
ZERO_KNOWLEDGE = 1
HEADER_BYTES = 16 + 4 + 4 + 32
MAGICS = {b"circuitize-g16pf": "groth16", b"circuitize-mirpf": "mirage"}


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

    prover: ClassVar[str] = "groth16"
    name: ClassVar[str] = "Groth16"
    magic: ClassVar[bytes] = b"circuitize-g16pf"
    file_bytes: ClassVar[int] = HEADER_BYTES + 128

    def compressed(self) -> bytes:
        """The points alone, as arkworks compresses them: half of `points`."""
        return compress(self.points)

    def encode(self) -> bytes:
        """Magic, version (u32), flags (u32: 1, zero knowledge), digest, `compressed`: `file_bytes`, little-endian."""
        header = self.magic + VERSION.to_bytes(4, "little") + ZERO_KNOWLEDGE.to_bytes(4, "little")
        return header + digest_bytes(self.digest) + self.compressed()

    @classmethod
    def decode(cls, content: bytes) -> Self:
        """Raises FormatError unless the framing is exact and points are on their curves; the rest is for `verify`."""
        found = MAGICS.get(content[:16])
        if found not in (None, cls.prover):
            raise FormatError(f"a proof of the prover {found}, expected one of {cls.prover}")
        if len(content) != cls.file_bytes:
            raise FormatError(f"expected a {cls.name} proof of {cls.file_bytes} bytes, found {len(content)}")
        if not content.startswith(cls.magic):
            raise FormatError(
                f"expected a {cls.name} proof to begin with {cls.magic.decode()!r}, found {content[:16]!r}"
            )
        version, flags = (int.from_bytes(content[at : at + 4], "little") for at in (16, 20))
        if (version, flags) != (VERSION, ZERO_KNOWLEDGE):
            raise FormatError(
                f"expected a {cls.name} proof of version {VERSION} with flags {ZERO_KNOWLEDGE}, found version "
                f"{version} with flags {flags}"
            )
        return cls(content[24:HEADER_BYTES].hex(), decompress(content[HEADER_BYTES:]))

    @classmethod
    def read(cls, path: Path) -> Self:
        try:
            with Path(path).open("rb") as file:
                content = file.read(cls.file_bytes + 1)
        except OSError as error:
            raise CircuitizeError(f"cannot read proof {path}: {error.strerror or error}") from error
        try:
            return cls.decode(content)
        except FormatError as error:
            raise FormatError(f"{path}: {error}") from error

    def write(self, path: Path) -> None:
        write_whole(path, [self.encode()])

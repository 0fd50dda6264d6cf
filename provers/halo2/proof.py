"""A halo2 proof and its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Self

from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.circuits.files import write_whole
from circuitize.provers.groth16.config import digest_bytes

MAGIC = b"circuitize-hl2pf"
VERSION = 1
ZERO_KNOWLEDGE = 1
HEADER_BYTES = 16 + 4 + 4 + 32
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
        """Magic, version (u32), flags (u32: 1, zero knowledge), digest, `content`; little-endian."""
        header = MAGIC + VERSION.to_bytes(4, "little") + ZERO_KNOWLEDGE.to_bytes(4, "little")
        return header + digest_bytes(self.digest) + self.content

    @classmethod
    def decode(cls, content: bytes) -> Self:
        """Raises FormatError unless the framing is exact; everything behind it is for `verify`."""
        if len(content) > MOST_BYTES:
            raise FormatError(f"expected a halo2 proof of at most {MOST_BYTES} bytes, found more")
        if not content.startswith(MAGIC):
            raise FormatError(f"expected a halo2 proof to begin with {MAGIC.decode()!r}, found {content[:16]!r}")
        if len(content) < HEADER_BYTES:
            raise FormatError(f"expected a halo2 proof of more than {HEADER_BYTES} bytes, found {len(content)}")
        version, flags = (int.from_bytes(content[at : at + 4], "little") for at in (16, 20))
        if (version, flags) != (VERSION, ZERO_KNOWLEDGE):
            raise FormatError(
                f"expected a halo2 proof of version {VERSION} with flags {ZERO_KNOWLEDGE}, found version {version} "
                f"with flags {flags}"
            )
        return cls(content[24:HEADER_BYTES].hex(), content[HEADER_BYTES:])

    @classmethod
    def read(cls, path: Path) -> Self:
        try:
            with Path(path).open("rb") as file:
                content = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise CircuitizeError(f"cannot read proof {path}: {error.strerror or error}") from error
        try:
            return cls.decode(content)
        except FormatError as error:
            raise FormatError(f"{path}: {error}") from error

    def write(self, path: Path) -> None:
        write_whole(path, [self.encode()])

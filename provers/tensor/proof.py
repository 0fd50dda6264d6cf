"""A tensor proof and its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.circuits.files import write_whole

MAGIC = b"circuitize-tenpf"
VERSION = 1
NOT_ZERO_KNOWLEDGE = 0
HEADER_BYTES = len(MAGIC) + 4 + 4 + 32 + 8
MOST_BYTES = 1 << 28


@dataclass(frozen=True)
class Proof:
    """The prover's messages, and the digest of the program they are claimed to be for. NOT zero-knowledge.

    The messages have no framing: how long each is follows from the verifier's own program. `phases` holds the
    prover's wall-clock seconds and is not stored.
    """

    digest: str
    messages: bytes
    phases: Mapping[str, float] = field(default_factory=dict, compare=False)

    @property
    def zero_knowledge(self) -> bool:
        return False

    def encode(self) -> bytes:
        """Magic, version (u32), flags (u32: 0, not zero-knowledge), program digest, length (u64), messages."""
        head = MAGIC + VERSION.to_bytes(4, "little") + NOT_ZERO_KNOWLEDGE.to_bytes(4, "little")
        return head + bytes.fromhex(self.digest) + len(self.messages).to_bytes(8, "little") + self.messages

    @staticmethod
    def decode(content: bytes) -> Proof:
        """Raises FormatError unless the framing is exact; what the messages say is for `verify`."""
        if len(content) < HEADER_BYTES or not content.startswith(MAGIC):
            raise FormatError(f"expected a tensor proof to begin with {MAGIC.decode()!r}, found {content[:16]!r}")
        version, flags = (int.from_bytes(content[at : at + 4], "little") for at in (16, 20))
        if (version, flags) != (VERSION, NOT_ZERO_KNOWLEDGE):
            raise FormatError(
                f"expected a tensor proof of version {VERSION} with flags {NOT_ZERO_KNOWLEDGE} (not zero-knowledge), "
                f"found version {version} with flags {flags}"
            )
        length = int.from_bytes(content[56:64], "little")
        if len(content) != HEADER_BYTES + length:
            raise FormatError(f"expected {length} bytes of messages, found {len(content) - HEADER_BYTES}")
        return Proof(content[24:56].hex(), content[64:])

    @staticmethod
    def read(path: Path) -> Proof:
        try:
            with Path(path).open("rb") as file:
                content = file.read(MOST_BYTES)
        except OSError as error:
            raise CircuitizeError(f"cannot read proof {path}: {error.strerror or error}") from error
        try:
            return Proof.decode(content)
        except FormatError as error:
            raise FormatError(f"{path}: {error}") from error

    def write(self, path: Path) -> None:
        write_whole(path, [self.encode()])

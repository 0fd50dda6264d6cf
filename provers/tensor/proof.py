"""A tensor proof and its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from circuitize.circuits.errors import FormatError
from circuitize.circuits.files import write_whole
from circuitize.provers import framing
from circuitize.provers.framing import Framing, read_proof

from .roots import CHUNKS

MAGIC = b"circuitize-tenpf"
PLAIN = Framing("tensor", MAGIC, version=5, zero_knowledge=False)
HIDING = Framing("tensor", MAGIC, version=8, zero_knowledge=True)
FLAGS = len(MAGIC) + 4
HEADER_BYTES = framing.HEADER_BYTES + 8 + 8
PROOF_FILE = "proof.tensor"
MOST_BYTES = 1 << 28


@dataclass(frozen=True)
class Proof:
    """The prover's messages, the digest of the program for which the proof claims to be, and whether the proof hides
    the program's values.

    The messages of a tensor proof have no framing: how long each is follows from the verifier's own program. The field
    `phases` of a proof holds the prover's wall-clock seconds and is not stored.
    """

    digest: str
    messages: bytes
    phases: Mapping[str, float] = field(default_factory=dict, compare=False)
    zero_knowledge: bool = False

    def encode(self) -> bytes:
        """The bytes of a tensor proof's file: the header, the number of chunks and the length of the messages (u64
        each, little-endian), and the messages.
        """
        numbers = CHUNKS.to_bytes(8, "little") + len(self.messages).to_bytes(8, "little")
        framing = HIDING if self.zero_knowledge else PLAIN
        return framing.header(self.digest) + numbers + self.messages

    @staticmethod
    def decode(content: bytes) -> Proof:
        """Raise FormatError unless the framing of a proof's file is exact; `verify` checks the content of the
        messages.
        """
        # Of a version of before too, so that what is said is of its kind.
        hides = content[FLAGS : FLAGS + 4] == (1).to_bytes(4, "little")
        digest, rest = (HIDING if hides else PLAIN).split(content)
        chunks, length, messages = int.from_bytes(rest[:8], "little"), int.from_bytes(rest[8:16], "little"), rest[16:]
        if chunks != CHUNKS:
            raise FormatError(f"expected a tensor proof of {CHUNKS} chunk, found {chunks}; a newer version reads it")
        if len(rest) < 16 or len(messages) != length:
            raise FormatError(f"expected {length} bytes of messages, found {len(messages)}")
        return Proof(digest, messages, zero_knowledge=hides)

    @staticmethod
    def read(path: Path, most: int = MOST_BYTES) -> Proof:
        """Verifiers bound the length of a proof's file, by `cost.most_bytes` of their own plan."""
        return read_proof(path, most, Proof.decode)

    def write(self, path: Path) -> None:
        """Write the proof to a file, whole or not at all."""
        write_whole(path, [self.encode()])

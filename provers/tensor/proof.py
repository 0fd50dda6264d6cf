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
    """A tensor proof: the prover's messages, the digest of the program to which the proof claims to belong, and whether
    the proof hides the program's values.

    The messages of a tensor proof are stored without their lengths, which follow from the verifier's own program. The
    field `phases` of a proof holds the prover's wall-clock seconds, which the proof's file does not contain.
    """

    digest: str
    messages: bytes
    phases: Mapping[str, float] = field(default_factory=dict, compare=False)
    zero_knowledge: bool = False

    def encode(self) -> bytes:
        """Return the bytes of a tensor proof's file: the header, the number of chunks and the length of the messages
        (u64 each, little-endian), and the messages.
        """
        numbers = CHUNKS.to_bytes(8, "little") + len(self.messages).to_bytes(8, "little")
        framing = HIDING if self.zero_knowledge else PLAIN
        return framing.header(self.digest) + numbers + self.messages

    @staticmethod
    def decode(content: bytes) -> Proof:
        """Return the proof that the bytes of a file encode; raise FormatError unless the header is exact, while
        `verify` checks the messages.
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
        """Return the proof in a file of at most `most` bytes; verifiers limit this length to `cost.most_bytes` of their
        own plan.
        """
        return read_proof(path, most, Proof.decode)

    def write(self, path: Path) -> None:
        """Write the proof to a file, which appears complete or not at all."""
        write_whole(path, [self.encode()])

"""A Mirage proof, which is a Groth16 proof with a commitment, and its file."""

from __future__ import annotations

from typing import ClassVar

from circuitize.provers.framing import HEADER_BYTES, Framing
from circuitize.provers.groth16 import proof as groth16


class Proof(groth16.Proof):
    """A Mirage proof: the three points of a Groth16 proof, and the commitment; `points` consists of A (64 bytes), B
    (128 bytes), C (64 bytes) and D (64 bytes).
    """

    prover: ClassVar[str] = "mirage"
    framing: ClassVar[Framing] = Framing("Mirage", b"circuitize-mirpf", version=2, zero_knowledge=True)
    file_bytes: ClassVar[int] = HEADER_BYTES + 160

"""A proof with a commitment, and its file."""

from __future__ import annotations

from typing import ClassVar

from circuitize.provers.framing import HEADER_BYTES, Framing
from circuitize.provers.groth16 import proof as groth16


class Proof(groth16.Proof):
    """Groth16's three points, and the commitment: `points` is A (64 bytes), B (128), C (64) and D (64)."""

    prover: ClassVar[str] = "mirage"
    framing: ClassVar[Framing] = Framing("Mirage", b"circuitize-mirpf", version=2, zero_knowledge=True)
    file_bytes: ClassVar[int] = HEADER_BYTES + 160

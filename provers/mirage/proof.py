"""A proof with a commitment, and its file."""

from __future__ import annotations

from typing import ClassVar

from circuitize.provers.groth16 import proof as groth16


class Proof(groth16.Proof):
    """Groth16's three points, and the commitment: `points` is A (64 bytes), B (128), C (64) and D (64)."""

    prover: ClassVar[str] = "mirage"
    name: ClassVar[str] = "Mirage"
    magic: ClassVar[bytes] = b"circuitize-mirpf"
    file_bytes: ClassVar[int] = groth16.HEADER_BYTES + 160

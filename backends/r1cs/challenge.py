"""Where a circuit's challenge comes from."""

from __future__ import annotations

from enum import Enum


class Challenge(Enum):
    """What a constraint system may test at a random point, and who draws the point.

    NONE: nothing. HASHED: large contractions, at a point that the circuit hashes itself, where that saves rows; any
    prover of R1CS will do. COMMITTED: contractions and range checks, at a point drawn after a commitment to the first
    part of the witness: for a prover of two phases only (`ConstraintSystem.committed`).
    """

    NONE = "none"
    HASHED = "hashed"
    COMMITTED = "committed"

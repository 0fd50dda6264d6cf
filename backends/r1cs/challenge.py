"""Where the challenge of an R1CS circuit comes from."""

from __future__ import annotations

from enum import Enum


class Challenge(Enum):
    """What a constraint system may test at a random point, and who draws that point.

    With NONE, nothing is tested at a random point. With HASHED, large contractions are tested, at a point that the
    circuit hashes itself, if that saves rows; any prover of R1CS will do. With COMMITTED, contractions and range checks
    are tested, at a point drawn after a commitment to the first part of the witness: for a prover of two phases only
    (`ConstraintSystem.committed`).
    """

    NONE = "none"
    HASHED = "hashed"
    COMMITTED = "committed"

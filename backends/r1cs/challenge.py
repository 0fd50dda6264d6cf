"""The origin of the challenge of an R1CS circuit: none, a hash in the circuit, or a commitment."""

from __future__ import annotations

from enum import Enum


class Challenge(Enum):
    """The kinds of constraint systems by what they may test at a random point, and by how that point is drawn.

    With NONE, a constraint system tests nothing at a random point. With HASHED, large contractions are tested, if that
    saves rows, at a point that the circuit itself computes as a hash, so that any prover of R1CS can be used. With
    COMMITTED, contractions and range checks are tested at a point that is drawn after a commitment to the first part of
    the witness, which needs a prover of two phases (`ConstraintSystem.committed`).
    """

    NONE = "none"
    HASHED = "hashed"
    COMMITTED = "committed"

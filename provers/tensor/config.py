"""The constants that all tensor proofs share: the type's tag, and the parameters of commitments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from circuitize.backends.tensor.groups import LEAST_VARIABLES

PROOF_TYPE = "circuitize tensor proof 5: succinct, NOT zero-knowledge"
"""The tag of a proof that is not in zero knowledge."""

HIDDEN_TYPE = "circuitize tensor proof 8: succinct, zero-knowledge"

GEOMETRY = "rates 1/4 of 2^13 to 2^17 points, else 1/2; vectors 1/4, 1/8, ...; the last, of at most 3072, is sent"
"""The sizes of tables and vectors in a proof, as a text that is part of the statement's digest."""

HIDDEN_GEOMETRY = (
    "rates of lengths; sizes for 1/4 up to 2^17 points, else 1/2; the narrowest leaves of 2 to 16 that make no larger "
    "tree; vectors 1/4, 1/8, ...; blocks behind lengths; the last, of at most 3072, as tables"
)
"""The sizes for zero-knowledge proofs, whose tables never have fewer than 2^13 points at rate 1/4."""

DEGREES = (2, 3)
NONRESIDUE = 7
"""Challenges come from an extension of the Goldilocks field, of degree 2 or 3."""

FOLD = 4
"""The number of variables that a proof folds at once; a leaf of a tree holds 2^FOLD symbols, and fewer in some
tables.
"""

QUERY_BITS = 106
"""The bits of soundness of the queries to one oracle, enough for the union over all oracles to keep the security
level.
"""

MOST_CLAIMS = {2: 1 << 18, 3: 1 << 22}
"""The most claims on tensors in a proof, by the degree of the challenges' field: the error of batching them is bounded
by this number.
"""

ROUND_BITS = 100
UNION_BITS = 98
RUN_BITS = 96
"""The least bits of soundness of one term of a proof, of a whole proof, and of all proofs of a run together."""


def parameters(degree: int) -> str:
    """Return all parameters of tensor proofs in one text, which is part of the statement's digest: no parameter is read
    from a proof.
    """
    return (
        f"goldilocks^{degree} by {NONRESIDUE}; blake3 by contexts; unique decoding, fold {FOLD}, "
        f"least {LEAST_VARIABLES}, query bits {QUERY_BITS}; claims {MOST_CLAIMS[degree]}; "
        f"rounds {ROUND_BITS}, union {UNION_BITS}"
    )


Sizes = tuple[int, int, int, int, int, int]


class Geometry(NamedTuple):
    """The layout of a committed table, or of a vector in an opening: where its random elements begin, how many there
    are, and its domain.

    In the layout of a table, each leaf has 2^fold symbols, and the domain has 2^(bits + rate) points. A vector that is
    sent in the clear has no domain: its rate and its queries are 0.
    """

    end: int
    random: int
    fold: int
    bits: int
    rate: int
    queries: int

    @property
    def length(self) -> int:
        """Return the number of coefficients of a table's polynomials in zero knowledge, which is no less than that of
        the carried pads beside them.
        """
        return max(self.end, 2 * FOLD << self.fold) + self.random


@dataclass(frozen=True)
class Layout:
    """The sizes of a proof: its tables and vectors, and, in zero knowledge, the counts of numbers, products and
    equations.
    """

    tables: Sequence[Geometry]
    vectors: Sequence[Geometry]
    numbers: int
    products: int
    equations: int

    @staticmethod
    def of(tables: Sequence[Sizes], vectors: Sequence[Sizes], counts: tuple[int, int, int]) -> Layout:
        """Return the layout of a proof, given the sizes of its tables and vectors and its counts of numbers, products
        and equations.
        """
        return Layout([Geometry(*one) for one in tables], [Geometry(*one) for one in vectors], *counts)


@dataclass(frozen=True)
class Bound:
    """One source of a proof's soundness error; this part of the error is at most 2^-bits."""

    name: str
    bits: float

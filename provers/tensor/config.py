"""What is fixed for every proof of this type: its tag, its field, and the parameters of its commitments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

PROOF_TYPE = "circuitize tensor proof 2: succinct, NOT zero-knowledge"
"""The tag of a proof that is not in zero knowledge."""

HIDDEN_TYPE = "circuitize tensor proof 3: succinct, zero-knowledge"

GEOMETRY = "rates 1/4 up to 2^17 points, else 1/2; vectors 1/8, 1/32, ...; the last, of at most 2^10, from 1/16 on"
"""How large the tables and vectors of zero-knowledge proofs are, part of the statement's digest."""

PRIME = 2**64 - 2**32 + 1
"""The Goldilocks field; challenges come from an extension of it, by a square or a cube root of 7."""

DEGREES = (2, 3)
NONRESIDUE = 7
FOLD = 4
"""Variables that WHIR folds in a round; a leaf of its trees holds 2^FOLD symbols."""

SHRINK = 2
"""The domain of an oracle is 2^SHRINK times smaller than the one before."""

LEAST_VARIABLES = 8
LAST_VARIABLES = 6
QUERY_BITS = 106
"""Bits of soundness of the queries to one oracle, so that the union over all of them keeps the security level."""

MOST_CLAIMS = {2: 1 << 18, 3: 1 << 22}
"""No proof may need more claims on tensors than that, by the degree: the error of batching them is bounded by it."""

ROUND_BITS = 100
UNION_BITS = 98


def parameters(degree: int) -> str:
    """All parameters in one text, part of the statement's digest: nothing of it is read from a proof."""
    return (
        f"goldilocks^{degree} by {NONRESIDUE}; blake3 by contexts; whir rate 1/2, unique decoding, fold {FOLD}, "
        f"shrink {SHRINK}, least {LEAST_VARIABLES}, last {LAST_VARIABLES}, query bits {QUERY_BITS}; "
        f"claims {MOST_CLAIMS[degree]}; rounds {ROUND_BITS}, union {UNION_BITS}"
    )


def rounds(variables: int) -> int:
    """How often WHIR folds a polynomial of so many variables."""
    return max(1, -(-max(0, variables - LAST_VARIABLES) // FOLD))


def rate_bits(round: int) -> int:
    """The oracle of this round has rate 2^-rate_bits."""
    return 1 + (FOLD - SHRINK) * round


def queries(round: int) -> int:
    """How many places of the oracle of this round are asked."""
    return math.ceil(QUERY_BITS / -math.log2((1 + 0.5 ** rate_bits(round)) / 2))


Sizes = tuple[int, int, int, int, int]


class Geometry(NamedTuple):
    """A table, or a vector of an opening: where random elements begin, how many there are, and its domain."""

    end: int
    random: int
    bits: int
    rate: int
    queries: int


@dataclass(frozen=True)
class Layout:
    """The sizes of a proof in zero knowledge: tables, vectors, and how many numbers, products and equations."""

    tables: Sequence[Geometry]
    vectors: Sequence[Geometry]
    numbers: int
    products: int
    equations: int

    @staticmethod
    def of(tables: Sequence[Sizes], vectors: Sequence[Sizes], counts: tuple[int, int, int]) -> Layout:
        return Layout([Geometry(*one) for one in tables], [Geometry(*one) for one in vectors], *counts)


@dataclass(frozen=True)
class Bound:
    """One source of soundness error: at most 2^-bits."""

    name: str
    bits: float

"""The soundness error of a tensor proof, term by term: upper bounds for any dishonest prover, in the random-oracle
model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from circuitize.backends.tensor.errors import Unprovable
from circuitize.backends.tensor.forms import PRIME, Product, padded_bits

from .config import (
    DEGREES,
    FOLD,
    MOST_CLAIMS,
    QUERY_BITS,
    ROUND_BITS,
    RUN_BITS,
    UNION_BITS,
    Bound,
    Geometry,
)

if TYPE_CHECKING:
    from .plan import Plan


def field_bits(made: Plan) -> float:
    """Return the size, in bits, of the extension field from which challenges are drawn."""
    return made.degree * math.log2(PRIME)


def bounds(made: Plan) -> list[Bound]:
    """Return each source of a proof's soundness error, with the bits that bound it. A challenge that is an element of
    the extension field errs with probability at most (degree or count) / (size of the field).
    """
    field, most_claims = field_bits(made), MOST_CLAIMS[made.degree]
    found = list(_lookups(made))
    zeros = max((padded_bits(made.forms[form].shape) for form in made.zeros), default=0)
    if made.zeros:
        found.append(Bound("equations at a point", field - math.log2(zeros + len(made.zeros))))
    products = [base for base in made.bases if isinstance(base, Product)]
    if products:
        # Cubic, in at most 60 variables each, fewer than claims; both verifiers refuse more claims than that.
        found.append(Bound("claims on one product", field - math.log2(most_claims)))
        found.append(Bound("product sumchecks", field - math.log2(3 * 60 * most_claims)))
    return [*found, *_opening(made, field, most_claims)]


def _opening(made: Plan, field: float, most_claims: int) -> Iterator[Bound]:
    """Yield the errors of the joint opening, and in zero knowledge those of the masks: see docs/zero-knowledge.md, "It
    is sound", and docs/tensor.md.
    """
    layout, hidden = made.layout, made.hidden
    missed = partial(_missed, hidden)
    if hidden:
        yield Bound("masks: products", field - math.log2(1 + layout.equations))
        yield Bound("masks: equations", field - math.log2(1 + layout.equations + 2 * layout.products))
    yield Bound("batching of claims", field - math.log2(1 + most_claims))
    sources = [(f"commitment {number}", table) for number, table in enumerate(layout.tables)]
    for number, vector in enumerate(layout.vectors):
        own, last = sources[-1]
        asked = sum(source.queries for _, source in sources) + (last.queries if hidden else 0)
        yield Bound(f"vector {number}: combination", field - math.log2(1 + asked))
        for name, source in sources:
            # Each fold halves the domain: that / |field| of correlated agreement, and as much again for where it is.
            # Rounds of the sumcheck are four, also where a narrow table is folded in fewer.
            folding = sum(1 << (source.bits + source.rate - step) for step in range(source.fold)) + 2 * FOLD
            yield Bound(f"{name}: folding", field - math.log2(folding))
            yield Bound(f"{name}: queries", missed(source))
        if hidden:
            yield Bound(f"{own}: carried pads", missed(last))
        sources = [(f"vector {number}", vector)]
    ((name, last),) = sources
    if hidden:
        yield Bound(f"{name}: mask", field - math.log2((2 << (last.bits + last.rate)) + 1))
        yield Bound(f"{name}: queries", missed(last))
    yield Bound(f"{name}: last sumcheck", field - math.log2(2 * last.bits))


def _missed(hidden: bool, table: Geometry) -> float:
    """Return the bits of soundness of the queries to a table, from its rate: the error is the probability that all
    queries miss the errors of a word outside the unique-decoding radius.

    The rate of a hiding table follows from the number of coefficients of its polynomials, and that of any other table
    from the next power of two.
    """
    rate = table.length / (1 << (table.bits + table.rate)) if hidden else 0.5**table.rate
    miss = -table.queries * math.log2((1 + rate) / 2)
    assert miss >= QUERY_BITS
    return miss


def _lookups(made: Plan) -> Iterator[Bound]:
    if not made.lookups:
        return
    yield Bound("lookups: alpha and beta", field_bits(made) - math.log2(3 * made.fractions))
    depth = made.fractions.bit_length()
    yield Bound("lookups: tree of fractions", field_bits(made) - math.log2(depth * (3 * depth + 2)))


def union(found: list[Bound]) -> float:
    """Return the bits of soundness that remain when all the errors are added."""
    return -math.log2(sum(2.0**-bound.bits for bound in found))


def _enough(found: list[Bound]) -> bool:
    return min(bound.bits for bound in found) >= ROUND_BITS and union(found) >= UNION_BITS


def least_degree(made: Plan) -> int:
    """Return the least degree of the extension field for which the plan's claims are allowed and its errors are small
    enough.

    The degree of the extension field follows from the plan, and the plan follows from the program: a verifier never
    takes the degree from a proof. If no degree is sufficient, return the greatest degree, which `require_secure` then
    refuses. Raise Unprovable for more claims than any degree allows.
    """
    needed = made.claimed.claims
    secure = (d for d in DEGREES if needed <= MOST_CLAIMS[d] and _enough(bounds(made.over(d))))
    return next(secure, DEGREES[-1])


def for_a_run(made: Plan, proofs: int) -> Plan:
    """Return a plan for a run of `proofs` proofs, with a greater degree of the extension field if all proofs together
    would otherwise have fewer than 96 bits of soundness.
    """
    needed = RUN_BITS + math.log2(proofs)
    others = (made.over(degree) for degree in DEGREES if degree > made.degree)
    return made if union(bounds(made)) >= needed else next((o for o in others if union(bounds(o)) >= needed), made)


def require_secure(made: Plan) -> None:
    """Raise Unprovable if a single source of soundness error leaves fewer than 100 bits, or all sources together fewer
    than 98.
    """
    found = bounds(made)
    if not _enough(found):
        worst = min(found, key=lambda bound: bound.bits)
        raise Unprovable(
            f"expected {ROUND_BITS} bits of soundness per round and {UNION_BITS} together, found {worst.bits:.1f} "
            f"({worst.name}) and {union(found):.1f}; prove a smaller program"
        )

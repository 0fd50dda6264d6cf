"""The soundness error of a proof, term by term: an upper bound for any prover, in the random-oracle model."""

from __future__ import annotations

import math
from collections.abc import Iterator

from .config import (
    EXTENSION,
    FOLD,
    MOST_CLAIMS,
    PRIME,
    QUERY_BITS,
    ROUND_BITS,
    SHRINK,
    UNION_BITS,
    Bound,
    queries,
    rate_bits,
    rounds,
)
from .errors import Unprovable
from .forms import Product, padded_bits
from .plan import Plan

FIELD_BITS = EXTENSION * math.log2(PRIME)


def bounds(made: Plan) -> list[Bound]:
    """Each source of error with its bits. A challenge that is an element errs with (degree or count) / field."""
    found = list(_lookups(made))
    zeros = max((padded_bits(made.forms[form].shape) for form in made.zeros), default=0)
    if made.zeros:
        found.append(Bound("equations at a point", FIELD_BITS - math.log2(max(1, zeros) * len(made.zeros))))
    products = [base for base in made.bases if isinstance(base, Product)]
    if products:
        # Cubic, in at most 60 variables each; both verifiers refuse more claims than that.
        found.append(Bound("product sumchecks", FIELD_BITS - math.log2(3 * 60 * MOST_CLAIMS)))
    for number, variables in enumerate(made.commitments):
        found += _opening(f"commitment {number}", variables)
    return found


def _lookups(made: Plan) -> Iterator[Bound]:
    if not made.lookups:
        return
    fractions = sum(1 << padded_bits(made.forms[lookup.key].shape) for lookup in made.lookups)
    fractions += sum(1 << (table.size - 1).bit_length() for table in made.tables)
    yield Bound("lookups: alpha and beta", FIELD_BITS - math.log2(2 * fractions))
    depth = fractions.bit_length()
    yield Bound("lookups: tree of fractions", FIELD_BITS - math.log2(depth * (3 * depth + 2)))


def _opening(name: str, variables: int) -> Iterator[Bound]:
    """WHIR in the unique-decoding regime: eprint 2024/1586, section 5; proximity gaps: eprint 2020/654, theorem 4.1."""
    yield Bound(f"{name}: batching of claims", FIELD_BITS - math.log2(MOST_CLAIMS))
    bits = variables + 1
    for round in range(rounds(variables)):
        # Each of the FOLD steps: |domain| / |field| for correlated agreement, 2 / |field| for its sumcheck round.
        steps = sum((1 << (bits - step)) + 2 for step in range(FOLD))
        yield Bound(f"{name} round {round}: folding", FIELD_BITS - math.log2(steps))
        miss = -queries(round) * math.log2((1 + 0.5 ** rate_bits(round)) / 2)
        assert miss >= QUERY_BITS
        yield Bound(f"{name} round {round}: queries", miss)
        yield Bound(f"{name} round {round}: combination", FIELD_BITS - math.log2(queries(round) + 1))
        bits -= SHRINK
    yield Bound(f"{name}: last sumcheck", FIELD_BITS - math.log2(2 * variables))


def union(found: list[Bound]) -> float:
    """The bits of the sum of all errors."""
    return -math.log2(sum(2.0**-bound.bits for bound in found))


def require_secure(made: Plan) -> None:
    """Raises Unprovable where a term has fewer than 100 bits, or all together fewer than 98."""
    found = bounds(made)
    worst = min(found, key=lambda bound: bound.bits)
    total = union(found)
    if worst.bits < ROUND_BITS or total < UNION_BITS:
        raise Unprovable(
            f"expected {ROUND_BITS} bits of soundness per round and {UNION_BITS} together, found {worst.bits:.1f} "
            f"({worst.name}) and {total:.1f}; prove a smaller program"
        )

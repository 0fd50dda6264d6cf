"""What a tensor proof of a program commits to, looks up and weighs, from its plan, before anything is proved."""

from __future__ import annotations

from circuitize.circuits.program import Program

from .config import FOLD, queries, rounds
from .flow import claimed_elements
from .forms import padded_bits
from .plan import Plan, plan
from .proof import HEADER_BYTES
from .security import bounds, union

SYMBOLS = 1 << FOLD
ELEMENT, DIGEST, SALT = 16, 32, 16


def estimate(program: Program) -> dict[str, float]:
    """Elements committed and looked up, as they are; bytes of a proof as expected, within a few per cent.

    Which places are asked is drawn, so the number of distinct ones, and of nodes of Merkle trees, is an expectation;
    all else is exact. Raises Unprovable for a program that has no plan.
    """
    made = plan(program)
    return {
        "committed": made.committed,
        "lookups": made.looked_up,
        "proof_bytes": round(proof_bytes(made)),
        "security_bits": round(union(bounds(made)), 1),
    }


def proof_bytes(made: Plan) -> float:
    """The expected length of a proof's file."""
    fractions = sum(1 << padded_bits(made.forms[lookup.key].shape) for lookup in made.lookups)
    fractions += sum(1 << (table.size - 1).bit_length() for table in made.tables)
    depth = (fractions - 1).bit_length() if fractions else 0
    lookups = ELEMENT * (1 + sum(3 * level + 4 for level in range(depth)))
    claims = ELEMENT * claimed_elements(made)
    return HEADER_BYTES + DIGEST + lookups + claims + sum(map(_opening, made.commitments))


def _opening(variables: int) -> float:
    """The expected bytes of one opening."""
    found: float = ELEMENT * 2 * variables
    for round in range(rounds(variables)):
        asked, depth = queries(round), variables + 1 - round - FOLD
        leaf = (SYMBOLS * 8 + SALT) if round == 0 else SYMBOLS * ELEMENT
        places = 1 << depth
        found += leaf * places * (1 - (1 - 1 / places) ** asked)
        for level in range(depth):
            own, pair = (1 << level) / places, (2 << level) / places
            one_only = 2 * ((1 - own) ** asked - (1 - pair) ** asked)
            found += DIGEST * (places >> (level + 1)) * one_only
        found += DIGEST if round + 1 < rounds(variables) else ELEMENT << (variables - FOLD * (round + 1))
    return found

"""Random products, equations and lookups: prover, both verifiers and the count of what is sent agree on each plan."""

from __future__ import annotations

import pytest
import tiers
from independent_verifier.verifier import Verifier
from random_products import Drawn, random_plan
from tensor_proofs import entering, refusals

from circuitize.circuits.errors import CircuitizeError
from circuitize.provers.tensor.flow import claimed_elements

OF_CLAIMS = {"zeros", "lookups.values", "dense", "dense.value", "product", "operands"}


def judged(drawn: Drawn) -> str | None:
    found = drawn.prove()
    known = entering(found.statement) if drawn.made.assumed else {}
    return refusals(drawn.program, found.statement, found.proof, drawn.made, trusted=known)[0]


@pytest.mark.parametrize("seed", tiers.seeds(test=20, deep=1500))
def test_all_agree_on_random_products(seed: int) -> None:
    drawn, words = random_plan(seed, 2 + seed % 2), 0

    def hook(label: str, message: list[int]) -> list[int]:
        nonlocal words
        words += len(message) * (label in OF_CLAIMS)
        return message

    drawn.prove(hook)
    assert words == drawn.made.degree * claimed_elements(drawn.made)
    assert judged(drawn) is None
    assert judged(drawn.without_the_last_equation()) is not None


@pytest.mark.parametrize("seed", tiers.seeds(test=3, deep=200))
def test_all_agree_on_random_products_in_zero_knowledge(seed: int) -> None:
    drawn = random_plan(seed, 2 + seed % 2).hiding
    assert judged(drawn) is None
    with pytest.raises(CircuitizeError, match="not what the program computes"):
        drawn.without_the_last_equation().prove()
    found = drawn.prove()
    checked = Verifier(drawn.made, found.statement, found.proof.messages)
    checked.check(b"")
    depth = (drawn.made.fractions - 1).bit_length() if drawn.made.lookups else 0
    of_lookups = (2 + sum(3 * level + 4 for level in range(depth))) * bool(drawn.made.lookups)
    assert checked.checks.counts[0] == of_lookups + claimed_elements(drawn.made)  # type: ignore[attr-defined]

"""Random products, equations and lookups: prover, both verifiers and the count of what is sent agree on each plan."""

from __future__ import annotations

from dataclasses import replace

import pytest
import tiers
from independent_verifier.verifier import Verifier
from r1cs_programs import program as program_of
from random_products import Drawn, random_plan
from tensor_proofs import committed_inputs, entering, refusals

from circuitize.backends.tensor.forms import Form, Product
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.integers import Multiply
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.plan import plan

OF_CLAIMS = {"zeros", "lookups.values", "dense", "dense.value", "product", "operands"}


def judged(drawn: Drawn) -> str | None:
    found = drawn.prove()
    known = entering(found.statement) if drawn.made.assumed else {}
    return refusals(drawn.program, found.statement, found.proof, drawn.made, trusted=known)[0]


@pytest.mark.parametrize("seed", tiers.seeds(test=12, deep=1500))
def test_all_agree_on_random_products(seed: int) -> None:
    drawn, words = random_plan(seed, 2 + seed % 2), 0

    def hook(label: str, message: list[int]) -> list[int]:
        nonlocal words
        words += len(message) * (label in OF_CLAIMS)
        return message

    drawn.prove(hook)
    assert words == drawn.made.degree * drawn.made.claimed.elements
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
    assert checked.checks.counts[0] == of_lookups + drawn.made.claimed.elements  # type: ignore[attr-defined]


@pytest.mark.parametrize("behind", [0, 1])
def test_no_product_is_of_itself_or_of_one_behind_it(behind: int) -> None:
    """Else it had claims after it was reduced, and reductions no end."""
    builder, small = Builder(), Fixed((4,), 0, 0, 7)
    x, y = builder.inputs([small, small])
    once = builder.add(Multiply(), x, y)
    made = plan(committed_inputs(program_of(builder.build([builder.add(Multiply(), once, y)]))))
    products = [n for n, base in enumerate(made.bases) if isinstance(base, Product)]
    bases, forms = list(made.bases), [*made.forms, Form((4,), {(products[behind], ()): 1})]
    assert replace(made, forms=tuple(forms)).native
    found = bases[products[0]]
    assert isinstance(found, Product)
    bases[products[0]] = replace(found, forms=(len(forms) - 1, found.forms[1]))
    with pytest.raises(ValueError, match=f"base {products[0]}"):
        assert replace(made, bases=tuple(bases), forms=tuple(forms)).native

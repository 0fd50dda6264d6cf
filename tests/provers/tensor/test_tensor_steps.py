"""Tensor proofs of the examples' training steps: each loss with each optimiser, as the integer executor runs them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tensor_proofs import example_inputs, planned, proved, refusals
from tensor_victims import LABELS

from circuitize.provers.tensor.cost import estimate
from circuitize.provers.tensor.security import bounds, union

LOSSES = {"digits.py": "mean squared error", "digits_xent.py": "cross-entropy"}
OPTIMIZERS = {"step": [], "momentum": ["optimizer"], "adam": ["optimizer"]}
SHOWN = ("iris.py:step", "digits_xent.py:momentum")
"""Each loss, and an optimiser with state; every pair of them is left to `make deep`."""
OTHERS = sorted({f"{file}:{name}" for file in LOSSES for name in OPTIMIZERS}.difference(SHOWN))
STEPS = [*SHOWN, *(pytest.param(name, marks=pytest.mark.deep) for name in OTHERS)]


@pytest.mark.parametrize("name", STEPS)
def test_a_training_step_is_proved(name: str) -> None:
    """Its outputs are the executor's, both verifiers accept it, its size is what was estimated; a new root is none."""
    program, made = planned(name)
    sent: set[str] = set()

    def heard(label: str, words: list[int]) -> list[int]:
        sent.add(label)
        return words

    found = proved(program, example_inputs(program), made, hook=heard)
    assert {"columns", "fractions.root", "product", "whir.fold"} <= sent <= LABELS
    kept = ["parameters", *OPTIMIZERS[name.partition(":")[2]]]
    assert set(found.statement.roots) == set(made.groups) == set(found.secrets)
    assert made.groups == tuple(("input", group) for group in (*kept, "data")) + tuple(("output", g) for g in kept)
    assert union(bounds(made)) >= 98
    expected = estimate(program)["not_zero_knowledge"]
    assert abs(len(found.proof.encode()) / expected["proof_bytes"] - 1) < 0.04
    assert (expected["committed"], expected["lookups"]) == (made.committed, made.looked_up)
    for group in kept:
        key = "output", group
        other = bytes([found.statement.roots[key][0] ^ 1]) + found.statement.roots[key][1:]
        statement = replace(found.statement, roots={**found.statement.roots, key: other})
        assert all(refusals(program, statement, found.proof, made))

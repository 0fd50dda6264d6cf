"""Proofs in zero knowledge are refused where any of what hides them, or is hidden, was changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
import tiers
from r1cs_programs import program
from small_programs import draw
from tensor_proofs import committed_inputs, refusals

from circuitize.backends.tensor.forms import PRIME, Column, Integers, Trace
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.plan import Plan, plan
from circuitize.provers.tensor.prover import commit, prove_values

OPENED = "an opened leaf does not belong to its commitment"
VALUES = "a commitment does not open to the claimed values"
LAST = "the last vector of an opening is not the one that was committed to"
REASONS = dict.fromkeys(("columns", "whir.root", "whir.leaves", "whir.carried", "whir.salts", "whir.nodes"), OPENED)
REASONS["whir.last"] = LAST
"""By kind of message why a proof is refused in which it is changed; all others make a claim false."""

EXPECTED = {
    *("fractions.root", "inverse", "fractions.ends", "fractions.sum", "lookups.values", "zeros", "operands", "product"),
    *("products.factors", "whir.fold", "whir.mask", *REASONS),
}


@cache
def victim(degree: int) -> tuple[IntegerProgram, Plan, Trace, list[Integers]]:
    """A step whose opening folds one vector before the last."""
    builder = Builder()
    x, y = builder.inputs([Fixed((2,), 0, -3, 4), Fixed((2,), 0, -2, 3)])
    shifted = builder.add(integers.Shift(1), builder.add(integers.Multiply(), x, y))
    made = committed_inputs(program(builder.build([builder.add(integers.ReLU(), shifted)])))
    planned = plan(made, openings=20, degree=degree)
    assert len(planned.native.layout()[1]) == 2
    trace = planned.trace(draw(made, np.random.default_rng(1)))
    return made, planned, trace, planned.values(trace)


def changed(degree: int, label: str = "", number: int = 0, place: int = 0) -> tuple[str | None, Counter[str]]:
    """What is said of a proof in which a word of one message is changed before it is absorbed; and all labels.

    The prover goes on with the changed word, so that no later message tells.
    """
    made, planned, trace, values = victim(degree)
    labels: Counter[str] = Counter()

    def hook(own: str, words: list[int]) -> Sequence[int]:
        if (own, labels[own]) == (label, number):
            words[place] = (words[place] + 1) % PRIME
        labels[own] += 1
        return words

    found = prove_values(made, planned, trace, values, hook=hook)
    return refusals(made, found.statement, found.proof, planned)[0], labels


@pytest.mark.parametrize("degree", [2, pytest.param(3, marks=pytest.mark.deep)])
def test_a_change_in_any_kind_of_message_is_refused(degree: int) -> None:
    """Among them rho and sigma, what carried pads mask, carried symbols, opened leaves of random words, s, g, u."""
    said, labels = changed(degree)
    assert said is None
    assert labels.keys() == EXPECTED
    for label, count in labels.items():
        everything = [(number, place) for number in range(count) for place in (0, -1)]
        chosen = {everything[0], everything[-1]} if degree == 2 and count > 1 else {everything[-1]}
        for number, place in everything if tiers.TIER == "deep" else chosen:
            found, _ = changed(degree, label, number, place)
            assert found == REASONS.get(label, VALUES), (label, number, place)


def unchanged(_: str, words: list[int]) -> Sequence[int]:
    """Of a prover that goes on where an honest one gives up, since its proof would be refused."""
    return words


@pytest.mark.parametrize("degree", [2, pytest.param(3, marks=pytest.mark.deep)])
def test_every_column_is_tested_under_its_mask(degree: int) -> None:
    made, planned, trace, values = victim(degree)
    named = [(number, base) for number, base in enumerate(planned.bases) if isinstance(base, Column)]
    columns = [number for number, base in named if base.recipe is not None]
    for number in columns:
        for by in (1, -1):
            forged = [value.copy() for value in values]
            forged[number].reshape(-1)[0] += by
            found = prove_values(made, planned, trace, forged, hook=unchanged)
            assert refusals(made, found.statement, found.proof, planned)[0] == VALUES, planned.bases[number]
    assert len(columns) > 3


def test_a_root_is_opened_to_its_own_values_alone() -> None:
    """A commitment to other inputs, kept in place of the own one."""
    made, planned, trace, values = victim(2)
    key, secret = planned.groups[0], bytes(32)
    inputs = {port.name: np.full((2,), 1, np.int64) for port in made.inputs}
    for other, reason in ((trace, None), (planned.trace(inputs), VALUES)):
        kept = {key: commit(planned, other, key, secret)}
        found = prove_values(made, planned, trace, values, kept=kept, hook=unchanged)
        assert refusals(made, found.statement, found.proof, planned)[0] == reason

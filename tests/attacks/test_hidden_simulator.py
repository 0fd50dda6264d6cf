"""What a proof in zero knowledge shows can be made without a witness, by the verifier's own equations.

Challenges are chosen, and queries few, for the verifier as for the prover: neither takes them outside of tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest
from _pytest.mark import ParameterSet
from hidden_programs import LARGE, PROGRAMS
from hidden_simulator import Simulated, Words, random_words, simulated, words_of, words_sent
from hidden_view import MORE_VECTORS, ONE_VECTOR
from independent_verifier import geometry, opening
from independent_verifier.arithmetic import Elements, numbers
from independent_verifier.transcript import Refused
from small_programs import draw
from tensor_proofs import committed_inputs

from circuitize._native import tensor_view
from circuitize.backends.tensor.forms import Integers
from circuitize.circuits.errors import Undefined
from circuitize.circuits.values import raw
from circuitize.provers.tensor.plan import Plan, plan
from circuitize.sims import integer

CHALLENGES = bytes([5] * 32)
CASES = [(name, degree) for name in ("large", *PROGRAMS) for degree in (2, 3)]


def often(*chosen: tuple[str, int]) -> list[ParameterSet]:
    """All cases, of which `make test` runs these."""
    return [pytest.param(*case, marks=[] if case in chosen else [pytest.mark.deep]) for case in CASES]


def prepared(name: str, degree: int) -> tuple[Plan, Mapping[str, Integers], Mapping[tuple[str, str], Integers]]:
    """A plan, private inputs, and public outputs."""
    program = committed_inputs(PROGRAMS.get(name, LARGE))
    made = plan(program, openings=1, degree=degree)
    random = np.random.default_rng(1)
    while True:
        inputs = draw(program, random)
        try:
            outputs = integer.run(program, raw(inputs))
        except Undefined:
            continue
        return made, inputs, {("output", name): values for name, values in outputs.items()}


def demand(monkeypatch: pytest.MonkeyPatch, name: str) -> tuple[float, int]:
    found = MORE_VECTORS if name == "large" else ONE_VECTOR
    monkeypatch.setattr(opening, "QUERY_BITS", found[0])
    monkeypatch.setattr(geometry, "LAST", found[1])
    return found


@pytest.mark.parametrize(("name", "degree"), often(("step", 2)))
def test_random_words_make_an_accepted_proof(monkeypatch: pytest.MonkeyPatch, name: str, degree: int) -> None:
    made, _, publics = prepared(name, degree)
    demand(monkeypatch, name)
    assert simulated(made, publics, CHALLENGES, random_words)


@pytest.mark.parametrize(("name", "degree"), often(("step", 3), ("large", 2)))
def test_the_prover_sends_what_the_simulator_makes_of_it(
    monkeypatch: pytest.MonkeyPatch, name: str, degree: int
) -> None:
    """Given the uniform part of an honest prover's messages, salts and hashes, the simulator makes the rest."""
    made, inputs, publics = prepared(name, degree)
    values = list(made.values(made.trace(inputs)))
    secrets = [bytes([number] * 32) for number in range(len(made.commitments))]
    sent, _ = tensor_view(made.native, values, secrets, CHALLENGES, demand(monkeypatch, name), {})
    assert simulated(made, publics, CHALLENGES, words_sent(sent)) == sent


class Apart(Simulated):
    """Commits to a last vector that differs, in a coordinate of its first element, from the one that it sends."""

    def __init__(self, coordinate: int, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.coordinate = coordinate

    def last_leaves(self, drawn: Elements) -> Words:
        leaves = numbers(super().last_leaves(drawn)).reshape(len(drawn), -1)
        leaves[:, self.degree + self.coordinate] = leaves[:, self.degree + self.coordinate] + numbers(1)
        return words_of(leaves)


@pytest.mark.parametrize("degree", [pytest.param(2, marks=pytest.mark.deep), 3])
def test_the_last_vector_is_the_committed_one_in_each_coordinate(monkeypatch: pytest.MonkeyPatch, degree: int) -> None:
    """All else is true of the vector that is sent, whose weighted sum may be any."""
    made, _, publics = prepared("step", degree)
    demand(monkeypatch, "step")
    for coordinate in range(degree):
        with pytest.raises(Refused, match="the last vector of an opening"):
            simulated(made, publics, CHALLENGES, random_words, partial(Apart, coordinate))

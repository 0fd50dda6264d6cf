"""Proofs in zero knowledge of products with several claims: what is sent is uniform, and made without a witness."""

from __future__ import annotations

import numpy as np
import pytest
from hidden_simulator import random_words, simulated, words_sent
from hidden_view import ONE_VECTOR, Viewer, secrets, words_of
from independent_verifier import geometry, opening
from independent_verifier.reductions import Reductions
from prime_matrices import rank
from r1cs_programs import program as program_of
from small_programs import draw
from tensor_proofs import committed_inputs

from circuitize._native import tensor_view
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import View
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import raw
from circuitize.provers.tensor.plan import plan
from circuitize.sims import integer

READ = {
    "by elements": ("i,i->i", (2,), (2,)),
    "side by side": ("i,j->ij", (2,), (1,)),
    "side by side, letters of both": ("bi,bj->bij", (2, 1), (2, 2)),
    "to a point": ("ik,kj->ij", (1, 3), (3, 2)),
}
OWN = ("side by side, letters of both", "to a point")
"""What is multiplied by elements is in a step that is looked into by itself."""
CHALLENGES = bytes([5] * 32)


def read_three_times(case: str) -> IntegerProgram:
    """A product, of which all, its elements the other way round, and the last of each row are halved."""
    equation, left, right = READ[case]
    builder = Builder()
    x, y = (builder.input(Fixed(shape, 0, -2, 1)) for shape in (left, right))
    made = builder.add(integers.Contract(equation), x, y)
    shape = builder.type(made).shape
    views = (View.flip(shape, range(len(shape))), View.slice(shape, [n - 1 for n in shape], shape))
    read = [made, *(builder.add(integers.Reindex(view), made) for view in views)]
    return committed_inputs(program_of(builder.build([builder.add(integers.Shift(1), wire) for wire in read])))


@pytest.mark.parametrize("case", [pytest.param(case, marks=[] if case in OWN else [pytest.mark.deep]) for case in READ])
def test_what_is_sent_is_uniform(case: str) -> None:
    program = read_three_times(case)
    made = plan(program, openings=1, degree=2)
    viewer = Viewer(made, list(made.values(made.trace(draw(program, np.random.default_rng(1))))), secrets(made))
    view = viewer.view()
    labels, size = words_of(view), view.uniform.size
    found = viewer.jacobian(labels)
    used = np.count_nonzero(np.add.reduce(found[:size] != 0, axis=0))
    assert rank(found[:size]) == rank(found) == size == used


@pytest.mark.parametrize("case", READ)
def test_a_proof_is_made_without_a_witness(monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    """From random words; and from the uniform part of an honest prover's messages all of them."""
    program = read_three_times(case)
    made = plan(program, openings=1, degree=2)
    monkeypatch.setattr(opening, "QUERY_BITS", ONE_VECTOR[0])
    monkeypatch.setattr(geometry, "LAST", ONE_VECTOR[1])
    inputs = draw(program, np.random.default_rng(1))
    outputs = integer.run(program, raw(inputs))
    publics = {("output", name): values for name, values in outputs.items()}
    parts: list[int] = []
    combined = Reductions._combined

    def noted(self: Reductions, base: int) -> object:
        found = combined(self, base)
        parts.append(len(found[1]))
        return found

    monkeypatch.setattr(Reductions, "_combined", noted)
    assert simulated(made, publics, CHALLENGES, random_words)
    assert max(parts) == 3
    values = list(made.values(made.trace(inputs)))
    own = [bytes([number] * 32) for number in range(len(made.commitments))]
    sent, _ = tensor_view(made.native, values, own, CHALLENGES, ONE_VECTOR, {})
    assert simulated(made, publics, CHALLENGES, words_sent(sent)) == sent

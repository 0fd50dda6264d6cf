"""A product that two others read: a prover shows each of them another one, wrong by as much, one more, one less.

Their claims on it are wrong by the same, whatever the points. So nothing but the challenge that combines them tells.
"""

from __future__ import annotations

import numpy as np
import pytest
from independent_verifier.arithmetic import Elements, Numbers, numbers, one
from independent_verifier.numbered import Mix
from tensor_attack import Forgery, at_every_degree, publics_of, small_plan
from tensor_cheat import Cheat
from tensor_ones import passes, sending_ones
from tensor_proofs import committed_inputs

from circuitize.backends.tensor.forms import Product, Public
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.statement import Statement

from r1cs_programs import program as program_of  # isort: skip

pytestmark = at_every_degree

COMBINE = "products.combine"
READ = {
    "by elements": ("ij,ij->ij", (2, 4), (2, 4)),
    "side by side": ("i,j->ij", (2,), (4,)),
    "to a point": ("ik,kj->ij", (2, 16), (16, 4)),
}
"""Products of 2 x 4 elements, whose two claims are reduced in each way."""


class TwoFaces(Cheat):
    """Where a product reads the first one, all elements of that are one more, or one less."""

    faces: dict[int, int]
    shown = 0

    def product(self, base: int, mix: Mix, value: Elements) -> None:
        self.shown = self.faces.get(base, 0)
        super().product(base, mix, value)
        self.shown = 0

    def form(self, form: int) -> Numbers:
        found = super().form(form)
        read = self.plan.forms[form].terms.items()
        return found + numbers(self.shown * sum(c for (base, _), c in read if base == self.first))

    @property
    def first(self) -> int:
        return min(n for n, base in enumerate(self.plan.bases) if isinstance(base, Product))

    def settled(self, label: str, asked: list[tuple[int, Mix]], honest: Elements) -> Elements:
        """Weights of a point on a whole cube have the sum 1."""
        made = honest.copy()
        for place, (base, _) in enumerate(asked):
            if label == "operands" and base == self.first:
                made[place] = made[place] + one(self.degree) * numbers(self.shown)
        return made


def read_twice(case: str) -> IntegerProgram:
    """A product times two others, both public."""
    equation, left, right = READ[case]
    builder = Builder()
    x, y = (builder.input(Fixed(shape, 0, 0, 15)) for shape in (left, right))
    others = [builder.input(Fixed((2, 4), 0, 0, 15)) for _ in range(2)]
    made = builder.add(integers.Contract(equation), x, y)
    return committed_inputs(
        program_of(builder.build([builder.add(integers.Multiply(), made, other) for other in others]))
    )


def forgery(case: str, degree: int, label: str, signs: tuple[int, int]) -> Forgery:
    program = read_twice(case)
    made = small_plan(program, degree)
    random = np.random.default_rng(4)
    inputs = {p.name: random.integers(1, 15, p.format.shape) for p in program.inputs if p.format}
    trace = list(made.trace(inputs))
    publics, values = publics_of(made, trace), list(made.values(trace))
    _, *readers = [n for n, base in enumerate(made.bases) if isinstance(base, Product)]
    outputs = [n for n, base in enumerate(made.bases) if isinstance(base, Public)]
    for reader, output, other, sign in zip(readers, outputs, ("in2", "in3"), signs, strict=True):
        found = made.bases[output]
        assert isinstance(found, Public)
        values[reader] = values[reader] + sign * inputs[other]
        values[output] = publics[found.side, found.name] = values[output] + sign * inputs[other]
    cheat = TwoFaces(made, values)
    cheat.faces = dict(zip(readers, signs, strict=True))
    cheat.channel = sending_ones(degree, label)
    messages, roots = cheat.prove(publics)
    return Forgery(program, made, Statement(publics, dict(zip(made.groups, roots, strict=True))), messages)


@pytest.mark.parametrize("case", READ)
def test_claims_on_one_product_are_combined_by_a_challenge(case: str, degree: int) -> None:
    found = forgery(case, degree, COMBINE, (1, -1))
    assert passes(found, COMBINE) and found.is_refused()
    assert forgery(case, degree, "", (1, -1)).is_refused()
    assert not passes(forgery(case, degree, COMBINE, (1, 1)), COMBINE)
    assert not forgery(case, degree, "", (0, 0)).is_refused()

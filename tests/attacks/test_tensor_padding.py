"""Reductions of a product side by side: what fills their axes up to powers of two counts for nothing."""

from __future__ import annotations

import numpy as np
import pytest
from independent_verifier.arithmetic import Elements, equality_at, inverse, multiply, total
from independent_verifier.numbered import Mix
from independent_verifier.reductions import UNTRUE
from r1cs_programs import program as program_of
from tensor_attack import Forgery, at_every_degree, publics_of, small_plan
from tensor_cheat import Cheat
from tensor_cheat_sums import cubic
from tensor_proofs import committed_inputs

from circuitize.backends.tensor.forms import Product, Public
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import View
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.statement import Statement

pytestmark = at_every_degree

PARTS, ELEMENTS = 3, 3
"""Three claims on one product, each a sum over three elements: both axes have a fourth place."""

PLACES = {"a part that is none": (3, 0), "an element that is none": (0, 3), "neither": (3, 3)}


def read_three_times() -> IntegerProgram:
    """A B, and A B turned round two ways: each twice."""
    builder = Builder()
    x, y = (builder.input(Fixed(shape, 0, 0, 3)) for shape in ((4, ELEMENTS), (ELEMENTS, 4)))
    made = builder.add(integers.Contract("ik,kj->ij"), x, y)
    views = (View.flip((4, 4), (0, 1)), View.flip((4, 4), (1,)))
    read = [made, *(builder.add(integers.Reindex(view), made) for view in views)]
    assert len(read) == PARTS
    return committed_inputs(program_of(builder.build([builder.add(integers.Add(), wire, wire) for wire in read])))


class Filling(Cheat):
    """Says of the product that each element is `error` more, and puts what is missing where nothing should be."""

    error = 1
    place: tuple[int, int] | None = None
    adapts = False
    """Whether operands are claimed to be what is left over the true factor."""

    def filled(self, value: Elements, tables: Elements) -> Elements:
        if self.place is None:
            return tables
        made = tables.copy()
        part, element = self.place
        self.at = part * 4 + element
        self.missing = value - total(cubic(tables))
        assert tables.shape[1] == 16 and not np.asarray(tables[:, self.at]).any()
        made[:, self.at] = np.stack([self.missing, self.one, self.one])
        return made

    def settled(self, label: str, asked: list[tuple[int, Mix]], honest: Elements) -> Elements:
        if label != "operands" or not self.adapts:
            return honest
        filler = multiply(self.missing, equality_at(self.point_of_product, [self.at])[0])
        made = honest.copy()
        made[0] = multiply(self.left, inverse(multiply(self.factor - filler, honest[1])))
        return made

    def sumcheck(self, label: str, *rest: object) -> tuple[Elements, Elements, Elements]:
        found = super().sumcheck(label, *rest)  # type: ignore[arg-type]
        if label == "product":
            self.point_of_product = found[1]
        return found


def forgery(degree: int, error: int, place: tuple[int, int] | None, adapts: bool) -> Forgery:
    program = read_three_times()
    made = small_plan(program, degree)
    trace = list(made.trace({"in0": np.arange(12).reshape(4, 3) % 4, "in1": np.arange(12).reshape(3, 4) % 3}))
    publics, values = publics_of(made, trace), list(made.values(trace))
    (product,) = (n for n, base in enumerate(made.bases) if isinstance(base, Product))
    for n, base in enumerate(made.bases):
        if isinstance(base, Public):
            values[n] = publics[base.side, base.name] = values[n] + 2 * error
    values[product] = values[product] + error
    cheat = Filling(made, values)
    cheat.place, cheat.adapts = place, adapts
    messages, roots = cheat.prove(publics)
    return Forgery(program, made, Statement(publics, dict(zip(made.groups, roots, strict=True))), messages)


def test_an_honest_proof_passes(degree: int) -> None:
    assert not forgery(degree, 0, None, False).is_refused()


@pytest.mark.parametrize("adapts", [False, True], ids=["honest operands", "operands that fit"])
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_what_fills_up_does_not_count(degree: int, place: tuple[int, int], adapts: bool) -> None:
    """The sums hold, by what is where nothing should be; the factor that a verifier computes leaves it out.

    Operands that fit what is left pass that equation, and are not what the columns hold."""
    refusal = forgery(degree, 1, place, adapts).refusal()
    assert refusal is not None and (refusal == UNTRUE) == (not adapts)

"""Claims that are combined: without the challenge that combines them, errors of two that cancel are accepted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from independent_verifier.arithmetic import Elements, numbers
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

SMALL = Fixed((4,), 0, 0, 15)


def two_outputs(product: bool) -> IntegerProgram:
    """Of x and y their sum, or their product, plus x and plus y."""
    builder = Builder()
    x, y = builder.inputs([SMALL, SMALL])
    made = builder.add(integers.Multiply() if product else integers.Add(), x, y)
    return committed_inputs(
        program_of(builder.build([builder.add(integers.Add(), made, x), builder.add(integers.Add(), made, y)]))
    )


def forgery(program: IntegerProgram, degree: int, label: str) -> Forgery:
    """One output is one more than it is, the other one less: what is wrong with both together is nothing."""
    made = small_plan(program, degree)
    inputs = {"in0": np.array([1, 2, 3, 4]), "in1": np.array([5, 6, 7, 8])}
    trace = list(made.trace(inputs))
    publics = publics_of(made, trace)
    values: list[Any] = list(made.values(trace))
    outputs = [n for n, base in enumerate(made.bases) if isinstance(base, Public) and base.side == "output"]
    for base, error in zip(outputs, (1, -1), strict=True):
        found = made.bases[base]
        assert isinstance(found, Public)
        values[base] = publics[found.side, found.name] = values[base] + error
    cheat = Cheat(made, values)
    cheat.channel = sending_ones(degree, label)
    messages, roots = cheat.prove(publics)
    return Forgery(program, made, Statement(publics, dict(zip(made.groups, roots, strict=True))), messages)


@pytest.mark.parametrize("product", [False, True])
def test_equations_are_combined_by_a_challenge(degree: int, product: bool) -> None:
    program = two_outputs(product)
    found = forgery(program, degree, "zeros.combine")
    assert passes(found, "zeros.combine") and found.is_refused()
    assert forgery(program, degree, "").is_refused()


def read_twice() -> IntegerProgram:
    """P = x y is read by two: P + x is public, and so is (P + x) z."""
    builder = Builder()
    x, y, z = builder.inputs([SMALL] * 3)
    read = builder.add(integers.Add(), builder.add(integers.Multiply(), x, y), x)
    return committed_inputs(program_of(builder.build([read, builder.add(integers.Multiply(), read, z)])))


class OneMoreOneLess(Cheat):
    """Claims of the first product one more where it is an output, and one less where it is a factor."""

    @property
    def first(self) -> int:
        return next(n for n, base in enumerate(self.plan.bases) if isinstance(base, Product))

    def settled(self, label: str, asked: list[tuple[int, Mix]], honest: Elements) -> Elements:
        if label != "zeros":
            return honest
        made = honest.copy()
        place = [base for base, _ in asked].index(self.first)
        made[place] = made[place] + self.one
        return made

    def product(self, base: int, mix: Mix, value: Elements) -> None:
        true = self.values[self.first]
        if base != self.first:
            self.values[self.first] = true - numbers(1)
        super().product(base, mix, value)
        self.values[self.first] = true


def test_claims_on_one_product_are_combined_by_a_challenge(degree: int) -> None:
    """Weights of a point add up to 1 on a whole cube: so what is one more everywhere is one more in a claim."""
    program = read_twice()
    made = small_plan(program, degree)
    x, y, z = np.array([1, 2, 3, 4]), np.array([5, 6, 7, 8]), np.array([2, 3, 4, 5])
    trace = list(made.trace({"in0": x, "in1": y, "in2": z}))
    publics, values = publics_of(made, trace), list(made.values(trace))
    false = {"out0": x * y + x + 1, "out1": (x * y + x - 1) * z}
    last = max(n for n, base in enumerate(made.bases) if isinstance(base, Product))
    for n, base in enumerate(made.bases):
        if isinstance(base, Public):
            values[n] = publics[base.side, base.name] = false[base.name]
    values[last] = false["out1"]
    found = []
    for label in ("products.combine", ""):
        cheat = OneMoreOneLess(made, values)
        cheat.channel = sending_ones(degree, label)
        messages, roots = cheat.prove(publics)
        statement = Statement(publics, dict(zip(made.groups, roots, strict=True)))
        found.append(Forgery(program, made, statement, messages))
    assert passes(found[0], "products.combine") and all(one.is_refused() for one in found)

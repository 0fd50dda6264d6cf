"""Claims that are combined: without the challenge that combines them, errors of two that cancel are accepted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tensor_attack import Forgery, at_every_degree, publics_of, small_plan
from tensor_cheat import Cheat
from tensor_ones import passes, sending_ones
from tensor_proofs import committed_inputs

from circuitize.backends.tensor.forms import Public
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

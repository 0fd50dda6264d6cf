"""Products inside products: a long maximum is cut into columns, so that its claims do not double with each level."""

from __future__ import annotations

import numpy as np
import pytest
from r1cs_programs import program
from tensor_forgery import answer
from tensor_proofs import committed_inputs, proved

from circuitize.backends.tensor.drafting import DEEPEST
from circuitize.backends.tensor.forms import Column
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.plan import Plan, plan


def greatest(count: int) -> IntegerProgram:
    """The maximum of so many numbers, by a tree."""
    builder = Builder()
    half = builder.input(Fixed((count,), 0, -100, 100))
    while (extent := builder.type(half).shape[0]) > 1:
        sides = [
            builder.add(integers.Reindex(integers.View.slice((extent,), (start,), (start + extent // 2,))), half)
            for start in (0, extent // 2)
        ]
        half = builder.add(integers.Maximum(), *sides)
    return program(builder.build([half]))


def cuts(made: Plan) -> list[int]:
    return [n for n, base in enumerate(made.bases) if isinstance(base, Column) and base.name.endswith(" in one")]


def test_claims_grow_with_levels_not_with_elements() -> None:
    counts = [plan(committed_inputs(greatest(1 << levels))).claimed.elements for levels in (4, 7, 10)]
    assert counts[2] - counts[1] < 2 * (counts[1] - counts[0])
    assert not cuts(plan(committed_inputs(greatest(1 << DEEPEST))))


def test_a_long_maximum_is_proved() -> None:
    given = committed_inputs(greatest(256))
    values = np.random.default_rng(0).integers(-100, 101, 256)
    found = proved(given, {"in0": values})
    assert len(cuts(plan(given))) == 2
    assert len(found.proof.messages) < 200_000


@pytest.mark.parametrize("place", [0, 1])
def test_another_number_in_a_cut_is_refused(place: int) -> None:
    given = committed_inputs(greatest(256))
    made = plan(given)
    inputs = {"in0": np.arange(-100, 156) % 101}
    trace = made.trace(inputs)
    values = made.values(trace)
    base = cuts(made)[place]
    values[base] = values[base].copy()
    values[base].reshape(-1)[0] += 1
    assert answer(given, made, trace, values) is not None

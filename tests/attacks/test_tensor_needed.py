"""Every lookup of a plan is needed: without it, some wrong run of a small program satisfies what is left."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from r1cs_programs import chain, single
from tensor_assignments import Bench, Values
from tensor_forgery import without_lookup
from tensor_proofs import committed_inputs

from circuitize.backends.tensor.forms import PRIME
from circuitize.circuits import integers
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import raw
from circuitize.provers.tensor.plan import Plan, plan
from circuitize.sims import integer

SMALL, DIVISOR = Fixed((), 0, -5, 6), Fixed((), 0, 1, 3)
TABLE = np.array([3, 0, 5, 3, 1, 2, 7, 7, 0, 1, 2, 9])

PROGRAMS = {
    "shift": single(integers.Shift(2), SMALL),
    "shift-check": chain(SMALL, integers.Shift(2), integers.Check(-2, 0)),
    "check": chain(SMALL, integers.Check(-1, 4), integers.Scale(2, 0)),
    "relu": single(integers.ReLU(), SMALL),
    "maximum": single(integers.Maximum(), Fixed((), 0, -3, 4), Fixed((), 0, -1, 2)),
    "divide": single(integers.Divide(), SMALL, DIVISOR),
    "lookup": single(integers.Lookup(-5, TABLE, 0), SMALL),
}

NUMBERS = sorted(
    {number % PRIME for number in range(-9, 10)}
    | {number * pow(divisor, -1, PRIME) % PRIME for number in range(-9, 10) for divisor in (2, 3, 4, 7, 9, 11)}
)
"""Small integers, and quotients of them in the field: what equations modulo p have for solutions."""


class Free(Bench):
    """Columns hold any of NUMBERS."""

    def domain(self, base: int) -> list[int]:
        return NUMBERS

    def assignments(self) -> Iterator[dict[int, Values]]:
        assert all(self.made.bases[base].shape == () for base in self.free) and len(self.free) <= 1
        for choice in product(NUMBERS, repeat=len(self.free)):
            yield {base: np.array(value, object) for base, value in zip(self.free, choice, strict=True)}


def expected(program: IntegerProgram, inputs: dict[str, int]) -> list[list[int]]:
    try:
        outputs = integer.run(program, raw({name: np.array(value, np.int64) for name, value in inputs.items()}))
    except CircuitizeError:
        return []
    return [[int(v) % PRIME for value in outputs.values() for v in value.reshape(-1)]]


def wrong(program: IntegerProgram, made: Plan) -> dict[str, int] | None:
    """Inputs with a run that satisfies the plan and is none of the program's, from within formats and without."""
    ranges = [range(p.format.low - 2, p.format.high + 3) for p in program.inputs if p.format]
    for values in product(*ranges):
        inputs = {port.name: value for port, value in zip(program.inputs, values, strict=True)}
        right = expected(program, inputs)
        if any(found not in right for found in Free(made, inputs).solutions()):
            return inputs
    return None


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_lookup_is_needed(name: str) -> None:
    program = committed_inputs(PROGRAMS[name])
    made = plan(program, 4)
    assert made.lookups
    assert wrong(program, made) is None
    for index in range(len(made.lookups)):
        assert wrong(program, without_lookup(made, index)) is not None, index

"""Plans of small programs have one witness where the program is defined, and none elsewhere: all assignments tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import pytest
from r1cs_programs import chain, single
from tensor_assignments import Bench
from tensor_proofs import committed_inputs

from circuitize.backends.tensor.forms import PRIME
from circuitize.circuits import integers
from circuitize.circuits.errors import Undefined
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import raw
from circuitize.provers.tensor.plan import plan
from circuitize.sims import integer

SMALL, UNSIGNED, DIVISOR = Fixed((), 0, -5, 6), Fixed((), 0, 0, 12), Fixed((), 0, 1, 3)
TABLE = np.array([3, 0, 5, 3, 1, 2, 7, 7, 0, 1, 2, 9, 4])

PROGRAMS = {
    "shift": single(integers.Shift(2), SMALL),
    "shift-check": chain(SMALL, integers.Scale(3, 0), integers.Shift(2), integers.Check(-2, 2)),
    "check": single(integers.Check(-1, 4), SMALL),
    "check-below": single(integers.Check(-1, 6), SMALL),
    "check-above": single(integers.Check(-5, 4), SMALL),
    "negative": single(integers.IsNegative(), SMALL),
    "relu": single(integers.ReLU(), SMALL),
    "maximum": single(integers.Maximum(), SMALL, Fixed((), 0, -2, 3)),
    "select": single(integers.Select(), Fixed((), 0, 0, 1), SMALL, UNSIGNED),
    "divide": single(integers.Divide(), SMALL, DIVISOR),
    "root": single(integers.SquareRoot(), UNSIGNED),
    "lookup": single(integers.Lookup(0, TABLE, 0), UNSIGNED),
    "clamp": single(integers.Clamp(-2, 3), SMALL),
    "one-hot": single(integers.ArgMaxOneHot(0), Fixed((2,), 0, -1, 1)),
}


def every_input(program: IntegerProgram) -> Iterator[dict[str, int | list[int]]]:
    """All inputs, those just outside of their formats too."""
    choices: list[Sequence[int | tuple[int, ...]]] = []
    for port in program.inputs:
        assert port.format is not None
        numbers = range(port.format.low - 1, port.format.high + 2)
        choices.append(list(product(numbers, repeat=port.format.size)) if port.format.shape else list(numbers))
    for values in product(*choices):
        yield {
            port.name: list(value) if isinstance(value, tuple) else value
            for port, value in zip(program.inputs, values, strict=True)
        }


WITH_LIMBS = ("shift", "check", "negative", "relu")
"""Limbs of two bits give these several; others have too many assignments then."""


@pytest.mark.parametrize(("name", "bits"), [(name, 4) for name in PROGRAMS] + [(name, 2) for name in WITH_LIMBS])
def test_one_witness_where_defined_and_none_elsewhere(name: str, bits: int) -> None:
    program = committed_inputs(PROGRAMS[name])
    made = plan(program, bits)
    random = np.random.default_rng(1)
    everything = list(every_input(program))
    chosen = [everything[i] for i in random.permutation(len(everything))[:12]]
    seen = 0
    for inputs in chosen:
        bench = Bench(made, inputs)
        try:
            outputs = integer.run(program, raw({key: np.array(value, np.int64) for key, value in inputs.items()}))
            expected = [[int(v) % PRIME for value in outputs.values() for v in value.reshape(-1)]]
        except Undefined:
            expected = []
        except Exception as error:
            assert "expected input" in str(error)
            expected = []
        seen += bool(expected)
        assert bench.solutions() == expected, inputs
    assert seen

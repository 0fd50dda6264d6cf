"""Bound inputs: the same values as when given at each run, and intervals as tight as the values allow."""

from __future__ import annotations

import numpy as np
import pytest
from r1cs_programs import program

from circuitize.circuits.bind import bind
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.integers import Add, Check, Contract, Scale
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.sims import integer

WEIGHT, BATCH = Fixed((3, 2), 0, -100, 100), Fixed((4, 3), 0, 0, 7)
WEIGHTS = np.array([[1, -2], [0, 3], [5, -1]])


def given() -> IntegerProgram:
    builder = Builder()
    weight, x = builder.inputs([WEIGHT, BATCH])
    made = builder.add(Contract("bi,ij->bj"), x, weight)
    return program(builder.build([builder.add(Check(-500, 500), builder.add(Add(), made, made))]))


def test_a_bound_program_has_the_values_of_the_free_one() -> None:
    free = given()
    bound = bind(free, {"in0": WEIGHTS})
    x = np.random.default_rng(1).integers(0, 8, (4, 3))
    assert [port.name for port in bound.inputs] == ["in1"]
    expected = integer.run(free, {"in0": WEIGHTS, "in1": x})
    assert np.array_equal(integer.run(bound, {"in1": x})["out0"], expected["out0"])


def test_intervals_follow_the_values() -> None:
    contracted = next(e for e in bind(given(), {"in0": WEIGHTS}).arrow.edges() if isinstance(e.operation, Contract))
    (free,) = (e for e in given().arrow.edges() if isinstance(e.operation, Contract))
    low, high = (bind(given(), {"in0": WEIGHTS}).arrow.type(contracted.targets[0]), given().arrow.type(free.targets[0]))
    assert isinstance(low, Fixed) and isinstance(high, Fixed)
    assert (low.low, low.high, high.low, high.high) == (-42, 105, -2100, 2100)


def test_everything_bound_is_a_constant_program() -> None:
    builder = Builder()
    x = builder.input(Fixed((2,), 0, -9, 9))
    bound = bind(program(builder.build([builder.add(Scale(3, 0), x)])), {"in0": np.array([4, -5])})
    assert not bound.inputs
    assert integer.run(bound, {})["out0"].tolist() == [12, -15]


def test_wrong_names_and_values_are_refused() -> None:
    with pytest.raises(CircuitizeError, match="expected the name of an input"):
        bind(given(), {"weight": WEIGHTS})
    with pytest.raises(CircuitizeError, match="found 101 at element"):
        bind(given(), {"in0": np.full((3, 2), 101)})

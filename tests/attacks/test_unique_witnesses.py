"""Inputs leave the prover no choice: exactly one witness where a program is defined, none elsewhere.

Single gadgets are enumerated in test_gadgets.py; here operations meet: fused, shared, expanded, one after the other.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from enumeration import without
from example_programs import example
from numpy.typing import NDArray
from r1cs_programs import chain, program, single
from small_programs import draw, random_program
from tiers import TIER, count
from witness_search import Search, Undetermined

import circuitize as cz
from circuitize.backends.field import BN254, Field
from circuitize.backends.r1cs.emit import Emission, emit
from circuitize.backends.r1cs.witness import random_salts, witness
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import OverflowRisk, TypingError, Undefined
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import to_integers
from circuitize.frontends.training import with_examples
from circuitize.sims import integer

PRIMES = [p for p in range(3, 4000) if all(p % q for q in range(2, int(p**0.5) + 1))]


def smallest_field(program: IntegerProgram) -> Field:
    """The smallest field that emission accepts, where anything that could wrap would."""
    fits, too_small = len(PRIMES) - 1, -1
    while fits - too_small > 1:
        middle = (fits + too_small) // 2
        try:
            emit(program, Field(PRIMES[middle]))
            fits = middle
        except OverflowRisk:
            too_small = middle
    return Field(PRIMES[fits])


def given_wires(emission: Emission, inputs: dict[str, NDArray[np.int64]]) -> dict[int, int]:
    """The values of the inputs' wires."""
    first = {block.role: block.first for block in emission.system.wire_blocks if block.edge < 0}
    return {
        first[f"input {name}"] + place: number
        for name, values in inputs.items()
        for place, number in enumerate(values.reshape(-1).tolist())
    }


def expected_witnesses(
    program: IntegerProgram, emission: Emission, inputs: dict[str, NDArray[np.int64]]
) -> list[list[int]]:
    try:
        values = integer.trace(program, inputs)
    except Undefined:
        return []
    field = emission.system.field
    return [field.to_integers(witness(emission.plan, values))]


def drawn(first: int, count: int, operations: int) -> list[tuple[int, IntegerProgram]]:
    """Programs that can be emitted, by seed. (Some have a Check that nothing passes.)"""
    found = []
    for seed in range(first, first + count):
        made = random_program(np.random.default_rng(seed), operations)
        try:
            emit(made)
        except TypingError as error:
            assert "undefined everywhere" in str(error)
            continue
        found.append((seed, made))
    return found


@pytest.mark.parametrize("first", range(0, count(10, deep=50), 10))
def test_random_programs(first: int) -> None:
    defined = 0
    for seed, given in drawn(first, 10, 7):
        random = np.random.default_rng(seed)
        for field in (BN254, smallest_field(given)):
            emission = emit(given, field)
            search = Search(emission.system)
            for _ in range(2):
                inputs = draw(given, random)
                expected = expected_witnesses(given, emission, inputs)
                assert search.solutions(given_wires(emission, inputs)) == expected, f"seed {seed}, {field}"
                defined += len(expected)
    assert defined > 10


def test_random_programs_on_every_element_of_a_small_field() -> None:
    """The input is no integer at all to begin with: only values of its format, modulo the prime, have a witness."""
    tried = 0
    for seed, given in drawn(7000, 60, 4):
        port, *others = given.inputs
        format = port.format
        assert format is not None
        if others or format.size > 1:
            continue
        tried += 1
        field = smallest_field(given)
        emission = emit(given, field)
        search = Search(emission.system)
        inside = {value % field.prime: value for value in range(format.low, format.high + 1)}
        for element in range(field.prime):
            found = search.solutions(given_wires(emission, {port.name: np.array(element)}))
            inputs = {port.name: np.full(format.shape, inside.get(element, 0))}
            expected = expected_witnesses(given, emission, inputs) if element in inside else []
            assert found == expected, f"seed {seed}, {element} modulo {field.prime}"
    assert tried > 5


@pytest.mark.parametrize("low", [-9, *(pytest.param(low, marks=pytest.mark.deep) for low in (-8, -1, 0, 3))])
def test_intervals_of_inputs_shifts_and_checks(low: int) -> None:
    """x in [low, high], then floor(x / 2) in [a, b]: every such interval, and every element of the field."""
    for high in (low, low + 1, low + 4, low + 7, low + 8) if TIER == "deep" else (low, low + 1, low + 7):
        least, greatest = low >> 1, high >> 1
        for a, b in [(i, j) for i in range(least - 1, greatest + 1) for j in range(i, greatest + 2) if j >= least]:
            given = chain(Fixed((), 0, low, high), integers.Scale(1, 0), integers.Shift(1), integers.Check(a, b))
            field = smallest_field(given)
            emission = emit(given, field)
            search = Search(emission.system)
            accepted = {
                element
                for element in range(field.prime)
                if search.solutions(given_wires(emission, {"in0": np.array(element)}), limit=1)
            }
            assert accepted == {x % field.prime for x in range(low, high + 1) if a <= x >> 1 <= b}


def gathered() -> IntegerProgram:
    """One of three constants, at an index that may be outside."""
    builder = Builder()
    index = builder.input(Fixed((), 0, 0, 3))
    table = builder.add(integers.Constant.of(np.array([5, -7, 2])))
    return program(builder.build([builder.add(integers.Gather(0), table, index)]))


@pytest.mark.parametrize(
    "given",
    [
        chain(Fixed((), 0, -5, 6), integers.Shift(1), integers.Check(-2, 3), integers.ReLU()),
        single(integers.Divide(), Fixed((), 0, -2, 2), Fixed((), 0, 1, 3)),
        chain(Fixed((), 0, 0, 12), integers.SquareRoot()),
        chain(Fixed((), 0, -9, 0), integers.Scale(3, 0), integers.IsNegative()),
        chain(Fixed((), 0, -3, 4), integers.Lookup(-3, np.array([5, -7, 0, 3, 1, 1, -2, 6]), 0)),
        gathered(),
    ],
    ids=["shift", "divide", "square_root", "is_negative", "lookup", "gather"],
)
def test_no_row_is_idle(given: IntegerProgram) -> None:
    """Without any one row there are more witnesses than there should be."""
    emission = emit(given, smallest_field(given))
    formats = [port.format for port in given.inputs if port.format is not None]
    wires = list(given_wires(emission, {port.name: np.array(0) for port in given.inputs}))
    tried = list(product(*[range(format.low - 3, format.high + 4) for format in formats]))

    def accepted(search: Search) -> int:
        return sum(len(search.solutions(dict(zip(wires, values, strict=True)))) for values in tried)

    honest = accepted(Search(emission.system))
    assert honest > 0
    for row in range(emission.system.constraints):
        assert accepted(Search(without(emission.system, row))) > honest, f"row {row}"


def small_step() -> IntegerProgram:
    model = cz.sequential(cz.dense(2, 2), cz.relu(), cz.dense(2, 1))
    step = cz.training_step(model, cz.mean_squared_error, cz.SGD(), batch=1)
    given = {"inputs": np.array([[0.5, 0.25]]), "targets": np.array([[1.0]]), "learning_rate": np.array(0.125)}
    return cz.quantize(with_examples(step, {**cz.start(step, model, seed=0), **given}))


def test_whole_steps_have_one_witness() -> None:
    """Commitments included: a small one, or irises; the digits step, of a quarter of a million rows, has one too."""
    given = example("iris.py:step").integer if TIER == "deep" else small_step()
    emission = emit(given)
    inputs = {port.name: to_integers(port, given.examples[0][port.name], "example") for port in given.inputs}
    salts = random_salts(emission.plan)
    found = BN254.to_integers(witness(emission.plan, integer.trace(given, inputs), salts))
    known = given_wires(emission, inputs)
    first = {block.role: block.first for block in emission.system.wire_blocks}
    known |= {first[f"{name} salt"]: salt for name, salt in salts.items()}
    search = Search(emission.system)
    assert search.solutions(known) == [found]
    for wire in (1, 2, emission.system.public_outputs)[: count(1, deep=3)]:
        assert search.solutions({**known, wire: found[wire] + 1}) == []


def test_a_wire_that_nothing_determines_is_reported() -> None:
    emission = emit(chain(Fixed((), 0, -9, 0), integers.Scale(3, 0), integers.IsNegative()))
    (rows,) = [block for block in emission.system.blocks if block.role == "inverse"]
    known = given_wires(emission, {"in0": np.array(0)})
    assert len(Search(emission.system).solutions(known)) == 1
    with pytest.raises(Undetermined):
        Search(without(emission.system, rows.first_row)).solutions(known)

"""Under-constraint analysis: what it calls determined is, and what is not is shown by two witnesses of one input."""

from __future__ import annotations

from collections import defaultdict
from math import prod

import numpy as np
import pytest
import tiers
from arrays_cases import cases as real_cases
from audited_systems import GADGETS, WIDE_DIVIDE, Form, built, fixed, random_system, rows
from enumeration import solutions, without
from every_case import every_case
from example_programs import example
from integers_cases import few
from operations.integer import Case
from operations.real import Case as RealCase
from quantized_cases import program as quantized
from r1cs_programs import chain, program, single

from circuitize.backends.field import BN254, Field
from circuitize.backends.r1cs.audit import audit
from circuitize.backends.r1cs.audit.mutation import satisfies
from circuitize.backends.r1cs.audit.removal import inputs_of
from circuitize.backends.r1cs.builder import Kind, SystemBuilder
from circuitize.backends.r1cs.emit import constraints
from circuitize.backends.r1cs.system import ConstraintSystem, Rows
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import IntegerOperation
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed

MOST_ELEMENTS = tiers.count(512, deep=4096)
"""Of an operand: circuits of the cases then have at most 20,000 rows, or 100,000."""


def small(case: Case) -> bool:
    return all(source.size <= MOST_ELEMENTS for source in case.sources)


SMALL = [case for case in few() if small(case)]
ENDS = dict.fromkeys([*tiers.of_each(SMALL, first=True), *tiers.of_each(SMALL)])
"""The first and the last case of each operation, in `deep` all."""


@every_case(ENDS)
def test_every_integer_operation_is_determined(case: Case) -> None:
    found = audit(constraints(single(case.operation, *case.sources)))
    assert found.determined, found.open_wires[:5]
    assert not found.impossible


def size(case: RealCase) -> int:
    return sum(prod(source.shape) for source in case.sources)


SHRINKING: list[RealCase] = sorted(real_cases(), key=size, reverse=True)
"""The last case of each operation is its smallest: elements more are rows of the same kinds. In `make test` every sixth
operation: all are made of integer operations, each of which is audited.
"""


@every_case(tiers.of_each(SHRINKING)[:: tiers.count(6, deep=1)])
def test_every_real_operation_is_determined(case: RealCase) -> None:
    found = audit(constraints(quantized(case)))
    assert found.determined, found.open_wires[:5]


@pytest.mark.parametrize("name", ["iris.py:predict", pytest.param("iris.py:step", marks=pytest.mark.deep)])
def test_a_network_is_determined(name: str) -> None:
    system = constraints(example(name).integer)
    found = audit(system)
    assert found.determined
    assert sum(found.rules.values()) == system.wires - 1


def divided(divisor: int) -> IntegerProgram:
    """floor(x / d) by a constant: a linear quotient."""
    builder = Builder()
    x = builder.input(fixed(-20, 30))
    return program(builder.build([builder.add(integers.Divide(), x, builder.add(integers.Constant.splat(divisor)))]))


def test_quotients_by_constants_are_determined() -> None:
    for divisor in (1, 2, 3, 7):
        assert audit(constraints(divided(divisor))).determined


def truly_determined(system: ConstraintSystem) -> set[int]:
    """By enumeration of every assignment: the wires that never differ among witnesses of the same inputs."""
    found = solutions(system)
    groups = defaultdict(list)
    inputs = list(inputs_of(system))
    for line in found:
        groups[tuple(line[inputs].tolist())].append(line)
    same = np.ones(system.wires, np.bool_)
    for lines in groups.values():
        table = np.array(lines)
        same &= (table == table[0]).all(axis=0)
    return set(np.flatnonzero(same).tolist())


def check_against_enumeration(system: ConstraintSystem) -> int:
    """The audit never calls a wire determined that is not, and its two witnesses are two; the wires it leaves open."""
    found, truth = audit(system), truly_determined(system)
    assert set(range(system.wires)) - set(found.open_wires) <= truth
    if found.ambiguity is not None:
        first, second = found.ambiguity.first, found.ambiguity.second
        assert satisfies(system, first) and satisfies(system, second) and first != second
        assert [first[wire] for wire in inputs_of(system)] == [second[wire] for wire in inputs_of(system)]
        assert not truth & set(found.ambiguous)
    return len(set(found.open_wires) & truth)


ENUMERATED = [
    pytest.param(gadget, id=f"{gadget[1].name} {place}", marks=pytest.mark.deep if place == WIDE_DIVIDE else ())
    for place, gadget in enumerate(GADGETS)
]
"""But for the larger of two divisions, each in `make test`."""


@pytest.mark.parametrize("gadget", ENUMERATED)
def test_gadgets_less_a_row_against_enumeration(gadget: tuple[int, IntegerOperation, tuple[Fixed, ...]]) -> None:
    """Over a small field all assignments can be listed: with each row left out in turn, nothing is called determined
    that is not.
    """
    prime, operation, sources = gadget
    system = constraints(single(operation, *sources), Field(prime))
    checked = 0
    for row in range(system.constraints):
        try:
            check_against_enumeration(without(system, row))
        except AssertionError as error:
            if "too many partial assignments" not in str(error):
                raise
            continue
        checked += 1
    assert 2 * checked > system.constraints


@pytest.mark.parametrize("seed", tiers.seeds(2, deep=200))
def test_random_systems_against_enumeration(seed: int) -> None:
    random = np.random.default_rng(seed)
    missed = sum(check_against_enumeration(random_system(random)) for _ in range(60))
    assert missed < 60 * 4


def test_a_zero_test_without_its_third_row() -> None:
    """circomlib's IsZero: where the input is 0 its inverse may be anything; with the third row it may not."""
    x, flag, inverse = 1, 2, 3
    two = [({x: 1}, {inverse: 1}, {flag: 1}), ({x: 1}, {0: 1, flag: -1}, {})]
    found = audit(built(BN254.prime, 1, 2, two))
    assert found.ambiguous == [inverse] and found.open_wires == [inverse]
    assert found.ambiguity is not None and found.ambiguity.first[x] == 0
    third: tuple[Form, Form, Form] = ({inverse: 1}, {0: 1, flag: -1}, {})
    assert audit(built(BN254.prime, 1, 2, [*two, third])).determined


def test_bits_are_unique_only_below_the_prime() -> None:
    """254 bits of a BN254 element: two decompositions of small numbers, the classic hole."""
    for count, determined in ((253, True), (254, False)):
        bits = range(2, 2 + count)
        each = [({bit: 1}, {bit: 1}, {bit: 1}) for bit in bits]
        builder = SystemBuilder(BN254)
        builder.wires(1, -1, "input", kind=Kind.PRIVATE_INPUT)
        builder.wires(count, -1, "bits")
        a, b, c = (rows([row[side] for row in each]) for side in range(3))
        builder.rows(a, b, c, -1, "bits")
        values = [builder.large_constant(1 << place) for place in range(count)]
        sums = Rows(np.array([0, count]), np.array(bits, np.uint32), np.array(values, np.int64))
        builder.rows(sums, Rows.constant([1]), Rows.wire([1]), -1, "sum")
        assert audit(builder.system()).determined is determined


def test_an_impossible_row_is_named() -> None:
    never = ({2: 1}, {2: 1}, {0: 5})
    assert audit(built(7, 1, 1, [never, ({1: 1}, {0: 1}, {2: 1})])).impossible == [0]


def test_a_free_wire_is_found_in_a_large_circuit() -> None:
    """A product's row is lost: its wire is named, with the two values that two witnesses give it."""
    system = constraints(chain(fixed(-100, 100, 50), integers.ReLU(), integers.Scale(3, 0)))
    lost = next(block.first_row + 7 for block in system.blocks if block.role == "relu")
    found = audit(without(system, lost))
    assert not found.determined and found.ambiguity is not None
    assert found.ambiguity.values[0] != found.ambiguity.values[1]

"""Sums that share field elements: exhaustively over small primes, forged over BN254, and where they may not."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from enumeration import check_all_assignments
from r1cs_programs import program

from circuitize.backends.field import BN254, Field
from circuitize.backends.r1cs.checker import failing_rows
from circuitize.backends.r1cs.emit import Emission, emit
from circuitize.backends.r1cs.gadgets.accumulation import Pin
from circuitize.backends.r1cs.witness import witness
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed, signed
from circuitize.sims import integer


def fixed(low: int, high: int, *shape: int) -> Fixed:
    return Fixed(shape, 0, low, high)


BIT_PAIRS = fixed(0, 1, 2, 1)


def packed_rows(given: IntegerProgram, prime: int = BN254.prime) -> int:
    return sum(block.rows for block in emit(given, Field(prime)).system.blocks if block.role == "packed product")


def contraction(equation: str, left: Fixed, right: Fixed, *after: integers.IntegerOperation) -> IntegerProgram:
    builder = Builder()
    wire = builder.add(integers.Contract(equation), *builder.inputs([left, right]))
    for operation in after:
        wire = builder.add(operation, wire)
    return program(builder.build([wire]))


@pytest.mark.parametrize(
    ("given", "prime", "rows"),
    [
        (contraction("i,ij->j", fixed(0, 1, 2), fixed(0, 1, 2, 2), integers.Shift(1)), 67, 2),
        (contraction("ij,j->i", fixed(0, 1, 2, 2), fixed(0, 1, 2), integers.Shift(1)), 67, 2),
        (contraction("i,j->ij", fixed(0, 1, 2), fixed(0, 1, 2), integers.Scale(3, 0), integers.Shift(1)), 257, 1),
        (contraction("i,j->ij", fixed(0, 1, 2), fixed(0, 1, 2), integers.Scale(-3, 0), integers.Shift(1)), 61, 2),
        (contraction("ki,ij->kj", fixed(-1, 0, 1, 2), fixed(0, 1, 2, 2), integers.Shift(1)), 67, 2),
        (contraction("bi,bj->bij", BIT_PAIRS, fixed(0, 1, 2, 2), integers.Scale(3, 0), integers.Shift(1)), 67, 2),
    ],
    ids=str,
)  # fmt: skip
def test_every_assignment(given: IntegerProgram, prime: int, rows: int) -> None:
    assert packed_rows(given, prime) == rows
    check_all_assignments(given, prime)


def test_with_known_forms_beside_the_sums() -> None:
    """x = b - 3 * transposed sums, and a Check of the quotient."""
    builder = Builder()
    x, y, b = builder.inputs([fixed(0, 1, 2), fixed(0, 1, 2), fixed(0, 1, 2, 2)])
    sums = builder.add(integers.Scale(3, 0), builder.add(integers.Contract("i,j->ij"), x, y))
    turned = builder.add(integers.Reindex(integers.View.transpose((2, 2), (1, 0))), sums)
    shifted = builder.add(integers.Shift(1), builder.add(integers.Subtract(), b, turned))
    given = program(builder.build([builder.add(integers.Check(-1, 0), shifted)]))
    assert packed_rows(given, 101) == 2
    check_all_assignments(given, 101)


def test_of_two_sums_that_meet_one_stays_plain() -> None:
    builder = Builder()
    x, y = builder.inputs([fixed(0, 1, 1, 2), fixed(0, 1, 2, 2)])
    first, second = (builder.add(integers.Contract("bi,ij->bj"), x, y) for _ in range(2))
    total = builder.add(integers.Shift(1), builder.add(integers.Add(), first, second))
    given = program(builder.build([total]))
    blocks = emit(given, Field(131)).system.blocks
    assert [block.rows for block in blocks if "product" in block.role] == [2, 4]
    check_all_assignments(given, 131)


def test_capacity_keeps_deviations_apart() -> None:
    for prime in (17, 61, 257, 1009):
        for deviation in range(1, 8):
            count, bits = Pin(deviation, 1).capacity(prime)
            assert count * bits < prime.bit_length() + bits
            span = range(-deviation, deviation + 1)
            for amounts in product(span, repeat=min(count, 3)):
                total = sum(amount << (bits * place) for place, amount in enumerate(amounts))
                assert total % prime or not any(amounts)


LEFT, RIGHT = signed((4, 6), 8, 4), signed((6, 5), 8, 4)


def test_what_keeps_a_contraction_plain() -> None:
    """Another reader of the sums, an output, a reader that is not linear, an element that is lost or repeated."""
    builder = Builder()
    x, y, z = builder.inputs([LEFT, RIGHT, fixed(0, 1, 4, 5)])

    def sums() -> int:
        return builder.add(integers.Contract("bi,ij->bj"), x, y)

    twice, out, selected, padded, doubled = (sums() for _ in range(5))
    pad = integers.Reindex(integers.View.pad((4, 5), (0, 0), (0, 1)))
    outputs = [
        builder.add(integers.Shift(4), twice),
        builder.add(integers.ReLU(), twice),
        out,
        builder.add(integers.Shift(4), builder.add(integers.Multiply(), selected, z)),
        builder.add(integers.Shift(4), builder.add(pad, padded)),
        builder.add(integers.Shift(4), builder.add(integers.Add(), doubled, doubled)),
    ]
    assert packed_rows(program(builder.build(outputs))) == 0


def test_constant_operands_stay_free() -> None:
    builder = Builder()
    x = builder.input(LEFT)
    y = builder.add(integers.Constant.of(np.arange(30).reshape(6, 5), 4))
    given = program(builder.build([builder.add(integers.Shift(4), builder.add(integers.Contract("bi,ij->bj"), x, y))]))
    assert packed_rows(given) == 0


DEVIATION = 6 * 128 * 128 + (1 << 15)
"""Sums are in [-6 * 127 * 128, 6 * 128^2], and the quotient's window is [-2^15, 2^15 - 1]."""


def dense() -> tuple[IntegerProgram, Emission, dict[str, np.ndarray]]:
    given = contraction("bi,ij->bj", LEFT, RIGHT, integers.Shift(4), integers.Check(-2048, 2047))
    random = np.random.default_rng(3)
    return given, emit(given), {f"in{i}": random.integers(-128, 128, f.shape) for i, f in enumerate((LEFT, RIGHT))}


def test_witnesses_satisfy() -> None:
    given, emission, inputs = dense()
    assert packed_rows(given) == 6 * 2
    found = witness(emission.plan, integer.trace(given, inputs))
    assert not len(failing_rows(emission.system, found))


def test_forged_sums_fail() -> None:
    """One sum changed breaks its block; two changed so that the block's packed sums stay break their range checks."""
    given, emission, inputs = dense()
    honest = witness(emission.plan, integer.trace(given, inputs))
    (block,) = (block for block in emission.system.wire_blocks if block.role == "accumulator")
    _, bits = Pin(DEVIATION, 1).capacity(BN254.prime)
    values = BN254.to_integers(honest)
    for changes, roles in (({0: 2}, {"packed product", "shift"}), ({0: 1 << bits, 1: -1}, {"shift"})):
        forged = list(values)
        for place, amount in changes.items():
            forged[block.first + place] = (forged[block.first + place] + amount) % BN254.prime
        failing = failing_rows(emission.system, BN254.from_integers(forged))
        found = {b.role for row in failing for b in emission.system.blocks if 0 <= row - b.first_row < b.rows}
        assert found == roles

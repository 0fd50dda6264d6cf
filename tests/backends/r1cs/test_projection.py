"""Contractions tested by a challenge: all challenges over small primes, and forgeries against the hashed one."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from enumeration import solutions
from numpy.typing import NDArray

from circuitize.backends.field import BN254, Field, Limbs
from circuitize.backends.forms import wires
from circuitize.backends.r1cs.accumulators import pins
from circuitize.backends.r1cs.builder import SystemBuilder
from circuitize.backends.r1cs.challenge import Challenge
from circuitize.backends.r1cs.checker import failing_rows
from circuitize.backends.r1cs.cost import estimate
from circuitize.backends.r1cs.emit import Emission, emit
from circuitize.backends.r1cs.gadgets.accumulation import Axes, Blocks, Contraction
from circuitize.backends.r1cs.gadgets.assembly import Assembly, Handle, Site
from circuitize.backends.r1cs.gadgets.projection import Projection, project
from circuitize.backends.r1cs.gadgets.ranges import entering, shift
from circuitize.backends.r1cs.gadgets.transcript import Transcript
from circuitize.backends.r1cs.witness import random_salts, witness
from circuitize.backends.values import WireValue
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed, signed
from circuitize.sims import integer

Integers = NDArray[np.int64]
NOTHING = WireValue(0, 0)


@pytest.mark.parametrize(("columns", "degree"), [(1, 2), (2, 1)])
def test_each_wrong_sum_passes_for_few_challenges(columns: int, degree: int) -> None:
    """x * w[j] for three j, over GF(17) with the challenge a free wire: every assignment of every wire."""
    prime, bits = 17, 2
    builder = SystemBuilder(Field(prime))
    assembly = Assembly(builder)
    types = [Fixed((1, 1), 0, 0, 1), Fixed((1, 3), 0, 0, 1), Fixed((1, 3), 0, 0, 1)]
    x, w, z = (wires(builder.wires(t.size, -1, name), t.size) for name, t in zip("xwz", types, strict=True))
    challenge = builder.wires(1, -1, "challenge")
    left, right = (
        entering(assembly, forms, NOTHING, type, "range") for forms, type in zip((x, w), types[:2], strict=True)
    )
    tripled = Handle(z.scale(3), NOTHING, Fixed((1, 3), 0, 0, 3))
    shift(Site(assembly, tripled.type, NOTHING, (0, 1), False, 1), tripled, 1)
    plan = Blocks(Axes("", "b", "j", "i", {"b": 1, "i": 1, "j": 3}), 1, columns, bits)
    contraction = Contraction(("bi", "ij", "bj"), left, right, types[2], NOTHING)
    projection = Projection(-1, plan, contraction, Handle(z, NOTHING, types[2]))
    assert projection.degree == degree
    project(assembly, projection, Transcript(), challenge)
    found = solutions(builder.system())
    passing: dict[tuple[int, ...], list[int]] = {}
    for line in found.tolist():
        passing.setdefault(tuple(line[1:8]), []).append(line[challenge])
    right_ones = [key for key in passing if all(key[4 + j] == key[0] * key[1 + j] for j in range(3))]
    assert len(right_ones) == 16
    for key, challenges in passing.items():
        if key in right_ones:
            assert sorted(challenges) == list(range(prime))
        else:
            assert len(challenges) == len(set(challenges)) <= degree
    assert len(passing) > 16, "some wrong sums do pass for some challenge"


SIZE, BITS, BY = 32, 20, 4
RELATION = 6


def dense() -> IntegerProgram:
    """Everything committed; sums of 45 bits, five to an element."""
    builder = Builder()
    operand = signed((SIZE, SIZE), BITS, 0)
    x, w = builder.inputs([operand, operand])
    shifted = builder.add(integers.Shift(BY), builder.add(integers.Contract("bi,ij->bj"), x, w))
    arrow = builder.build([shifted])
    (out,) = arrow.target
    assert isinstance(out, Fixed)
    committed = Visibility.COMMITTED
    return IntegerProgram(
        arrow, (Port("x", committed, operand), Port("w", committed, operand)), (Port("y", committed, out),)
    )


@pytest.fixture(scope="module")
def made() -> tuple[IntegerProgram, Emission, dict[str, Integers], dict[str, int]]:
    given = dense()
    random = np.random.default_rng(11)
    inputs = {name: random.integers(-(1 << 19), 1 << 19, (SIZE, SIZE)) for name in ("x", "w")}
    emission = emit(given)
    return given, emission, inputs, random_salts(emission.plan)


Made = tuple[IntegerProgram, Emission, dict[str, Integers], dict[str, int]]


def roles(emission: Emission, found: Limbs) -> set[str]:
    blocks = emission.system.blocks
    starts = [block.first_row for block in blocks]
    places = np.searchsorted(starts, failing_rows(emission.system, found), side="right") - 1
    return {blocks[place].role for place in places.tolist()}


def forged(made: Made, change: Integers) -> Limbs:
    """The witness of a run whose sums are off by `change`, everything after them computed from those."""
    given, emission, inputs, salts = made
    trace = list(integer.trace(given, inputs))
    sums, quotient = 2, given.arrow.outputs.tolist()[0]
    trace[sums] = trace[sums] + change
    trace[quotient] = trace[sums] >> BY
    return witness(emission.plan, trace, salts)


def challenge(emission: Emission, found: Limbs) -> int:
    block = next(block for block in emission.system.wire_blocks if block.role == "challenge")
    return BN254.to_integers(found[block.first + block.count - 1 : block.first + block.count])[0]


def test_the_contraction_is_projected_and_satisfied(made: Made) -> None:
    given, emission, _, _ = made
    sizes = estimate(given)
    assert emission.challenge_degree == sizes["challenge_degree"] > 0
    assert sizes["constraints"] == emission.system.constraints
    assert sizes["nonzeros"] == emission.system.nonzeros
    plain = emit(given, challenge=Challenge.NONE)
    assert plain.challenge_degree == 0
    assert plain.system.constraints > emission.system.constraints
    assert not roles(emission, forged(made, np.zeros((SIZE, SIZE), np.int64)))


def test_a_wrong_sum_changes_the_challenge_and_fails_there(made: Made) -> None:
    emission = made[1]
    honest = forged(made, np.zeros((SIZE, SIZE), np.int64))
    for place, amount in (((0, 0), 1), ((5, 31), -(1 << BY)), ((31, 7), 3 << 20)):
        change = np.zeros((SIZE, SIZE), np.int64)
        change[place] = amount
        found = forged(made, change)
        assert challenge(emission, found) != challenge(emission, honest)
        assert roles(emission, found) == {"projected product"}


def test_a_wrong_operand_changes_the_challenge_and_fails_there(made: Made) -> None:
    given, emission, inputs, salts = made
    honest = forged(made, np.zeros((SIZE, SIZE), np.int64))
    for name, wire in (("x", 0), ("w", 1)):
        trace = list(integer.trace(given, inputs))
        trace[wire] = inputs[name].copy()
        trace[wire][3, 4] += 1
        found = witness(emission.plan, trace, salts)
        assert challenge(emission, found) != challenge(emission, honest)
        assert roles(emission, found) == {"projected product"}


def test_a_drawn_challenge_comes_after_sums_and_operands_and_tests_them(made: Made) -> None:
    """With a commitment outside: what is tested is among the wires it fixes, and changing any of it changes those."""
    given, _, inputs, _ = made
    emission = emit(given, challenge=Challenge.COMMITTED)
    assert emission.challenge_degree > 0
    first = emission.plan.first_phase
    roles_before = {block.role for block in emission.system.wire_blocks if block.first < first}
    roles_after = {block.role for block in emission.system.wire_blocks if block.first >= first}
    assert {"input x", "input w", "accumulator"} <= roles_before
    assert {"folded operand", "folded sum", "projected product"} <= roles_after
    salts, seen = random_salts(emission.plan), []

    def draw(fixed: Limbs) -> int:
        seen.append(fixed)
        return 3**150

    def made_of(place: int, element: tuple[int, int], amount: int) -> Limbs:
        trace = list(integer.trace(given, inputs))
        trace[place] = trace[place].copy()
        trace[place][element] += amount
        if place == 2:
            trace[given.arrow.outputs.tolist()[0]] = trace[2] >> BY
        return witness(emission.plan, trace, salts, draw)

    assert not roles(emission, made_of(2, (0, 0), 0))
    for place, element, amount in ((2, (5, 31), 1), (2, (0, 0), -(1 << BY)), (0, (3, 4), 1), (1, (31, 0), -1)):
        assert roles(emission, made_of(place, element, amount)) == {"projected product"}
        assert not np.array_equal(seen[-1], seen[0])


def test_sums_that_nothing_commits_to_and_inputs_in_the_open() -> None:
    """All bits of the sums are absorbed, and inputs that have no digest are absorbed themselves."""
    builder = Builder()
    operands = [signed((16, 256), 12, 0), signed((256, 16), 12, 0), signed((16, 16), 8, 0), signed((16, 16), 8, 0)]
    x, w, b, c = builder.inputs(operands)
    sums = builder.add(integers.Subtract(), b, builder.add(integers.Contract("bi,ij->bj"), x, w))
    shifted = builder.add(integers.Shift(4), builder.add(integers.Add(), sums, c))
    arrow = builder.build([builder.add(integers.ReLU(), shifted)])
    committed, private, public = Visibility.COMMITTED, Visibility.PRIVATE, Visibility.PUBLIC
    ports = zip("xwbc", (committed, committed, private, public), operands, strict=True)
    (out,) = arrow.target
    assert isinstance(out, Fixed)
    given = IntegerProgram(arrow, tuple(Port(*port) for port in ports), (Port("y", public, out),))
    emission = emit(given)
    assert emission.challenge_degree > 0
    random = np.random.default_rng(2)
    inputs = {p.name: random.integers(p.format.low, p.format.high, p.format.shape) for p in given.inputs if p.format}
    salts = random_salts(emission.plan)
    honest = witness(emission.plan, integer.trace(given, inputs), salts)
    assert not roles(emission, honest)
    for name in "bc":
        other = inputs | {name: inputs[name].copy()}
        other[name][1, 2] ^= 1
        found = witness(emission.plan, integer.trace(given, other), salts)
        assert not roles(emission, found)
        assert challenge(emission, found) != challenge(emission, honest)
    trace = list(integer.trace(given, inputs))
    product = next(wire for wire, values in enumerate(trace) if values.shape == (16, 16) and wire > 3)
    trace[product] = trace[product].copy()
    trace[product][3, 3] += 16
    for wire, (left, sign, right) in ((product + 1, (2, -1, product)), (product + 2, (product + 1, 1, 3))):
        trace[wire] = trace[left] + sign * trace[right]
    trace[product + 3] = trace[product + 2] >> 4
    trace[product + 4] = np.maximum(trace[product + 3], 0)
    found = witness(emission.plan, trace, salts)
    assert challenge(emission, found) != challenge(emission, honest)
    assert roles(emission, found) == {"projected product"}


def test_sums_that_fit_the_old_challenge_fail_the_hash(made: Made) -> None:
    """Once r is known, lattice reduction finds wrong sums that pass every test at r: only the hash stops them."""
    given, emission, _, _ = made
    honest = forged(made, np.zeros((SIZE, SIZE), np.int64))
    r = challenge(emission, honest)
    bits = pins(given.arrow, {}, set(), frozenset())[2].capacity(BN254.prime)[1]
    folds = next(block for block in emission.system.wire_blocks if block.role == "folded sum")
    columns = -(-SIZE // (folds.shape[1] + 1))
    change = np.zeros((SIZE, SIZE), np.int64)
    weights = [(pow(r, j // columns, BN254.prime) << (bits * (j % columns))) % BN254.prime for j in range(RELATION)]
    change[0, :RELATION] = short_relation(weights, BN254.prime)
    assert change.any()
    found = forged(made, change)
    assert roles(emission, found) == {"projected product"}, "the new challenge finds them"
    # The old challenge, and what follows from it: every row of the identity holds, but not those of the hash.
    for block in emission.system.wire_blocks:
        if block.role in ("challenge", "folded operand", "projected product"):
            found[block.first : block.first + block.count] = honest[block.first : block.first + block.count]
    refold(emission, found, r)
    assert roles(emission, found) == {"challenge"}


def refold(emission: Emission, found: Limbs, r: int) -> None:
    """Recomputes the folds of the sums with r: each row's A times r, last column first."""
    system = emission.system
    for block in system.blocks:
        if block.role != "folded sum":
            continue
        for row in reversed(range(block.first_row, block.first_row + block.rows)):
            terms = slice(int(system.a.offsets[row]), int(system.a.offsets[row + 1]))
            coefficients = BN254.to_integers(system.coefficient_limbs(system.a.coefficients[terms]))
            values = BN254.to_integers(found[system.a.wires[terms]])
            total = sum(c * v for c, v in zip(coefficients, values, strict=True))
            wire = int(system.c.wires[system.c.offsets[row]])
            found[wire] = BN254.from_integers([total * r])[0]


def short_relation(weights: list[int], prime: int) -> list[int]:
    """Small integers, not all 0, with sum of a_i * weights[i] = 0 modulo the prime (Lenstra, Lenstra, Lovasz)."""
    size = len(weights)
    inverse = pow(weights[0], -1, prime)
    basis = [[prime if i == 0 else 0 for i in range(size)]]
    for place in range(1, size):
        line = [0] * size
        line[0], line[place] = -weights[place] * inverse % prime, 1
        basis.append(line)
    return min(reduced(basis), key=lambda line: max(map(abs, line)))


def reduced(basis: list[list[int]]) -> list[list[int]]:
    def dot(a: Sequence[Fraction | int], b: Sequence[Fraction | int]) -> Fraction:
        return sum((Fraction(x) * y for x, y in zip(a, b, strict=True)), Fraction(0))

    def orthogonal() -> tuple[list[list[Fraction]], list[list[Fraction]]]:
        stars: list[list[Fraction]] = []
        factors = [[Fraction(0)] * len(basis) for _ in basis]
        for i, line in enumerate(basis):
            star = [Fraction(x) for x in line]
            for j, earlier in enumerate(stars):
                factors[i][j] = dot(line, earlier) / dot(earlier, earlier)
                star = [s - factors[i][j] * e for s, e in zip(star, earlier, strict=True)]
            stars.append(star)
        return stars, factors

    k = 1
    stars, factors = orthogonal()
    while k < len(basis):
        for j in reversed(range(k)):
            step = round(factors[k][j])
            if step:
                # This leaves the stars as they are.
                basis[k] = [a - step * b for a, b in zip(basis[k], basis[j], strict=True)]
                factors[k] = [a - step * b for a, b in zip(factors[k], factors[j], strict=True)]
                factors[k][j] -= step
        if dot(stars[k], stars[k]) >= (Fraction(3, 4) - factors[k][k - 1] ** 2) * dot(stars[k - 1], stars[k - 1]):
            k += 1
        else:
            basis[k], basis[k - 1] = basis[k - 1], basis[k]
            stars, factors = orthogonal()
            k = max(k - 1, 1)
    return basis

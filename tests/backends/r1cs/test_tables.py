"""Range checks by tables: every challenge over a small prime, and forgeries by who knows the challenge too early."""

from __future__ import annotations

import numpy as np
import pytest
from enumeration import solutions
from numpy.typing import NDArray
from r1cs_programs import chain, program

from circuitize.backends.field import BN254, Field, Limbs
from circuitize.backends.forms import wires
from circuitize.backends.r1cs.builder import Kind, SystemBuilder
from circuitize.backends.r1cs.challenge import Challenge
from circuitize.backends.r1cs.checker import failing_rows
from circuitize.backends.r1cs.cost import estimate
from circuitize.backends.r1cs.emit import Emission, emit
from circuitize.backends.r1cs.gadgets.assembly import Assembly
from circuitize.backends.r1cs.gadgets.tables import Tables, base, tables
from circuitize.backends.r1cs.system import Matrix
from circuitize.backends.r1cs.witness import witness
from circuitize.backends.values import WireValue
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.port import Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed, signed
from circuitize.sims import integer

NOTHING = WireValue(0, 0)
PRIME = 13


def test_each_value_outside_passes_for_few_challenges() -> None:
    """x in [0, 3) over GF(13), challenge and counts free wires: every assignment of every wire."""
    builder = SystemBuilder(Field(PRIME))
    assembly, lookups = Assembly(builder), Tables()
    x = builder.wires(1, -1, "x")
    challenge = builder.wires(1, -1, "challenge")
    lookups.within(assembly, wires(x, 1), NOTHING, 3, "range")
    lookups.commit(assembly)
    lookups.show(assembly, challenge)
    (counts,) = (first for _, first in lookups.counts.values())
    passing: dict[tuple[int, ...], list[int]] = {}
    for line in solutions(builder.system()).tolist():
        passing.setdefault((line[x], *line[counts : counts + 3]), []).append(line[challenge])
    right = [(value, *(int(value == j) for j in range(3))) for value in range(3)]
    for key, challenges in passing.items():
        if key in right:
            assert set(challenges) >= {r for r in range(PRIME) if all((r + j) % PRIME for j in range(3))}
        else:
            assert len(set(challenges)) <= lookups.degree
    assert set(right) <= set(passing)
    assert any(key[0] > 2 for key in passing), "some values outside do pass for some challenge"


@pytest.mark.parametrize("size", [3, 5, 8, 16])
def test_two_lookups_in_a_larger_table_leave_the_interval(size: int) -> None:
    larger, prime = 16, 97
    inside = [x for x in range(prime) if x < larger and (x + larger - size) % prime < larger]
    assert inside == list(range(size))


def test_the_cheapest_base_and_tables() -> None:
    assert tables({3: 2, 8: 100, 16: 1}) == [8, 16]
    assert base({1 << 18: 1}) < base({1 << 18: 100_000})
    assert base({4: 10}) == 2


FORMAT = Fixed((40,), 0, -500, 700)


def shifts() -> IntegerProgram:
    """Bounds that are no powers of two on both sides, a sign, a narrower Check."""
    return chain(FORMAT, integers.Scale(37, 0), integers.Shift(6), integers.Check(-200, 300), integers.ReLU())


def emitted(given: IntegerProgram) -> Emission:
    return emit(given, challenge=Challenge.COMMITTED)


def roles(emission: Emission, found: Limbs) -> set[str]:
    blocks = emission.system.blocks
    starts = [block.first_row for block in blocks]
    places = np.searchsorted(starts, failing_rows(emission.system, found), side="right") - 1
    return {blocks[place].role for place in places.tolist()}


def test_what_is_tested_is_fixed_before_the_challenge() -> None:
    given = shifts()
    emission = emitted(given)
    system, first = emission.system, emission.plan.first_phase
    assert first == 1 + system.public + system.committed > 1 + system.public + system.private_inputs
    assert system.wire_blocks[-1].role.endswith("fraction")
    for block in system.blocks:
        rows = slice(system.b.offsets[block.first_row], system.b.offsets[block.first_row + block.rows])
        fixed = system.b.wires[rows]
        if block.role.endswith(" table"):
            assert set(fixed[fixed >= first].tolist()) == set()
            assert system.public in fixed
        elif block.role.startswith("table ") and not block.role.endswith(" sum"):
            ends = slice(system.c.offsets[block.first_row], system.c.offsets[block.first_row + block.rows])
            assert system.c.wires[ends].max() < first
    sizes = estimate(given, challenge=Challenge.COMMITTED)
    assert sizes["constraints"] == system.constraints
    assert sizes["challenge_degree"] == emission.challenge_degree > 0


@pytest.mark.parametrize("change", [1, -1, 200, -200])
@pytest.mark.parametrize("wire", ["scaled", "shifted"])
def test_wrong_quotients_have_no_row_to_hide_in(wire: str, change: int) -> None:
    given = shifts()
    emission = emitted(given)
    values = np.random.default_rng(3).integers(-300, 300, 40)
    trace = list(integer.trace(given, {"in0": values}))
    assert not roles(emission, witness(emission.plan, trace))
    place = {"scaled": 1, "shifted": 2}[wire]
    trace[place] = trace[place].copy()
    trace[place][7] += change
    for edge in list(given.arrow.edges())[place:]:
        if not isinstance(edge.operation, integers.Check):
            trace[edge.targets[0]] = edge.operation.run(trace[edge.sources[0]])[0]
        else:
            trace[edge.targets[0]] = trace[edge.sources[0]]
    found = roles(emission, witness(emission.plan, trace))
    assert found


def free_range() -> IntegerProgram:
    """Private numbers below 1000, of which only the sum is told, plus a public number."""
    builder = Builder()
    x, y = builder.inputs([Fixed((200,), 0, 0, 999), Fixed((), 0, 0, 999)])
    total = builder.add(integers.Sum(integers.View.broadcast((200,), [0])), x)
    made = program(builder.build([builder.add(integers.Add(), total, y)]))
    return made.with_visibility(in0=Visibility.PRIVATE)


def number(found: Limbs, wire: int) -> int:
    return BN254.to_integers(found[wire : wire + 1])[0]


def cheat(emission: Emission, found: Limbs, values: NDArray[np.int64], r: int) -> Limbs:
    """Two numbers become 1500 and 500 less what was added; the counts are bent until the sums agree for r."""
    system, prime = emission.system, BN254.prime
    (inputs,) = (block for block in system.wire_blocks if block.role == "input in0")
    forged = found.copy()
    moved = 1500 - int(values[0])
    for place, value in ((0, values[0] + moved), (1, values[1] - moved)):
        forged[inputs.first + place] = BN254.from_integers([int(value)])[0]
    for block in system.blocks:
        for row in range(block.first_row, block.first_row + block.rows):
            if block.role.endswith(" table") or block.role.split(" ")[-1].isdigit():
                settle(system.a, system.b, system.c, row, forged)
    sums = [block for block in system.blocks if block.role.endswith(" sum")]
    for block in sums:
        size = int(block.role.split(" ")[1])
        left, right = (evaluate(matrix, block.first_row, forged) for matrix in (system.a, system.c))
        (counts,) = (b for b in system.wire_blocks if b.role == f"table {size} count")
        (fractions,) = (b for b in system.wire_blocks if b.role == f"table {size} fraction")
        missing = (left - right) % prime
        forged[counts.first] = BN254.from_integers([number(forged, counts.first) + missing * r])[0]
        forged[fractions.first] = BN254.from_integers([number(forged, fractions.first) + missing])[0]
    return forged


def evaluate(matrix: Matrix, row: int, found: Limbs) -> int:
    terms = slice(int(matrix.offsets[row]), int(matrix.offsets[row + 1]))
    pairs = zip(matrix.wires[terms].tolist(), matrix.coefficients[terms].tolist(), strict=True)
    total = sum(number(found, wire) * int(coefficient) for wire, coefficient in pairs)
    return total % BN254.prime


def settle(a: Matrix, b: Matrix, c: Matrix, row: int, found: Limbs) -> None:
    """The wire of A's that satisfies a row: C / B."""
    wire = int(a.wires[a.offsets[row]])
    quotient = evaluate(c, row, found) * pow(evaluate(b, row, found), -1, BN254.prime)
    found[wire] = BN254.from_integers([quotient % BN254.prime])[0]


def test_who_knows_the_challenge_first_can_cheat_and_who_does_not_cannot() -> None:
    given = free_range()
    emission = emitted(given)
    values = np.random.default_rng(5).integers(0, 1000, 200)
    trace, early, late = integer.trace(given, {"in0": values, "in1": np.array(7)}), 123456789, 987654321987654321
    honest = witness(emission.plan, trace, draw=lambda first: early)
    assert not roles(emission, honest)
    forged = cheat(emission, honest, values, early)
    assert not roles(emission, forged), "counts chosen after the challenge show anything"
    first = emission.plan.first_phase
    redrawn = witness(emission.plan, trace, draw=lambda first: late)
    redrawn[: emission.system.public] = forged[: emission.system.public]
    redrawn[emission.system.public + 1 : first] = forged[emission.system.public + 1 : first]
    system = emission.system
    for block in system.blocks:
        if block.role.endswith(" table") or block.role.split(" ")[-1].isdigit():
            for row in range(block.first_row, block.first_row + block.rows):
                settle(system.a, system.b, system.c, row, redrawn)
    assert any(role.endswith(" sum") for role in roles(emission, redrawn))


def test_digits_of_another_splitting_are_noticed() -> None:
    """(l0, l1) and (l0 + 2^t, l1 - 1) are one number, and one packed hash; tables refuse the first digit."""
    given = chain(Fixed((3,), 0, 0, (1 << 40) - 1), integers.Scale(1, 0))
    emission = emitted(given)
    found = witness(emission.plan, integer.trace(given, {"in0": np.array([5 << 20, 1 << 39, 77])}))
    (digits,) = (block for block in emission.system.wire_blocks if block.role.endswith("digit"))
    assert not roles(emission, found)
    for place in range(digits.count):
        forged = found.copy()
        value = number(forged, digits.first + place)
        forged[digits.first + place] = BN254.from_integers([value - 1])[0]
        assert roles(emission, forged)


def test_a_program_without_anything_to_test_is_refused() -> None:
    given = chain(Fixed((3,), 0, 0, 1), integers.Scale(2, 0))
    with pytest.raises(CircuitizeError, match="to test by a challenge"):
        emitted(given)


def test_small_fields_and_wrong_order_are_refused() -> None:
    with pytest.raises(CircuitizeError, match="BN254"):
        emit(shifts(), Field(1009), Challenge.COMMITTED)
    builder = SystemBuilder(BN254)
    builder.await_challenge()
    builder.wires(1, -1, "later", kind=Kind.PUBLIC_INPUT)
    with pytest.raises(ValueError, match="last public one"):
        builder.draw()


def test_the_challenge_is_asked_for_once_with_what_came_before() -> None:
    given = shifts()
    emission = emitted(given)
    seen = []

    def draw(first: Limbs) -> int:
        seen.append(first)
        return 1 << 200

    found = witness(emission.plan, integer.trace(given, {"in0": np.zeros(40, np.int64)}), draw=draw)
    (first,) = seen
    assert len(first) == emission.plan.first_phase
    challenge = emission.system.public
    assert not first[challenge].any()
    assert number(found, challenge) == 1 << 200
    assert np.array_equal(np.delete(found[: len(first)], challenge, 0), np.delete(first, challenge, 0))
    assert not roles(emission, found)


def test_wide_signed_formats_need_no_bits() -> None:
    given = chain(signed((64,), 40, 0), integers.ReLU())
    plain, looked_up = emit(given).system.constraints, emitted(given).system.constraints
    assert looked_up < plain / 2

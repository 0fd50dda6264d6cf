"""The checker finds exactly the rows that a witness breaks, judged by Python integers and by galois."""

from dataclasses import replace

import galois
import numpy as np
import pytest
from numpy.typing import NDArray
from tiers import seeds

from circuitize.backends.field import BN254, Field
from circuitize.backends.native import native
from circuitize.backends.r1cs import checker
from circuitize.backends.r1cs.builder import CountingBuilder, Kind, SystemBuilder
from circuitize.backends.r1cs.checker import describe, failing_rows
from circuitize.backends.r1cs.system import LARGE, ConstraintSystem, Matrix, Order, Rows
from circuitize.circuits.errors import CircuitizeError

FIELDS = [Field(7), Field(101), Field((1 << 61) - 1), Field((1 << 89) - 1), BN254]
AWKWARD = [
    0,
    1,
    -1,
    2,
    (1 << 31),
    -(1 << 31) - 1,
    (1 << 61) - 1,
    (1 << 62) - 1,
    1 - (1 << 62),
    1 << 62,
    -(1 << 62),
]
AWKWARD += [(1 << 64) + 1, 1 << 127, -(1 << 200), BN254.prime // 2, BN254.prime // 2 + 1, BN254.prime - 1]


@pytest.fixture(params=["native", "python"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """By the native part, where it can, or in Python alone."""
    if request.param == "python":
        monkeypatch.setattr(checker, "native", lambda: None)
    else:
        assert native() is not None
    return str(request.param)


def combinations(random: np.random.Generator, builder: SystemBuilder, count: int, wires: int) -> Rows:
    """Random rows: some empty, many awkward coefficients."""
    lengths = random.integers(0, 5, count)
    chosen = [np.sort(random.choice(wires, length, replace=False)) for length in lengths]
    values = [builder.large_constant(AWKWARD[i]) for i in random.integers(0, len(AWKWARD), int(lengths.sum()))]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return Rows(offsets, np.concatenate(chosen).astype(np.int64), np.array(values, dtype=np.int64))


def random_system(field: Field, seed: int, count: int = 40, wires: int = 12) -> tuple[SystemBuilder, CountingBuilder]:
    random = np.random.default_rng(seed)
    builder, counter = SystemBuilder(field), CountingBuilder(field)
    for each in (builder, counter):
        each.wires(2, -1, "output", kind=Kind.PUBLIC_OUTPUT)
        each.wires(1, -1, "input", kind=Kind.PUBLIC_INPUT)
        each.wires(3, -1, "input", (3, 1), kind=Kind.PRIVATE_INPUT)
        each.wires(wires - 7, 0, "product")
    for edge in range(3):
        a, b, c = (combinations(random, builder, count, wires) for _ in range(3))
        for code in range(len(AWKWARD)):
            counter.large_constant(AWKWARD[code])
        builder.rows(a, b, c, edge, "product")
        counter.rows(a, b, c, edge, "product")
    return builder, counter


def dense(system: ConstraintSystem, matrix: Matrix) -> list[list[int]]:
    """The matrix as Python integers."""
    values = system.field.to_integers(system.coefficient_limbs(matrix.coefficients))
    table = [[0] * system.wires for _ in range(matrix.rows)]
    for row in range(matrix.rows):
        for term in range(matrix.offsets[row], matrix.offsets[row + 1]):
            table[row][matrix.wires[term]] = values[term]
    return table


def broken(system: ConstraintSystem, values: list[int]) -> list[int]:
    """The definition, in Python integers."""
    results = [
        [sum(x * w for x, w in zip(line, values, strict=True)) for line in dense(system, matrix)]
        for matrix in (system.a, system.b, system.c)
    ]
    return [row for row, (a, b, c) in enumerate(zip(*results, strict=True)) if (a * b - c) % system.field.prime]


@pytest.mark.parametrize(
    ("field", "way"), [*((field, "python") for field in FIELDS), (BN254, "native")], indirect=["way"], ids=str
)
@pytest.mark.parametrize("seed", seeds(4, deep=40))
def test_random_rows_against_python_integers(field: Field, seed: int, way: str) -> None:
    builder, _ = random_system(field, seed)
    system = builder.system()
    random = np.random.default_rng(seed)
    for pool in ([0, 1, 2, -1], AWKWARD):
        values = [1, *(pool[i] for i in random.integers(0, len(pool), system.wires - 1))]
        rows = failing_rows(system, field.from_integers(values))
        assert rows.tolist() == broken(system, values)
        assert 0 < len(rows) < system.constraints


@pytest.mark.parametrize("mark", [0, 1], ids=["one mark for all", "one for lists of a length"])
def test_combinations_of_one_mark_are_told_apart(monkeypatch: pytest.MonkeyPatch, mark: int) -> None:
    """What is computed once is what is equal, however poor the marks by which equal ones are looked for."""
    monkeypatch.setattr(checker, "native", lambda: None)
    monkeypatch.setattr(checker, "_marks", lambda offsets, wires, codes: np.diff(offsets) * mark)
    for field in FIELDS:
        builder, _ = random_system(field, 6, count=12)
        system = builder.system()
        repeated = np.tile(np.arange(12), 3)
        system = replace(system, a=picked(system.a, repeated), b=picked(system.a, repeated[::-1]))
        values = [1, *np.random.default_rng(6).choice(np.array(AWKWARD, object), system.wires - 1)]
        assert failing_rows(system, field.from_integers(values)).tolist() == broken(system, values)


def picked(matrix: Matrix, rows: NDArray[np.int64]) -> Matrix:
    """A matrix of some of another's rows."""
    terms = [np.arange(matrix.offsets[row], matrix.offsets[row + 1]) for row in rows]
    offsets = np.concatenate([[0], np.cumsum([len(own) for own in terms])])
    return Matrix(offsets, matrix.wires[np.concatenate(terms)], matrix.coefficients[np.concatenate(terms)])


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: f"p{field.prime.bit_length()}")
def test_counting_equals_building(field: Field) -> None:
    builder, counter = random_system(field, 5)
    system = builder.system()
    assert counter.counts == builder.counts
    assert (counter.constraints, counter.nonzeros) == (system.constraints, system.nonzeros)
    assert (counter.wire_count, counter.public) == (system.wires, system.public) == (12, 3)
    assert (system.public_outputs, system.public_inputs, system.private_inputs) == (2, 1, 3)
    for matrix in (system.a, system.b, system.c):
        assert all(system.field.to_integers(system.coefficient_limbs(matrix.coefficients)))
        assert len(matrix.wires) == len(matrix.coefficients) == matrix.offsets[-1]
    numbers = field.to_integers(system.large)
    assert numbers == sorted(set(numbers))
    used = {int(v) for m in (system.a, system.b, system.c) for v in m.coefficients[m.coefficients >= LARGE]}
    assert used == {LARGE + place for place in range(len(numbers))}


def products(field: Field, count: int) -> ConstraintSystem:
    """wires count+1 ... 2 count are the squares of the wires 1 ... count, plus three."""
    builder = SystemBuilder(field)
    first = builder.wires(count, -1, "input", kind=Kind.PRIVATE_INPUT)
    second = builder.wires(count, 0, "product")
    x = Rows.wire(np.arange(first, first + count))
    minus_three = np.stack([np.zeros(count, np.int64), np.arange(second, second + count)], axis=1).reshape(-1)
    c = Rows(np.arange(count + 1) * 2, minus_three, np.tile(np.array([-3, 1]), count))
    builder.rows(x, x, c, 0, "product")
    return builder.system()


@pytest.mark.parametrize("value", AWKWARD)
def test_one_square(value: int, way: str) -> None:
    system = products(BN254, 1)
    right = value * value + 3
    assert failing_rows(system, BN254.from_integers([1, value, right])).tolist() == []
    for wrong in (right + 1, right - 1, right + (1 << 64), right - (1 << 64), right + (1 << 128), -right):
        assert failing_rows(system, BN254.from_integers([1, value, wrong])).tolist() == [0]


@pytest.mark.parametrize("value", [1 << 32, (1 << 32) + 1, 1 << 40, 1 << 60])
def test_a_square_that_wraps_in_64_bits_fails(value: int, way: str) -> None:
    """What 64 bits hold of the square is small, and compared without large numbers."""
    wrapped = value * value % (1 << 64)
    assert wrapped < 1 << 61
    assert failing_rows(products(BN254, 1), BN254.from_integers([1, value, wrapped + 3])).tolist() == [0]


@pytest.mark.parametrize("large", [1 << 62, -(1 << 62), 1 << 200])
def test_the_number_of_a_large_coefficient_is_no_value(large: int, way: str) -> None:
    """A sum that a small term takes below 2^62 again is not small if the other term is a reference."""
    builder = SystemBuilder(BN254)
    first = builder.wires(3, 0, "product")
    code = builder.large_constant(large)
    terms = Rows(np.array([0, 2]), np.array([first, first + 1]), np.array([-5, code]))
    builder.rows(terms, Rows.constant([1]), Rows.wire([first + 2]), 0, "product")
    system = builder.system()
    for value, fails in ((large - 5, []), (LARGE - 5, [] if large == LARGE else [0]), (large, [0])):
        assert failing_rows(system, BN254.from_integers([1, 1, 1, value])).tolist() == fails


def test_galois_agrees_on_the_real_field(way: str) -> None:
    field = galois.GF(BN254.prime, primitive_element=5, verify=False)
    builder, _ = random_system(BN254, 11, count=12)
    system = builder.system()
    values = [1, *AWKWARD[:11]]
    witness = field([value % BN254.prime for value in values])
    a, b, c = (field(dense(system, matrix)) @ witness for matrix in (system.a, system.b, system.c))
    assert np.flatnonzero(a * b != c).tolist() == failing_rows(system, BN254.from_integers(values)).tolist()


def test_every_assignment_over_a_tiny_prime() -> None:
    system = products(Field(7), 1)
    for x in range(7):
        fits = [y for y in range(7) if not len(failing_rows(system, system.field.from_integers([1, x, y])))]
        assert fits == [(x * x + 3) % 7]


def test_many_rows_with_one_wrong(way: str) -> None:
    count = 200_000
    system = products(BN254, count)
    x = np.arange(count, dtype=np.int64) - count // 2
    witness = BN254.from_int64(np.concatenate([[1], x, x * x + 3]))
    assert len(failing_rows(system, witness)) == 0
    witness[count + 1 + 777, 0] += np.uint64(1)
    assert failing_rows(system, witness).tolist() == [777]


def test_a_row_is_named_by_element_and_role() -> None:
    builder = SystemBuilder(BN254)
    builder.wires(6, 0, "bit", (2, 3))
    one = Rows.wire(np.arange(1, 7))
    builder.rows(one, one, one, 4, "bit", Order(2, 3))
    builder.rows(one, one, one, 9, "bit", Order(3))
    system = builder.system()
    names = [describe(system, row, lambda edge: f"edge {edge}") for row in range(12)]
    assert names[1] == "constraint 1: edge 4, element 0, bit, 2 of 3"
    assert names[5] == "constraint 5: edge 4, element 1, bit, 3 of 3"
    assert names[6] == "constraint 6: edge 9, element 0, bit, 1 of 2"
    assert names[10] == "constraint 10: edge 9, element 1, bit, 2 of 2"


def test_bad_witnesses_are_refused(way: str) -> None:
    system = products(BN254, 1)
    for limbs in (
        BN254.from_integers([1, 2]),
        BN254.from_integers([2, 2, 7]),
        np.array([[1, 0, 0, 0], [2, 0, 0, 0], BN254.limbs], dtype=np.uint64),
    ):
        with pytest.raises(CircuitizeError, match="expected a witness"):
            failing_rows(system, limbs)


def test_a_builder_refuses_what_no_system_may_hold() -> None:
    builder = SystemBuilder(BN254)
    builder.wires(2, 0, "product")
    one = Rows.constant([1])
    for rows in (
        Rows.wire([3]),
        Rows(np.array([0, 2]), np.array([2, 1]), np.array([1, 1])),
        Rows(np.array([0, 2]), np.array([1, 1]), np.array([1, 1])),
        Rows(np.array([0, 1]), np.array([1, 2]), np.array([1, 1])),
        Rows.wire([1], LARGE),
        Rows.wire([1], -LARGE),
        Rows.wire([1, 2]),
    ):
        with pytest.raises(ValueError, match="product of edge 0"):
            builder.rows(rows, one, one, 0, "product")
    with pytest.raises(ValueError, match="before INTERNAL"):
        builder.wires(1, -1, "input", kind=Kind.PRIVATE_INPUT)
    with pytest.raises(ValueError, match="challenge"):
        builder.draw()
    assert builder.constraints == 0


@pytest.mark.parametrize("prime", [1, 2, 9, 91, 1 << 256, BN254.prime - 1, BN254.prime**2])
def test_only_primes_make_fields(prime: int) -> None:
    with pytest.raises(CircuitizeError, match="odd prime"):
        Field(prime)


@pytest.mark.parametrize("field", [*FIELDS, Field((1 << 63) - 25), Field((1 << 63) + 29)], ids=str)
def test_field_elements_and_integers(field: Field) -> None:
    values = [*AWKWARD, field.prime - 1, field.prime, field.prime + 1, -field.prime]
    limbs = field.from_integers(values)
    assert field.to_integers(limbs) == [value % field.prime for value in values]
    assert field.canonical(limbs).all()
    small, exact = field.to_int64(limbs)
    for value, number, flag in zip(values, small.tolist(), exact.tolist(), strict=True):
        assert flag == (abs(field.signed(value)) < 1 << 62)
        assert number == (field.signed(value) if flag else 0)
    machine = np.array([0, 1, -1, (1 << 63) - 1, -(1 << 63), -(1 << 62)], dtype=np.int64)
    assert field.to_integers(field.from_int64(machine)) == [int(v) % field.prime for v in machine]
    above = np.frombuffer((field.prime).to_bytes(32, "little") + b"\xff" * 32, dtype="<u8").reshape(2, 4)
    assert not field.canonical(above).any()

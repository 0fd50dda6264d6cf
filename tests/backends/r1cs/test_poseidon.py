"""Poseidon equals circomlibjs, and its constraints determine every wire."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

import galois
import numpy as np
import pytest
from every_case import every_case
from numpy.typing import NDArray
from tiers import TIER

from circuitize.backends.field import BN254, Field
from circuitize.backends.poseidon_constants import PARTIAL_ROUNDS, PoseidonParameters, poseidon_parameters
from circuitize.backends.r1cs.builder import CountingBuilder, Kind, SystemBuilder
from circuitize.backends.r1cs.checker import failing_rows
from circuitize.backends.r1cs.gadgets import poseidon_template as templates
from circuitize.backends.r1cs.gadgets.poseidon import permute, poseidon
from circuitize.backends.r1cs.gadgets.poseidon_template import poseidon_template
from circuitize.backends.r1cs.system import ConstraintSystem, Rows
from circuitize.circuits.errors import CircuitizeError

# circomlibjs 0.1.7, buildPoseidonReference: the hash of 1, 2, ..., n.
GOLDEN = [
    18586133768512220936620570745912940619677854269274689475585506675881198879027,
    7853200120776062878684798364095072458815029376092732009249414926327459813530,
    6542985608222806190361240322586112750744169038454362455181422643027100751666,
    18821383157269793795438455681495246036402687001665670618754263018637548127333,
    6183221330272524995739186171720101788151706631170188140075976616310159254464,
    20400040500897583745843009878988256314335038853985262692600694741116813247201,
    12748163991115452309045839028154629052133952896122405799815156419278439301912,
    18604317144381847857886385684060986177838410221561136253933256952257712543953,
    13589767895268936107593642967621470491511464502761040466226072462545218539640,
    3657500514307717306974218405144578736633140001277925127187636780142269815841,
    3572015662710076994097916907865950486270383304442561406230608893458731714472,
    2501997477381648492950318384533644783248002172679259592360114615426357826485,
    7041832639553862712666971417715061873827921493498355005117622707743491651590,
    8354478399926161176778659061636406690034081872658507739535256090879947077494,
    4203130618016961831408770638653325366880478848856764494148034853759773445968,
    9989051620750914585850546081941653841776809718687451684622678807385399211877,
]
AWKWARD = [0, 1, BN254.prime - 1, BN254.prime // 2, 1 << 253, 1 << 62, BN254.prime - (1 << 62), 2**64 - 1]


def awkward(random: np.random.Generator, *shape: int) -> NDArray[np.object_]:
    return np.array(AWKWARD, dtype=object)[random.integers(0, len(AWKWARD), shape)]


@every_case(range(1, 17))
def test_golden_hashes(count: int) -> None:
    assert poseidon(range(1, count + 1)) == GOLDEN[count - 1]


def test_a_capacity_and_unreduced_inputs() -> None:
    expected = 7154327828827558848596069882294446454318567241265233700667474079625965063238
    assert poseidon([BN254.prime - 1, 0, 1 << 200], capacity=5) == expected
    assert poseidon([-1, BN254.prime, (1 << 200) + BN254.prime], capacity=5 - BN254.prime) == expected


@pytest.mark.parametrize("count", [0, 17])
def test_other_numbers_of_inputs_are_refused(count: int) -> None:
    with pytest.raises(CircuitizeError, match="1 to 16 Poseidon inputs"):
        poseidon([0] * count)


TRACED = [
    pytest.param(capacity, width, marks=() if width in (2, 3, 6, 17) else pytest.mark.deep)
    for capacity in (0, 5, None)
    for width in range(2, 18)
]
"""Some widths, and in the deep tier all: of each the golden hash is compared."""


@pytest.mark.parametrize(("capacity", "width"), TRACED)
def test_the_trace_equals_the_permutation(width: int, capacity: int | None) -> None:
    parameters = poseidon_parameters(width)
    template = poseidon_template(parameters, capacity)
    boxes = 8 * width + PARTIAL_ROUNDS[width - 2]
    assert template.boxes == boxes - (capacity is not None)
    inputs = awkward(np.random.default_rng(width), 3, template.inputs)
    wires, outputs = template.trace(inputs)
    if capacity is not None:
        inputs = np.concatenate([np.full((3, 1), capacity, dtype=object), inputs], axis=1)
    assert outputs.tolist() == permute(inputs, parameters)[:, 0].tolist()
    x2, x4, x5 = wires.reshape(3, template.boxes, 3).transpose(2, 0, 1)
    prime = BN254.prime
    assert (x4 == x2 * x2 % prime).all() and (x5 * x5 % prime == x2 * x4 % prime * x4 % prime).all()


def emitted(
    parameters: PoseidonParameters, capacity: int | None, inputs: NDArray[np.object_]
) -> tuple[ConstraintSystem, list[int]]:
    """A system of one permutation per row of `inputs`, each hash on a wire; the system and its honest witness."""
    template = poseidon_template(parameters, capacity)
    count = len(inputs)
    builder, counter = SystemBuilder(parameters.field), CountingBuilder(parameters.field)
    for each in (builder, counter):
        hashes = each.wires(count, -1, "output", kind=Kind.PUBLIC_OUTPUT)
        first = each.wires(count * template.inputs, -1, "input", kind=Kind.PRIVATE_INPUT)
        names = np.arange(first, first + count * template.inputs)
        _, outputs = template.emit(each, Rows.wire(names), 3)
        each.rows(outputs, Rows.constant([1] * count), Rows.wire(np.arange(hashes, hashes + count)), 3, "hash")
    assert builder.counts == counter.counts
    wires, values = template.trace(inputs)
    return builder.system(), [1, *values, *inputs.reshape(-1), *wires.reshape(-1)]


@pytest.mark.parametrize(("width", "capacity", "rows"), [(17, None, 612), (17, 0, 609), (2, 0, 213), (6, 9, 321)])
def test_rows_of_a_permutation(width: int, capacity: int | None, rows: int) -> None:
    inputs = awkward(np.random.default_rng(width), 2, width - (capacity is not None))
    system, witness = emitted(poseidon_parameters(width), capacity, inputs)
    assert system.constraints == 2 * (rows + 1)
    limbs = BN254.from_integers(witness)
    assert failing_rows(system, limbs).tolist() == []
    assert {(block.role, block.order.elements) for block in system.blocks} == {("poseidon", 2), ("hash", 2)}


@pytest.mark.parametrize(("width", "capacity"), [(17, None), (17, 0), (3, 9)])
def test_the_native_part_traces_what_python_does(width: int, capacity: int | None) -> None:
    template = poseidon_template(poseidon_parameters(width), capacity)
    inputs = awkward(np.random.default_rng(width), 5, template.inputs)
    boxes = templates._native_boxes(template)
    assert boxes is not None
    for found, wanted in zip(template.trace(inputs), templates._traced(template, inputs), strict=True):
        assert found.shape == wanted.shape and (found == wanted).all()
    with pytest.raises(ValueError, match=f"{template.inputs + 1} inputs for permutations of {template.inputs}"):
        boxes.trace(np.zeros((template.inputs + 1, 4), np.uint64))
    with pytest.raises(ValueError, match="input 1 is not below the field's prime"):
        boxes.trace(np.stack([np.zeros(4, np.uint64), BN254.limbs] * template.inputs))


def test_each_changed_wire_breaks_a_row() -> None:
    system, witness = emitted(poseidon_parameters(3), 0, awkward(np.random.default_rng(1), 1, 2))
    changes = (1, -1, 1 << 128)
    for wire in range(1, system.wires):
        for change in changes if TIER == "deep" else changes[wire % 3 :][:1]:
            values = list(witness)
            values[wire] += change
            assert len(failing_rows(system, BN254.from_integers(values)))


def test_galois_accepts_a_permutation() -> None:
    field = galois.GF(BN254.prime, primitive_element=5, verify=False)
    system, values = emitted(poseidon_parameters(2), 0, awkward(np.random.default_rng(4), 1, 1))
    witness = field(values)
    sides = []
    for matrix in (system.a, system.b, system.c):
        numbers = field(system.field.to_integers(system.coefficient_limbs(matrix.coefficients)))
        terms = numbers * witness[matrix.wires]
        bounds = matrix.offsets.tolist()
        sides.append(field([int(np.sum(terms[a:b])) for a, b in pairwise(bounds)]))
    assert (sides[0] * sides[1] == sides[2]).all()
    assert values[1] == poseidon([values[2]])


@pytest.mark.parametrize(
    ("prime", "width", "partial", "capacity"), [(5, 2, 0, 0), (7, 2, 2, 1), (11, 2, 1, None), (7, 3, 1, 2)]
)
def test_every_assignment_over_a_tiny_prime(prime: int, width: int, partial: int, capacity: int | None) -> None:
    parameters = poseidon_parameters(width, Field(prime), 2, partial)
    template = poseidon_template(parameters, capacity)
    every = np.array(np.meshgrid(*[range(prime)] * template.inputs)).reshape(template.inputs, -1).T.astype(object)
    for inputs in every:
        system, honest = emitted(parameters, capacity, inputs[None])
        assert list(solutions(system, inputs.tolist())) == [honest]


def solutions(system: ConstraintSystem, inputs: list[int]) -> Iterator[list[int]]:
    """All assignments of the wires after these private inputs, by trying every value of every wire: a row cuts the
    search as soon as its last wire is tried."""
    prime = system.field.prime
    matrices = [
        (m.offsets.tolist(), m.wires.tolist(), system.field.to_integers(system.coefficient_limbs(m.coefficients)))
        for m in (system.a, system.b, system.c)
    ]
    order = [0, *range(2, system.wires), 1]
    ready: dict[int, list[int]] = {wire: [] for wire in order}
    for row in range(system.constraints):
        used = {wire for offsets, wires, _ in matrices for wire in wires[offsets[row] : offsets[row + 1]]}
        ready[max(used, key=order.index)].append(row)

    def fits(row: int, values: Mapping[int, int]) -> bool:
        a, b, c = (
            sum(values[wires[term]] * numbers[term] for term in range(offsets[row], offsets[row + 1]))
            for offsets, wires, numbers in matrices
        )
        return (a * b - c) % prime == 0

    partial = [{0: 1, **{2 + place: value for place, value in enumerate(inputs)}}]
    for wire in order:
        if wire not in partial[0]:
            partial = [{**values, wire: value} for values in partial for value in range(prime)]
        partial = [values for values in partial if all(fits(row, values) for row in ready[wire])]
        if not partial:
            return
    for values in partial:
        yield [values[wire] for wire in range(system.wires)]


def test_inputs_may_be_any_combinations() -> None:
    template = poseidon_template(poseidon_parameters(4))
    builder = SystemBuilder(BN254)
    first = builder.wires(4, -1, "input", kind=Kind.PRIVATE_INPUT)
    large = builder.large_constant(1 << 200)
    cancel = builder.large_constant(-template.layers[0].coefficients[2, 0])
    # 7 + 2 w1 + 2^200 w3; nothing; the constant that cancels the round's; then w2; 2^200; w4 - 1.
    offsets = np.array([0, 3, 3, 4, 5, 6, 8])
    wires = np.array([0, first, first + 2, 0, first + 1, 0, 0, first + 3])
    inputs = Rows(offsets, wires, np.array([7, 2, large, cancel, 1, large, -1, 1]))
    template.emit(builder, inputs, 0)
    w = [3, BN254.prime - 2, 1 << 180, 11]
    values = [[7 + 2 * w[0] + (w[2] << 200), 0, builder.coefficient_value(cancel)], [w[1], 1 << 200, w[3] - 1]]
    trace, outputs = template.trace(np.array(values, dtype=object))
    assert [poseidon(line) for line in values] == outputs.tolist()
    system = builder.system()
    assert failing_rows(system, BN254.from_integers([1, *w, *trace.reshape(-1)])).tolist() == []

"""snarkjs reads our constraint systems and witnesses as we mean them, and circomlibjs hashes as we do."""

import json
from pathlib import Path

import numpy as np
import pytest
import tiers
from node_tools import ask, snarkjs

from circuitize.backends.field import BN254, Limbs
from circuitize.backends.poseidon_constants import poseidon_parameters
from circuitize.backends.r1cs.builder import Kind, SystemBuilder
from circuitize.backends.r1cs.checker import failing_rows
from circuitize.backends.r1cs.gadgets.poseidon import poseidon
from circuitize.backends.r1cs.gadgets.poseidon_template import poseidon_template
from circuitize.backends.r1cs.json_file import write_json
from circuitize.backends.r1cs.r1cs_file import read_r1cs, write_r1cs
from circuitize.backends.r1cs.system import ConstraintSystem, Rows
from circuitize.backends.r1cs.wtns_file import write_wtns

pytestmark = pytest.mark.interop

PRIME = BN254.prime
AWKWARD = [0, 1, -1, 2, 3, 1 << 61, -(1 << 62), 1 << 64, 1 << 128, -(1 << 200), PRIME // 2, PRIME // 2 + 1]

Case = tuple[ConstraintSystem, list[int]]
Written = tuple[ConstraintSystem, Limbs, Path]


def random_circuit(seed: int, products: int = 60) -> Case:
    """A satisfiable system in which every wire matters: each product of two combinations is a new wire, and the
    last wire times each input is a public output."""
    random = np.random.default_rng(seed)
    builder = SystemBuilder(BN254)
    inputs = 6
    outputs = builder.wires(inputs, -1, "output", kind=Kind.PUBLIC_OUTPUT)
    first = builder.wires(2, -1, "input", kind=Kind.PUBLIC_INPUT)
    builder.wires(inputs - 2, -1, "input", kind=Kind.PRIVATE_INPUT)
    values = {first + i: int(random.integers(-5, 6)) if seed % 2 else AWKWARD[random.integers(1, 12)] for i in range(6)}
    values[0] = 1
    for edge in range(products):
        known = np.array(sorted(values))
        combinations: list[Rows] = []
        for _ in range(2):
            wires = np.sort(np.unique(np.append(random.choice(known, 4), known[-1])))
            codes = [builder.large_constant(AWKWARD[i]) for i in random.integers(1, len(AWKWARD), len(wires))]
            combinations.append(Rows(np.array([0, len(wires)]), wires, np.array(codes)))
        wire = builder.wires(1, edge, "product")
        a, b = (
            sum(
                values[int(w)] * builder.coefficient_value(int(c)) for w, c in zip(r.wires, r.coefficients, strict=True)
            )
            for r in combinations
        )
        values[wire] = a * b % PRIME
        builder.rows(combinations[0], combinations[1], Rows.wire([wire]), edge, "product")
    last = np.full(inputs, wire)
    ends = np.arange(inputs)
    builder.rows(Rows.wire(last), Rows.wire(first + ends), Rows.wire(outputs + ends), products, "output")
    values |= {outputs + i: values[wire] * values[first + i] for i in range(inputs)}
    return builder.system(), [values[w] for w in range(builder.wire_count)]


def poseidon_circuit() -> Case:
    """Two hashes of three inputs, chained: the second one's first input is the first one's hash."""
    template = poseidon_template(poseidon_parameters(4))
    builder = SystemBuilder(BN254)
    output = builder.wires(1, -1, "output", kind=Kind.PUBLIC_OUTPUT)
    first = builder.wires(3, -1, "input", kind=Kind.PRIVATE_INPUT)
    inputs = Rows.wire(np.arange(first, first + 3))
    _, hashed = template.emit(builder, inputs, 0)
    joined = Rows(
        np.concatenate([hashed.offsets, hashed.offsets[-1] + inputs.offsets[1:3]]),
        np.concatenate([hashed.wires, inputs.wires[:2]]),
        np.concatenate([hashed.coefficients, inputs.coefficients[:2]]),
    )
    _, again = template.emit(builder, joined, 1)
    builder.rows(again, Rows.constant([1]), Rows.wire([output]), 1, "output")
    values = [5, PRIME - 1, 1 << 200]
    one, digest = template.trace(np.array([values], dtype=object))
    two, final = template.trace(np.array([[digest[0], *values[:2]]], dtype=object))
    assert final[0] == poseidon([poseidon(values), *values[:2]])
    return builder.system(), [1, final[0], *values, *one[0], *two[0]]


CIRCUITS = {"small": lambda: random_circuit(1), "large": lambda: random_circuit(0), "poseidon": poseidon_circuit}


@pytest.fixture(scope="module", params=CIRCUITS)
def circuit(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Written:
    system, values = CIRCUITS[request.param]()
    folder = tmp_path_factory.mktemp(request.param)
    witness = BN254.from_integers(values)
    assert failing_rows(system, witness).tolist() == []
    write_r1cs(folder / "a.r1cs", system)
    write_wtns(folder / "a.wtns", BN254, witness)
    write_json(folder / "a.json", system)
    return system, witness, folder


def test_counts_agree(circuit: Written) -> None:
    system, _, folder = circuit
    (told,) = ask({"tool": "info", "r1cs": folder / "a.r1cs"})
    assert told == {
        "wires": system.wires,
        "constraints": system.constraints,
        "publicOutputs": system.public_outputs,
        "publicInputs": system.public_inputs,
        "privateInputs": system.private_inputs,
        "labels": system.wires,
        "prime": str(PRIME),
    }


def test_json_agrees(circuit: Written) -> None:
    _, _, folder = circuit
    (told,) = ask({"tool": "json", "r1cs": folder / "a.r1cs"})
    assert told == json.loads((folder / "a.json").read_text())


def test_mutated_witnesses_are_rejected(circuit: Written) -> None:
    """As many single-cell mutations as there are, spread over all wires; our checker judges each one, too."""
    system, witness, folder = circuit
    random = np.random.default_rng(200)
    wires = [1 + place % (system.wires - 1) for place in range(tiers.count(60, deep=200))]
    changes = []
    for wire in wires:
        (value,) = BN254.to_integers(witness[wire : wire + 1])
        step = [1, -1, 1 << 64, int(random.integers(1, 1 << 62))][random.integers(0, 4)]
        changes.append((wire, str((value + step) % PRIME)))
    (answers,) = ask({"tool": "check", "r1cs": folder / "a.r1cs", "wtns": folder / "a.wtns", "changes": changes})
    ours = [True]
    for wire, text in changes:
        changed = witness.copy()
        changed[wire] = BN254.from_integers([int(text)])[0]
        ours.append(len(failing_rows(system, changed)) == 0)
    assert answers == ours == [True] + [False] * len(wires)


@pytest.mark.deep
def test_the_command_line_agrees(circuit: Written, tmp_path: Path) -> None:
    system, witness, folder = circuit
    status, printed = snarkjs("r1cs", "info", folder / "a.r1cs")
    assert status == 0 and f"# of Constraints: {system.constraints}" in printed
    assert snarkjs("wtns", "check", folder / "a.r1cs", folder / "a.wtns")[0] == 0
    witness = witness.copy()
    witness[-1] = BN254.from_integers([-1])[0]
    write_wtns(tmp_path / "b.wtns", BN254, witness)
    status, printed = snarkjs("wtns", "check", folder / "a.r1cs", tmp_path / "b.wtns")
    assert status == 1 and "NOT CORRECT" in printed


def test_poseidon_constants_are_circomlibs() -> None:
    told = ask(*({"tool": "constants", "width": width} for width in range(2, 18)))
    for width, theirs in zip(range(2, 18), told, strict=True):
        ours = poseidon_parameters(width)
        assert [int(number) for number in theirs["constants"]] == [n for line in ours.constants for n in line]
        assert [[int(number) for number in line] for line in theirs["matrix"]] == [list(line) for line in ours.matrix]


def test_poseidon_hashes_are_circomlibs() -> None:
    random, more = np.random.default_rng(0), range(tiers.count(1, deep=4))
    inputs = [[AWKWARD[i] % PRIME for i in random.integers(0, 12, length)] for length in range(1, 17) for _ in more]
    requests = [
        {"tool": "poseidon", "inputs": [[str(v) for v in line] for line in inputs], "capacity": str(capacity)}
        for capacity in (0, 7)
    ]
    for capacity, hashes in zip((0, 7), ask(*requests), strict=True):
        assert [int(value) for value in hashes] == [poseidon(line, capacity) for line in inputs]


def test_a_file_of_snarkjs_own_order_of_sections(circuit: Written, tmp_path: Path) -> None:
    """circom writes the constraints before the header."""
    system, _, folder = circuit
    data = (folder / "a.r1cs").read_bytes()
    sections, at = [], 12
    while at < len(data):
        size = 12 + int.from_bytes(data[at + 4 : at + 12], "little")
        sections.append(data[at : at + size])
        at += size
    path = tmp_path / "b.r1cs"
    path.write_bytes(data[:12] + sections[1] + sections[0] + sections[2])
    (told,) = ask({"tool": "info", "r1cs": path})
    assert told["constraints"] == system.constraints == read_r1cs(path)[0].constraints

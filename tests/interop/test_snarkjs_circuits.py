"""snarkjs on whole training steps: it counts as we do, accepts witness and proof, and rejects changed ones."""

from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from agreement import mutations
from example_programs import example
from node_tools import ask, need_node

from circuitize.backends.field import BN254
from circuitize.backends.r1cs.cost import estimate
from circuitize.backends.r1cs.emit import emit
from circuitize.backends.r1cs.r1cs_file import write_r1cs
from circuitize.backends.r1cs.system import LARGE as CODES
from circuitize.backends.r1cs.system import ConstraintSystem, Matrix
from circuitize.backends.r1cs.witness import random_salts, witness
from circuitize.backends.r1cs.wtns_file import write_wtns
from circuitize.provers.groth16.keys import SNARKJS_FILE, setup
from circuitize.provers.groth16.prover import prove, public_values
from circuitize.provers.groth16.snarkjs import proof_text, public_text
from circuitize.sims import integer

pytestmark = pytest.mark.interop
SMALL, LARGE = "iris.py:step", "digits.py:step"
whole = pytest.mark.parametrize("circuit", [SMALL, pytest.param(LARGE, marks=pytest.mark.deep)], indirect=True)
"""snarkjs reads all of the circuit: seconds for each 100,000 rows."""


@dataclass
class Circuit:
    """A step's system and witness, and the folder in which they are written as a.r1cs and a.wtns."""

    name: str
    system: ConstraintSystem
    witness: np.ndarray
    folder: Path


@pytest.fixture(scope="module")
def circuit(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Circuit:
    need_node()
    given = example(request.param).integer
    made = emit(given)
    values = witness(
        made.plan, integer.trace(given, integer.rounded(given, given.examples[0])), random_salts(made.plan)
    )
    folder = tmp_path_factory.mktemp("circuit")
    write_r1cs(folder / "a.r1cs", made.system)
    write_wtns(folder / "a.wtns", BN254, values)
    return Circuit(request.param, made.system, values, folder)


@whole
def test_counts_agree(circuit: Circuit) -> None:
    system, counted = circuit.system, estimate(example(circuit.name).integer)
    (told,) = ask({"tool": "info", "r1cs": circuit.folder / "a.r1cs"})
    assert told == {
        "wires": system.wires,
        "constraints": system.constraints,
        "publicOutputs": system.public_outputs,
        "publicInputs": system.public_inputs,
        "privateInputs": system.private_inputs,
        "labels": system.wires,
        "prime": str(BN254.prime),
    }
    assert (told["constraints"], told["wires"]) == (counted["constraints"], counted["wires"])
    assert told["publicOutputs"] + told["publicInputs"] == counted["public"]


def rows_with(system: ConstraintSystem, wires: np.ndarray) -> np.ndarray:
    """The rows in which these wires are, short ones first."""
    matrices = (system.a, system.b, system.c)
    found = [np.repeat(np.arange(m.rows), np.diff(m.offsets))[np.isin(m.wires, wires)] for m in matrices]
    rows = np.unique(np.concatenate(found))
    return rows[np.argsort(sum(np.diff(m.offsets)[rows] for m in matrices), kind="stable")]


def of_rows(system: ConstraintSystem, rows: np.ndarray) -> ConstraintSystem:
    """The system of these rows alone, on the same wires."""

    def moved(matrix: Matrix) -> Matrix:
        counts = np.diff(matrix.offsets)[rows]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        terms = np.repeat(matrix.offsets[rows] - offsets[:-1], counts) + np.arange(offsets[-1])
        return Matrix(offsets, matrix.wires[terms], matrix.coefficients[terms])

    a, b, c = map(moved, (system.a, system.b, system.c))
    return replace(system, a=a, b=b, c=c, blocks=(), wire_blocks=())


def breaks(system: ConstraintSystem, row: int, values: Mapping[int, int]) -> bool:
    """Whether these values of the row's wires break it."""
    large = system.field.to_integers(system.large)

    def product(matrix: Matrix) -> int:
        terms = slice(*matrix.offsets[row : row + 2])
        pairs = zip(matrix.wires[terms].tolist(), matrix.coefficients[terms].tolist(), strict=True)
        return sum((large[code - CODES] if code >= CODES else code) * values[wire] for wire, code in pairs)

    return (product(system.a) * product(system.b) - product(system.c)) % system.field.prime != 0


@whole
def test_mutated_witnesses_are_rejected(circuit: Circuit) -> None:
    """snarkjs reads the circuit again for each witness: a file of a broken row for each, which accepts the true one."""
    system, folder = circuit.system, circuit.folder
    changes = mutations(system, circuit.witness, 200)
    values = dict(enumerate(system.field.to_integers(circuit.witness)))
    concerned = of_rows(system, rows_with(system, np.array([wire for wire, _ in changes])))
    broken = []
    for wire, value in changes:
        changed = ChainMap({wire: value}, values)
        broken.append(next(row for row in rows_with(concerned, np.array([wire])) if breaks(concerned, row, changed)))
    write_r1cs(folder / "b.r1cs", of_rows(concerned, np.unique(broken)))
    told = [(wire, str(value)) for wire, value in changes]
    (answers,) = ask({"tool": "check", "r1cs": folder / "b.r1cs", "wtns": folder / "a.wtns", "changes": told})
    assert answers == [True] + [False] * len(changes)


@pytest.mark.deep
@whole
def test_the_whole_circuit_is_checked(circuit: Circuit) -> None:
    told = [(wire, str(value)) for wire, value in mutations(circuit.system, circuit.witness, 1)]
    (answers,) = ask(
        {"tool": "check", "r1cs": circuit.folder / "a.r1cs", "wtns": circuit.folder / "a.wtns", "changes": told}
    )
    assert answers == [True, False]


@pytest.mark.deep
@whole
def test_groth16_proofs_are_verified(circuit: Circuit) -> None:
    system, folder = circuit.system, circuit.folder
    digest = "17" * 32
    key = setup(system, digest, folder)
    publics = public_values(system, circuit.witness)
    (folder / "proof.json").write_text(proof_text(prove(system, circuit.witness, key, digest)))
    (folder / "public.json").write_text(public_text(publics))
    (folder / "other.json").write_text(public_text([*publics[:-1], (publics[-1] + 1) % BN254.prime]))
    requests = [
        {"tool": "verify", "key": folder / SNARKJS_FILE, "public": folder / name, "proof": folder / "proof.json"}
        for name in ("public.json", "other.json")
    ]
    assert ask(*requests) == [True, False]

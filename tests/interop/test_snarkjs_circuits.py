"""snarkjs on whole training steps: it counts as we do, accepts witness and proof, and rejects changed ones."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from agreement import mutations
from example_programs import example
from interop.node_tools import ask, need_node
from tiers import count

from circuitize.backends.r1cs.checker import failing_rows
from circuitize.backends.r1cs.cost import estimate
from circuitize.backends.r1cs.emit import emit
from circuitize.backends.r1cs.field import BN254
from circuitize.backends.r1cs.r1cs_file import write_r1cs
from circuitize.backends.r1cs.system import ConstraintSystem, Matrix
from circuitize.backends.r1cs.witness import random_salts, witness
from circuitize.backends.r1cs.wtns_file import write_wtns
from circuitize.provers.groth16.keys import SNARKJS_FILE, setup
from circuitize.provers.groth16.prover import prove, public_values
from circuitize.provers.groth16.snarkjs import proof_text, public_text
from circuitize.sims import integer

pytestmark = pytest.mark.interop
LARGE = 100_000


@dataclass
class Circuit:
    """A step's system and witness, and the folder in which they are written as a.r1cs and a.wtns."""

    name: str
    system: ConstraintSystem
    witness: np.ndarray
    folder: Path


@pytest.fixture(scope="module", params=["iris.py:step", pytest.param("digits.py:step", marks=pytest.mark.slow)])
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


def reordered(system: ConstraintSystem, first: np.ndarray) -> ConstraintSystem:
    """The same rows, those with these wires first, short ones before long ones."""
    concerned = np.zeros(system.constraints, np.bool_)
    for matrix in (system.a, system.b, system.c):
        rows = np.repeat(np.arange(system.constraints), np.diff(matrix.offsets))
        concerned[rows[np.isin(matrix.wires, first)]] = True
    terms = np.sum([np.diff(matrix.offsets) for matrix in (system.a, system.b, system.c)], axis=0)
    order = np.lexsort((terms, ~concerned))

    def moved(matrix: Matrix) -> Matrix:
        counts = np.diff(matrix.offsets)[order]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        terms = np.repeat(matrix.offsets[order] - offsets[:-1], counts) + np.arange(offsets[-1])
        return Matrix(offsets, matrix.wires[terms], matrix.coefficients[terms])

    return replace(system, a=moved(system.a), b=moved(system.b), c=moved(system.c), blocks=(), wire_blocks=())


def test_mutated_witnesses_are_rejected(circuit: Circuit) -> None:
    """snarkjs stops at the first row that is broken: for the many, the rows concerned come first in the file.

    It reads the circuit again for each witness, so that of the larger one `make deep` tries the many.
    """
    system, values, folder = circuit.system, circuit.witness, circuit.folder
    changes = mutations(system, values, 200 if system.constraints < LARGE else count(20, deep=200))
    write_r1cs(folder / "b.r1cs", reordered(system, np.array([wire for wire, _ in changes])))
    told = [(wire, str(value)) for wire, value in changes]
    as_it_is, sorted_rows = ask(
        {"tool": "check", "r1cs": folder / "a.r1cs", "wtns": folder / "a.wtns", "changes": told[:2]},
        {"tool": "check", "r1cs": folder / "b.r1cs", "wtns": folder / "a.wtns", "changes": told},
        timeout=1800,
    )
    assert as_it_is == [True, False, False]
    assert sorted_rows == [True] + [False] * len(changes)
    wire, value = changes[0]
    changed = values.copy()
    changed[wire] = BN254.from_integers([value])[0]
    assert len(failing_rows(system, changed))


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

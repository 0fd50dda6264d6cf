"""Groth16 over random satisfiable systems: proofs verify, and what is wrong is named."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from groth16_cases import DIGEST, R, limbs, matrix, random_system
from tiers import seeds

from circuitize import _native
from circuitize.backends.field import BN254, Field, Limbs
from circuitize.backends.r1cs.system import ConstraintSystem, Matrix
from circuitize.circuits.errors import CircuitizeError
from circuitize.provers.groth16.errors import Unsatisfied
from circuitize.provers.groth16.keys import ProvingKey, setup
from circuitize.provers.groth16.proof import Proof
from circuitize.provers.groth16.prover import prove, public_values
from circuitize.provers.groth16.snarkjs import proof_text, public_text, verifying_key_text
from circuitize.provers.groth16.snarkjs_files import read_proof, read_public, read_verifying_key
from circuitize.provers.groth16.verifier import refusal, verify
from circuitize.provers.keys import WARNING_FILE

Proved = tuple[ConstraintSystem, Limbs, Path, ProvingKey, Proof, list[int]]


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> Proved:
    """(system, witness, folder of keys, proving key, proof, publics)"""
    folder = tmp_path_factory.mktemp("keys")
    system, witness = random_system(1)
    key = setup(system, DIGEST, folder)
    return system, witness, folder, key, prove(system, witness, key, DIGEST), public_values(system, witness)


@pytest.mark.parametrize("seed", seeds(6, deep=100))
def test_random_systems(tmp_path: Path, seed: int) -> None:
    shape = [(1, 0, 1), (1, 1, 0), (2, 0, 1), (7, 3, 0), (8, 1, 0), (63, 1, 2)][seed % 6]
    system, witness = random_system(seed, *shape, awkward=seed < 6)
    key = setup(system, DIGEST, tmp_path)
    publics = public_values(system, witness)
    proof = prove(system, witness, key, DIGEST)
    assert refusal(proof, key.verifying_key, publics, DIGEST) is None
    for place in range(len(publics)):
        changed = [*publics]
        changed[place] = (changed[place] + 1) % R
        assert not verify(proof, key.verifying_key, changed, DIGEST)


def test_wide_values(tmp_path: Path) -> None:
    """Enough full-width scalars for wide windows, enough narrow ones for a class of their own."""
    random = np.random.default_rng(5)
    count = 3000
    x = [int.from_bytes(random.bytes(32), "little") % R for _ in range(count)]
    y = [int(value) for value in random.integers(-(2**20), 2**20, count)]
    values = [1, *x, *y, *(p * q % R for p, q in zip(x, y, strict=True))]
    rows = np.arange(count + 1)
    a, b, c = (
        Matrix(rows, np.arange(1 + k * count, 1 + (k + 1) * count, dtype=np.uint32), np.ones(count, np.int64))
        for k in range(3)
    )
    system = ConstraintSystem(BN254, a, b, c, np.zeros((0, 4), np.uint64), len(values), 1, 0, 2 * count)
    witness = limbs(values)
    key = setup(system, DIGEST, tmp_path, seed=b"wide")
    assert verify(prove(system, witness, key, DIGEST), key.verifying_key, [x[0]])


def test_equal_and_opposite_columns(tmp_path: Path) -> None:
    """Wires that share a column have equal points: the additions double and cancel."""
    count = 400
    signs = [1, -1] * (count // 2)
    total = [{1 + i: 1 for i in range(count)}]
    for values in (signs, [1] * count, [-1] * count, [3] * count, [0] * count):
        large: list[int] = []
        combination, one, result = matrix(total, large), matrix([{0: 1}], large), matrix([{count + 1: 1}], large)
        system = ConstraintSystem(BN254, combination, one, result, np.zeros((0, 4), np.uint64), count + 2, 1, 0, count)
        key = setup(system, DIGEST, tmp_path)
        proof = prove(system, limbs([1, *values, sum(values)]), key, DIGEST)
        assert verify(proof, key.verifying_key, [values[0] % R])


def test_zero_knowledge_draws_fresh_randomness(proved: Proved) -> None:
    system, witness, _, key, proof, publics = proved
    again = prove(system, witness, key, DIGEST)
    assert again != proof
    for points in (slice(0, 64), slice(64, 192), slice(192, 256)):
        assert again.points[points] != proof.points[points]
    assert verify(again, key.verifying_key, publics)


def test_phases_and_progress(proved: Proved) -> None:
    system, witness, _, key, _, _ = proved
    names: list[str] = []
    proof = prove(system, witness, key, DIGEST, progress=names.append)
    assert names == list(proof.phases) == ["fft", "msm H", "msm A", "msm B1", "msm B2", "msm C", "finish", "check"]
    assert all(seconds >= 0 for seconds in proof.phases.values())


def test_every_unsatisfied_row_is_refused_and_the_first_named(proved: Proved) -> None:
    system, witness, _, key, _, _ = proved
    first = system.wires - system.constraints
    for row in range(system.constraints):
        wrong = witness.copy()
        wrong[first + row] = limbs([int.from_bytes(witness[first + row].tobytes(), "little") + 1])[0]
        with pytest.raises(Unsatisfied, match=f"row {row} ") as caught:
            prove(system, wrong, key, DIGEST)
        assert caught.value.row == row


def test_malformed_witnesses(proved: Proved) -> None:
    system, witness, _, key, _, _ = proved
    for change, reason in (
        (lambda wrong: wrong[:-1], "shape"),
        (lambda wrong: wrong.reshape(-1), "shape"),
        (lambda wrong: np.concatenate([limbs([2]), wrong[1:]]), "constant 1"),
        (lambda wrong: np.full_like(wrong, 2**64 - 1), "below the field's prime"),
        (lambda wrong: np.concatenate([wrong[:-1], limbs([0]) + np.array(BN254.limbs)]), "below the field's prime"),
    ):
        with pytest.raises(CircuitizeError, match=reason):
            prove(system, change(witness.copy()), key, DIGEST)


def test_a_key_serves_one_circuit(proved: Proved) -> None:
    system, _, _, key, _, _ = proved
    other, other_witness = random_system(2, rows=50)
    with pytest.raises(CircuitizeError, match="rows"):
        prove(other, other_witness, key, DIGEST)
    # Same sizes and the same claimed digest, but other constraints: caught before a proof leaves.
    alike, alike_witness = random_system(3)
    assert (alike.wires, alike.constraints) == (system.wires, system.constraints)
    with pytest.raises(CircuitizeError, match="does not verify"):
        prove(alike, alike_witness, key, DIGEST)


def test_other_fields_are_refused(tmp_path: Path) -> None:
    system, _ = random_system(1)
    foreign = ConstraintSystem(Field(101), system.a, system.b, system.c, system.large, system.wires, 2, 3, 4)
    with pytest.raises(CircuitizeError, match="BN254"):
        setup(foreign, DIGEST, tmp_path)


@pytest.mark.parametrize(
    ("offsets", "wires", "coefficients", "reason"),
    [
        ([], [], [], "offsets"),
        ([0, 2], [0], [1], "offsets"),
        ([1, 1], [0], [1], "offsets"),
        ([0, 2, 1], [0], [1], "decrease"),
        ([0, 1], [9], [1], "wire 9"),
        ([0, 1], [0], [1 << 62], "coefficient"),
        ([0, 1], [0], [-(1 << 62)], "coefficient"),
        ([0, 1], [0, 1], [1], "offsets"),
        ([0, 1, 1], [0], [1], "equal numbers"),
    ],
)
def test_malformed_matrices(offsets: list[int], wires: list[int], coefficients: list[int], reason: str) -> None:
    bad = (np.array(offsets, np.int64), np.array(wires, np.uint32), np.array(coefficients, np.int64))
    good = (np.array([0, 1]), np.array([0], np.uint32), np.array([1]))
    large = np.zeros((0, 4), np.uint64)
    for place in range(3):
        a, b, c = (bad if place == at else good for at in range(3))
        with pytest.raises(ValueError, match=reason):
            _native.groth16_setup((a, b, c, large, 3, 1, 0), bytes(32))
    with pytest.raises(ValueError, match="public"):
        _native.groth16_setup((good, good, good, large, 1, 1, 0), bytes(32))
    with pytest.raises(ValueError, match="large coefficient 0"):
        _native.groth16_setup((good, good, good, np.full((1, 4), 2**64 - 1, np.uint64), 3, 1, 0), bytes(32))
    with pytest.raises(ValueError, match="contiguous"):
        _native.groth16_setup(((np.zeros(4, np.int64)[::2], *good[1:]), good, good, large, 3, 1, 0), bytes(32))


def test_snarkjs_text_round_trips(proved: Proved, tmp_path: Path) -> None:
    _, _, folder, key, proof, publics = proved
    (tmp_path / "proof.json").write_text(proof_text(proof))
    (tmp_path / "public.json").write_text(public_text(publics))
    assert (folder / "verification_key.json").read_text() == verifying_key_text(key.verifying_key)
    assert read_proof(tmp_path / "proof.json", DIGEST) == proof
    assert read_public(tmp_path / "public.json") == publics
    foreign = read_verifying_key(folder / "verification_key.json", DIGEST, "ceremony")
    assert foreign.setup == "ceremony"
    assert verify(read_proof(tmp_path / "proof.json", DIGEST), foreign, publics)


def test_a_full_disk_leaves_no_half_written_key(tmp_path: Path) -> None:
    program = f"""
import resource, sys
from pathlib import Path
sys.path = {sys.path!r}
from groth16_cases import DIGEST, random_system
from circuitize.circuits.errors import CircuitizeError
from circuitize.provers.groth16.keys import setup
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
try:
    setup(random_system(1)[0], DIGEST, Path({str(tmp_path)!r}))
except CircuitizeError as error:
    print(error)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert "proving.key: File too large" in result.stdout
    assert [file.name for file in tmp_path.iterdir()] == [WARNING_FILE]

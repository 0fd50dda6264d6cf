"""Groth16 with a commitment over random systems: proofs verify, and what is wrong is named."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from groth16_cases import DIGEST, R, limbs, random_system
from mirage_cases import Limbs, Permutation, Witness, random_case, two_phases
from tiers import seeds

from circuitize import _native
from circuitize.backends.r1cs.system import ConstraintSystem
from circuitize.circuits.errors import CircuitizeError
from circuitize.provers.groth16 import keys as plain_keys
from circuitize.provers.groth16 import prover as plain_prover
from circuitize.provers.groth16.errors import Unsatisfied
from circuitize.provers.mirage.challenge import challenge, key_hash
from circuitize.provers.mirage.keys import ProvingKey, setup
from circuitize.provers.mirage.proof import Proof
from circuitize.provers.mirage.prover import Challenge, prove, public_values
from circuitize.provers.mirage.verifier import refusal, verify

Proved = tuple[ConstraintSystem, Witness, Path, ProvingKey, Proof, Sequence[int]]


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> Proved:
    """(system, witness function, folder of keys, proving key, proof, publics)"""
    folder = tmp_path_factory.mktemp("keys")
    system, witness = random_case(1)
    key = setup(system, DIGEST, folder)
    publics = public_values(system, witness(lambda first: 0))
    return system, witness, folder, key, prove(system, witness, key, DIGEST), publics


@pytest.mark.parametrize("seed", seeds(6, deep=100))
def test_random_systems(tmp_path: Path, seed: int) -> None:
    shape = [(1, 0, 2, 1), (1, 1, 1, 3), (2, 0, 2, 1), (7, 3, 1, 9), (8, 1, 1, 40), (63, 1, 2, 2)][seed % 6]
    system, witness = random_case(seed, *shape, awkward=seed < 6)
    key = setup(system, DIGEST, tmp_path)
    proof = prove(system, witness, key, DIGEST)
    publics = public_values(system, witness(lambda first: 0))
    assert len(publics) == system.public_outputs + system.public_inputs - 1
    assert refusal(proof, key.verifying_key, publics, DIGEST) is None
    for place in range(len(publics)):
        changed = [*publics]
        changed[place] = (changed[place] + 1) % R
        assert not verify(proof, key.verifying_key, changed, DIGEST)


def test_the_challenge_is_the_one_that_python_computes(proved: Proved) -> None:
    """Two definitions of the hash, over commitments of the prover and over what a verifier reads."""
    _, witness, _, key, proof, publics = proved
    drawn = []

    def draw(first: Limbs) -> int:
        commitment = _native.mirage_commit(key.native, first)
        value = int.from_bytes(commitment.challenge, "little")
        assert value == challenge(key.verifying_key, publics, commitment.point) < 1 << 253
        drawn.append(value)
        return value

    for _ in range(20):
        witness(draw)
    assert len(set(drawn)) == 20
    assert max(value.bit_length() for value in drawn) > 245
    native = _native.mirage_challenge(key.verifying_key.native, limbs(publics), proof.points[256:])
    assert int.from_bytes(native, "little") == challenge(key.verifying_key, publics, proof.points[256:])
    assert key_hash(key.verifying_key) == key.verifying_key.native.encode()[-32:]


def test_the_challenge_depends_on_everything_before_it(proved: Proved, tmp_path: Path) -> None:
    _, _, _, key, proof, publics = proved
    point = proof.points[256:]
    values = {challenge(key.verifying_key, publics, point)}
    for place in range(len(publics)):
        values.add(challenge(key.verifying_key, [*publics[:place], publics[place] ^ 1, *publics[place + 1 :]], point))
    values.add(challenge(key.verifying_key, publics, point[32:] + point[:32]))
    for digest in (DIGEST, hashlib.sha256(b"another").hexdigest()):
        again = setup(random_case(1)[0], digest, tmp_path).verifying_key
        values.add(challenge(again, publics, point))
    assert len(values) == len(publics) + 4
    for wrong in (b"", point[:63], point + b"\0", bytes(64), point[32:] + point[:32]):
        with pytest.raises(ValueError, match="D"):
            _native.mirage_challenge(key.verifying_key.native, limbs(publics), wrong)


def test_a_permutation_needs_its_challenge(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    y = [int.from_bytes(random.bytes(32), "little") % R for _ in range(30)]
    x = [y[i] for i in random.permutation(30)]
    case = Permutation(30)
    key = setup(case.system, DIGEST, tmp_path)
    proof = prove(case.system, case.witness(x, y), key, DIGEST)
    assert verify(proof, key.verifying_key, y)
    with pytest.raises(Unsatisfied, match="row 60 "):
        prove(case.system, case.witness([*x[:-1], x[-1] + 1], y), key, DIGEST)
    # Known before x is chosen, the challenge 5 lets anything pass: all rows hold, only the prover's check refuses.
    total = 1
    for value in y:
        total = total * (value + 5) % R
    forged = [(total - 5) % R, *[R - 4] * 29]
    assert sorted(forged) != sorted(y)
    for chosen in (5, None):
        with pytest.raises(CircuitizeError, match="wire 31, the challenge: expected the one that follows"):
            prove(case.system, partial(_chosen, case, forged, y, chosen), key, DIGEST)


def _chosen(case: Permutation, x: list[int], y: list[int], chosen: int | None, draw: Challenge) -> Limbs:
    drawn = draw(limbs([1, *y, 0, *x]))
    return case.whole(x, y, 5 if chosen else drawn ^ 1)


def test_zero_knowledge_draws_fresh_randomness(proved: Proved) -> None:
    system, witness, _, key, proof, publics = proved
    again = prove(system, witness, key, DIGEST)
    for points in (slice(0, 64), slice(64, 192), slice(192, 256), slice(256, 320)):
        assert again.points[points] != proof.points[points]
    assert verify(again, key.verifying_key, publics)


def test_phases_and_progress(proved: Proved) -> None:
    system, witness, _, key, _, _ = proved
    names: list[str] = []
    proof = prove(system, witness, key, DIGEST, progress=names.append)
    expected = ["commit", "fft", "msm H", "msm A", "msm B1", "msm B2", "msm C", "finish", "check"]
    assert ["commit", *names] == list(proof.phases) == expected
    assert all(seconds >= 0 for seconds in proof.phases.values())


def test_every_unsatisfied_row_is_refused_and_the_first_named(proved: Proved) -> None:
    system, witness, _, key, _, _ = proved
    first = system.wires - system.constraints
    for row in range(system.constraints):

        def wrong(draw: Challenge, row: int = row) -> Limbs:
            values = witness(draw)
            values[first + row] = limbs([int.from_bytes(values[first + row].tobytes(), "little") + 1])[0]
            return values

        with pytest.raises(Unsatisfied, match=f"row {row} ") as caught:
            prove(system, wrong, key, DIGEST)
        assert caught.value.row == row


def test_malformed_witnesses(proved: Proved) -> None:
    system, witness, _, key, _, _ = proved
    public = system.public_outputs + system.public_inputs
    changes: tuple[tuple[Callable[[Limbs], Limbs], str], ...] = (
        (lambda wrong: wrong[:-1], "shape"),
        (lambda wrong: wrong.reshape(-1), "shape"),
        (lambda wrong: np.concatenate([limbs([2]), wrong[1:]]), "constant 1"),
        (lambda wrong: np.full_like(wrong, 2**64 - 1), "below the field's prime"),
    )
    for change, reason in changes:

        def whole(draw: Challenge, change: Callable[[Limbs], Limbs] = change) -> Limbs:
            return change(witness(draw))

        def first_part(draw: Challenge, change: Callable[[Limbs], Limbs] = change) -> Limbs:
            return witness(lambda first: draw(change(first)))

        for wrong in (whole, first_part):
            with pytest.raises(CircuitizeError, match=reason):
                prove(system, wrong, key, DIGEST)
    with pytest.raises(CircuitizeError, match=f"wire {public}, the challenge: expected 0"):
        prove(
            system, lambda draw: limbs([draw(witness(lambda first: 1)[: public + 1 + system.committed])]), key, DIGEST
        )
    with pytest.raises(CircuitizeError, match="without drawing its challenge"):
        prove(system, lambda draw: witness(lambda first: 1), key, DIGEST)
    with pytest.raises(CircuitizeError, match="drawn already"):
        prove(system, lambda draw: witness(lambda first: draw(first) * 0 + draw(first)), key, DIGEST)


def test_a_key_serves_one_circuit(proved: Proved) -> None:
    system, _, _, key, _, _ = proved
    other, other_witness = random_case(2, rows=50)
    with pytest.raises(CircuitizeError, match="rows"):
        prove(other, other_witness, key, DIGEST)
    alike, alike_witness = random_case(3)
    assert (alike.wires, alike.constraints) == (system.wires, system.constraints)
    with pytest.raises(CircuitizeError, match="does not verify"):
        prove(alike, alike_witness, key, DIGEST)


def test_plain_and_committing_systems_are_told_apart(proved: Proved, tmp_path: Path) -> None:
    system, witness, _, key, _, _ = proved
    plain, plain_witness = random_system(1)
    with pytest.raises(CircuitizeError, match=r"^Groth16: expected a system of one phase, found 6 committed wires, .*"):
        plain_keys.setup(system, DIGEST, tmp_path)
    plain_key = plain_keys.setup(plain, DIGEST, tmp_path)
    with pytest.raises(CircuitizeError, match="Groth16: expected a system of one phase"):
        plain_prover.prove(system, witness(lambda first: 0), plain_key, DIGEST)
    with pytest.raises(CircuitizeError, match=r"^Mirage: expected a system with committed wires and a challenge, .*"):
        setup(plain, DIGEST, tmp_path)
    with pytest.raises(CircuitizeError, match="Mirage: expected a system with committed wires"):
        prove(plain, lambda draw: plain_witness, key, DIGEST)
    private = system.wires - 1 - 5
    with pytest.raises(CircuitizeError, match=f"{private + 1} committed wires of {private} private ones"):
        setup(replace(system, committed=private + 1), DIGEST, tmp_path)
    with pytest.raises(CircuitizeError, match="public wire for the challenge"):
        setup(replace(random_system(1, outputs=0, inputs=0)[0], committed=1), DIGEST, tmp_path)


def test_all_private_wires_may_be_committed(tmp_path: Path) -> None:
    """Nothing of the second phase: C then holds the quotient and blinding alone."""
    system = two_phases(([{3: 1}], [{3: 1}], [{1: 1}]), 4, 1, 1, 1)
    key = setup(system, DIGEST, tmp_path)
    proof = prove(system, lambda draw: limbs([1, 49, draw(limbs([1, 49, 0, 7])), 7]), key, DIGEST)
    assert verify(proof, key.verifying_key, [49])
    assert not verify(proof, key.verifying_key, [50])


def test_a_key_says_what_is_committed_and_that_the_challenge_is_no_public_value(proved: Proved) -> None:
    verifying = proved[3].verifying_key
    assert (verifying.native.committed, verifying.native.prover) == (6, "mirage")
    assert (verifying.public, verifying.native.public) == (4, 5)

"""The smallest whole story: a step of three weights, from Python to a verified proof. Where much fails, start here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from circuitize import (
    SGD,
    Program,
    dense,
    mean_squared_error,
    program_digest,
    quantize,
    relu,
    sequential,
    training_step,
)
from circuitize.backends.field import Limbs
from circuitize.backends.r1cs.checker import failing_rows
from circuitize.backends.r1cs.cost import estimate
from circuitize.backends.r1cs.emit import Emission, emit
from circuitize.backends.r1cs.witness import random_salts, witness
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.values import to_reals
from circuitize.provers.groth16.keys import setup
from circuitize.provers.groth16.prover import prove, public_values
from circuitize.provers.groth16.verifier import verify
from circuitize.sims import integer, real

MODEL = sequential(dense(2, 1), relu())
BATCH = {
    **MODEL.initial(seed=0),
    "inputs": np.array([[0.0, 1.0], [1.0, 0.5]]),
    "targets": np.array([[1.0], [0.0]]),
    "learning_rate": np.array(0.25),
}
UNIT = 2.0**-12
"""The last bit of an activation, of the gradients and of the loss."""


@pytest.fixture(scope="module")
def step() -> Program:
    return training_step(MODEL, mean_squared_error, SGD(), batch=2, examples=[BATCH])


@pytest.fixture(scope="module")
def integers(step: Program) -> IntegerProgram:
    return quantize(step)


@pytest.fixture(scope="module")
def emission(integers: IntegerProgram) -> Emission:
    return emit(integers)


@pytest.fixture(scope="module")
def solution(integers: IntegerProgram, emission: Emission) -> Limbs:
    return witness(
        emission.plan, integer.trace(integers, integer.rounded(integers, BATCH)), random_salts(emission.plan)
    )


def test_integers_follow_floats(step: Program, integers: IntegerProgram) -> None:
    expected = real.run(step, BATCH)
    found = integer.run(integers, BATCH)
    assert found.keys() == expected.keys()
    for port in integers.outputs:
        assert port.format is not None
        assert np.abs(to_reals(port.format, found[port.name]) - expected[port.name]).max() < 4 * UNIT
    moved = [name for name in MODEL.initial(seed=0) if (expected[name] != BATCH[name]).any()]
    assert moved, "a step that moves no weight shows nothing"


def test_the_witness_satisfies_the_constraints(emission: Emission, solution: Limbs) -> None:
    assert emission.system.constraints > 0
    assert not len(failing_rows(emission.system, solution))


def test_the_estimate_is_exact(integers: IntegerProgram, emission: Emission) -> None:
    sizes, system = estimate(integers), emission.system
    for name in ("constraints", "wires", "public", "nonzeros"):
        assert sizes[name] == getattr(system, name)


def test_a_changed_output_satisfies_nothing(emission: Emission, solution: Limbs) -> None:
    forged = solution.copy()
    forged[1, 0] ^= np.uint64(1)
    assert len(failing_rows(emission.system, forged))


@pytest.mark.proof
def test_a_proof_verifies_and_a_changed_statement_does_not(
    integers: IntegerProgram, emission: Emission, solution: Limbs, tmp_path: Path
) -> None:
    digest = program_digest(integers)
    key = setup(emission.system, digest, tmp_path)
    proof = prove(emission.system, solution, key, digest)
    publics = public_values(emission.system, solution)
    assert verify(proof, key.verifying_key, publics, digest)
    for place in range(len(publics)):
        forged = list(publics)
        forged[place] ^= 1
        assert not verify(proof, key.verifying_key, forged, digest)

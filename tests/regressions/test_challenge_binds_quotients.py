"""A challenge took a commitment's word for quotients that the commitment does not tell apart.

A committed output whose sign is asked for is checked by a window of one bit more than its format's places: quotients
(q, r) and (q - 2^width, r + 1) have one digest, and had one challenge. Whoever knows the challenge before sums are
fixed can look for wrong sums that pass: with thousands of sums in an identity, by a generalised birthday search.
"""

import numpy as np
from r1cs_programs import program

from circuitize.backends.field import BN254, Limbs
from circuitize.backends.r1cs.checker import failing_rows
from circuitize.backends.r1cs.emit import Emission, emit
from circuitize.backends.r1cs.witness import witness
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.port import Visibility
from circuitize.circuits.types import Fixed
from circuitize.sims import integer

SIZE, DEPTH, BY = 16, 256, 4


def challenge(emission: Emission, found: Limbs) -> int:
    block = next(block for block in emission.system.wire_blocks if block.role == "challenge")
    return BN254.to_integers(found[block.first + block.count - 1 : block.first + block.count])[0]


def test_the_challenge_tells_apart_what_the_commitment_does_not() -> None:
    builder = Builder()
    x, w = builder.inputs([Fixed((SIZE, DEPTH), 0, 0, 255), Fixed((DEPTH, SIZE), 0, -1, 250)])
    sums = builder.add(integers.Contract("bi,ij->bj"), x, w)
    quotient = builder.add(integers.Shift(BY), sums)
    rectified = builder.add(integers.ReLU(), quotient)
    given = program(builder.build([quotient, rectified])).with_visibility(
        in0=Visibility.COMMITTED, in1=Visibility.COMMITTED, out0=Visibility.COMMITTED, out1=Visibility.PRIVATE
    )
    emission = emit(given)
    assert emission.challenge_degree > 0
    random = np.random.default_rng(0)
    inputs = {"in0": random.integers(0, 256, (SIZE, DEPTH)), "in1": random.integers(0, 251, (DEPTH, SIZE))}
    honest = integer.trace(given, inputs)
    forged = [values.copy() for values in honest]
    type = given.arrow.type(quotient)
    assert isinstance(type, Fixed)
    assert type.width == 1 + (type.high - type.low).bit_length(), "the window of a sign is a bit wider than the format"
    carry = np.zeros((SIZE, SIZE), np.int64)
    carry[0, :2] = -(1 << (type.width - 1)), 1
    forged[quotient] += carry
    forged[sums] += carry << BY
    forged[rectified] = np.maximum(forged[quotient], 0)
    salts = dict.fromkeys(emission.plan.salts, 5)
    right, wrong = (witness(emission.plan, values, salts) for values in (honest, forged))
    assert not len(failing_rows(emission.system, right))
    assert len(failing_rows(emission.system, wrong))
    assert (right[1] == wrong[1]).all(), "one digest for both"
    assert challenge(emission, right) != challenge(emission, wrong)

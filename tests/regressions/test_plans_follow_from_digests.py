"""A saved program with the agreed digest had another plan if its edges stood in another order: honest proofs failed."""

from __future__ import annotations

import numpy as np
from tensor_attack import built
from tensor_proofs import proved, refusals

from circuitize.circuits import integers
from circuitize.circuits.encode import program_digest
from circuitize.circuits.types import Fixed
from circuitize.provers.tensor.plan import plan

NUMBERS, MORE = Fixed((4,), 0, 0, 255), Fixed((4,), 0, 0, 4095)
ONE = built([NUMBERS, MORE], (integers.Shift(2), (0,)), (integers.Shift(2), (1,)), (integers.Add(), (2, 3)))
OTHER = built([NUMBERS, MORE], (integers.Shift(2), (1,)), (integers.Shift(2), (0,)), (integers.Add(), (3, 2)))
INPUTS = {"in0": np.array([1, 20, 255, 7]), "in1": np.array([9, 0, 77, 4095])}


def test_equal_digests_have_equal_plans() -> None:
    assert program_digest(ONE) == program_digest(OTHER)
    assert plan(ONE).digest == plan(OTHER).digest
    found = proved(ONE, INPUTS)
    assert refusals(OTHER, found.statement, found.proof) == (None, None)

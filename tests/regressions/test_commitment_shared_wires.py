"""An output that holds one wire several times (a broadcast input) could not be committed to: an assertion failed."""

import numpy as np
import pytest
from r1cs_programs import program

from circuitize.backends.field import BN254
from circuitize.backends.r1cs.checker import failing_rows
from circuitize.backends.r1cs.commitments import commit
from circuitize.backends.r1cs.cost import estimate
from circuitize.backends.r1cs.emit import emit
from circuitize.backends.r1cs.witness import random_salts, witness
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.port import Visibility
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import raw
from circuitize.sims import integer


@pytest.mark.parametrize("also_public", [False, True])
def test_a_broadcast_input_is_committed_to(also_public: bool) -> None:
    builder = Builder()
    x = builder.input(Fixed((2,), 0, -3, 4))
    twice = builder.add(integers.Reindex(integers.View.broadcast((3, 2), (0,))), x)
    seen = Visibility.PUBLIC if also_public else Visibility.PRIVATE
    given = program(builder.build([twice, twice])).with_visibility(out0=Visibility.COMMITTED, out1=seen)
    emission = emit(given)
    salts = random_salts(emission.plan)
    inputs = {"in0": np.array([-3, 2])}
    found = witness(emission.plan, integer.trace(given, inputs), salts)
    assert not len(failing_rows(emission.system, found))
    (digest,) = BN254.to_integers(found[1:2])
    output = integer.run(given, raw(inputs))["out0"]
    assert digest == commit(output, Fixed((3, 2), 0, -3, 4), salts["output out0"])
    assert estimate(given)["constraints"] == emission.system.constraints

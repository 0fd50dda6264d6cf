"""A contraction of a broadcast operand, packed because a Shift bounds its sums, failed with an assertion."""

import numpy as np
import pytest
from r1cs_programs import program

from circuitize.backends.r1cs.checker import failing_rows
from circuitize.backends.r1cs.emit import emit
from circuitize.backends.r1cs.witness import witness
from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.types import Fixed
from circuitize.sims import integer


@pytest.mark.parametrize("equation", ["bi,ij->bj", "bi,jb->ij"])
def test_a_broadcast_operand_is_packed(equation: str) -> None:
    builder = Builder()
    x, w = builder.inputs([Fixed((2,), 0, -3, 4), Fixed((2, 3), 0, -3, 4)])
    rows = builder.add(integers.Reindex(integers.View.broadcast((3, 2), (0,))), x)
    given = program(builder.build([builder.add(integers.Shift(1), builder.add(integers.Contract(equation), rows, w))]))
    emission = emit(given)
    assert any(block.role == "packed product" for block in emission.system.blocks)
    inputs = {"in0": np.array([-3, 4]), "in1": np.array([[1, -2, 4], [0, 3, -3]])}
    assert not len(failing_rows(emission.system, witness(emission.plan, integer.trace(given, inputs))))

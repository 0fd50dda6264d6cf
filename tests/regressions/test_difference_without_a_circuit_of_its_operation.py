"""A difference is told where the operations have no circuit of their own: check ended with that as an error."""

from __future__ import annotations

import numpy as np

from circuitize import Builder, Fixed, IntegerProgram, Port, Visibility
from circuitize.backends.r1cs.challenge import Challenge
from circuitize.circuits.integers import Add, Constant
from circuitize.sims.agree import R1CS, agree


def added(amount: int) -> IntegerProgram:
    numbers = Fixed((2,), 0, -8, 7)
    builder = Builder()
    wire = builder.input(numbers)
    arrow = builder.build([builder.add(Add(), wire, builder.add(Constant.of(np.array([amount, 3 - amount]))))])
    total = arrow.target[0]
    assert isinstance(total, Fixed)
    return IntegerProgram(arrow, (Port("x", Visibility.PUBLIC, numbers),), (Port("y", Visibility.PUBLIC, total),))


def test_a_constant_has_nothing_to_test_by_a_challenge() -> None:
    wrong = R1CS(added(1), challenge=Challenge.COMMITTED)
    found = agree(added(2), [{"x": np.array([3, 4])}], [wrong])
    assert found.mismatches == 1
    assert "r1cs with a commitment: " in str(found.first_difference)

"""A constant matrix whose memory was that of its transpose went to da4ml, which read it row by row: wrong sums."""

from __future__ import annotations

import numpy as np
import pytest

from circuitize.backends.verilog.parallel import schedule
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Constant, Contract
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.sims.rtl import check_design


@pytest.mark.rtl
@pytest.mark.parametrize("equation", ["cpk,ock->op", "cpk,ock->po"])
def test_kernels_with_the_output_first(equation: str) -> None:
    random = np.random.default_rng(1)
    builder = Builder()
    x = builder.input(Fixed((2, 3, 4), 0, -8, 7))
    kernel = builder.add(Constant.of(random.integers(-3, 4, (2, 2, 4)), 0))
    arrow = builder.build([builder.add(Contract(equation), x, kernel)])
    result = arrow.target[0]
    assert isinstance(result, Fixed)
    ports = (Port("x", Visibility.PUBLIC, Fixed((2, 3, 4), 0, -8, 7)),), (Port("y", Visibility.PUBLIC, result),)
    program = IntegerProgram(arrow, *ports)
    found = check_design(schedule(program), program, {"x": random.integers(-8, 8, (20, 2, 3, 4))})
    assert found.first_difference is None

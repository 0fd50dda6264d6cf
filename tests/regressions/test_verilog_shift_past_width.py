"""65535 x for a bit x is 65536 x - x: in 16 bits nothing is left of the first, and what was written was `{}`."""

from __future__ import annotations

import numpy as np
import pytest
from r1cs_programs import single

from circuitize.backends.verilog import folded, parallel
from circuitize.circuits import integers
from circuitize.circuits.types import Fixed
from circuitize.sims.rtl import check_design


@pytest.mark.rtl
@pytest.mark.parametrize("scheduler", [parallel, folded], ids=["parallel", "folded"])
@pytest.mark.parametrize("factor", [65535, 255, 3, -65535])
def test_a_multiple_of_a_bit(scheduler: object, factor: int) -> None:
    given = single(integers.Scale(factor, 0), Fixed((2,), 0, 0, 1))
    (port,) = given.inputs
    frames = {port.name: np.array([[0, 1], [1, 0], [1, 1], [0, 0]])}
    found = check_design(scheduler.schedule(given), given, frames, backpressure=1)  # type: ignore[attr-defined]
    assert (found.mismatches, found.undefined) == (0, 0), found.first_difference

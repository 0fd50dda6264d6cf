"""Every operation of the integer language in the parallel schedule: simulated, equal to the executor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from integers_cases import Case, awkward, cases, draw
from r1cs_programs import single
from tiers import count

from circuitize.backends.verilog.parallel import schedule
from circuitize.circuits import integers
from circuitize.sims import rtl

PARTIAL = (integers.Check, integers.Gather, integers.ScatterAdd)
FRAMES = count(24, deep=400)
LARGE = 1 << 12
"""Elements of a source: a case of 16,384 multipliers is left to the folded schedule."""


def frames(case: Case) -> dict[str, np.ndarray]:
    """Random, awkward and extreme values; every awkward value of an interval somewhere; defined and undefined ones."""
    random = np.random.default_rng(7)
    found = {}
    for index, source in enumerate(case.sources):
        drawn = np.stack([draw(source, random) for _ in range(FRAMES)])
        values = random.permutation(awkward(source.low, source.high))
        count = min(FRAMES // 2, -(-len(values) // source.size))
        drawn[:count] = np.resize(values, (count, *source.shape))
        found[f"in{index}"] = drawn
    half = slice(FRAMES // 4, FRAMES // 4 + FRAMES // 2)
    if isinstance(case.operation, integers.Check):
        found["in0"][half] = np.clip(found["in0"][half], case.operation.low, case.operation.high)
    elif isinstance(case.operation, integers.Gather | integers.ScatterAdd):
        kept = case.operation
        size = kept.size if isinstance(kept, integers.ScatterAdd) else case.sources[0].shape[kept.axis]
        found["in1"][half] = np.clip(found["in1"][half], 0, size - 1)
    return found or {"in0": np.array([0, 1])}


def check(case: Case, **options: Any) -> rtl.Comparison:
    program = single(case.operation, *case.sources)
    found = rtl.check_design(schedule(program, **options), program, frames(case), backpressure=3)
    assert found.mismatches == 0, found.first_difference
    assert found.undefined < found.vectors
    assert not found.undefined or isinstance(case.operation, PARTIAL)
    return found


@pytest.mark.parametrize("case", [c for c in cases() if max((s.size for s in c.sources), default=0) < LARGE], ids=str)
def test_hardware_is_the_integers(case: Case) -> None:
    check(case)

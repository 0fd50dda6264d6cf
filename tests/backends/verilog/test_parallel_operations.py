"""Every operation of the integer language in the parallel schedule: simulated, equal to the executor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from integers_cases import by_operation, cases, few
from operations.integer import Case, awkward, draw
from r1cs_programs import single
from side_by_side import side_by_side, values_of
from tiers import TIER, count

from circuitize.backends.verilog.parallel import schedule
from circuitize.circuits import integers
from circuitize.sims import rtl

PARTIAL = (integers.Check, integers.Gather, integers.ScatterAdd)
FRAMES = count(24, deep=400)
LONG = () if TIER == "deep" else (integers.Contract,)
"""Of many elements, so that few frames hold every awkward value."""
STALLED = 4
"""Frames that wait for one another: of many streams some stream stands still most of the time."""
DEAR = () if TIER == "deep" else (integers.Divide, integers.SquareRoot)
NARROW = 1 << 24
LARGE = 1 << 12
"""Elements of a source: a case of 16,384 multipliers is left to the folded schedule."""


def frames(case: Case) -> dict[str, np.ndarray]:
    """Random, awkward and extreme values; every awkward value of an interval somewhere; defined and undefined ones."""
    random, many = np.random.default_rng(7), FRAMES * (6 if isinstance(case.operation, DEAR) else 1)
    many = many // 2 if isinstance(case.operation, LONG) else many
    found = {}
    for index, source in enumerate(case.sources):
        drawn = np.stack([draw(source, random) for _ in range(many)])
        values = np.r_[source.low, source.high, random.permutation(awkward(source.low, source.high))]
        count = min(many // 2, -(-len(values) // source.size))
        drawn[:count] = np.resize(values, (count, *source.shape))
        found[f"in{index}"] = drawn
    half = slice(many // 4, many // 4 + many // 2)
    if isinstance(case.operation, integers.Check):
        found["in0"][half] = np.clip(found["in0"][half], case.operation.low, case.operation.high)
    elif isinstance(case.operation, integers.Gather | integers.ScatterAdd):
        kept = case.operation
        size = kept.size if isinstance(kept, integers.ScatterAdd) else case.sources[0].shape[kept.axis]
        found["in1"][half] = np.clip(found["in1"][half], 0, size - 1)
    return found or {"in0": np.array([0, 1])}


def narrow(case: Case) -> Case:
    """A case that is dear element by element with one element, which is narrow where the divisor is; or one sum of 40.

    `make deep` tries them whole.
    """
    if isinstance(case.operation, DEAR):
        bound = NARROW if case.sources[-1].high < LARGE else 1 << 62
        near = [replace(s, shape=(1,), low=max(s.low, -bound), high=min(s.high, bound)) for s in case.sources]
        return replace(case, sources=tuple(near))
    if TIER != "deep" and case.sources and case.sources[0].shape == (2, 512):
        x, y = case.sources
        return replace(case, sources=(replace(x, shape=(1, 40)), replace(y, shape=(40, 1))))
    return case


CONTRACTIONS = [c for c in cases() if isinstance(c.operation, integers.Contract)][:: 1 if TIER == "deep" else 2]
"""Every second of two rows of the same equations with other intervals, so that each equation is there, and the last."""
OTHERS = [c for c in few() if not isinstance(c.operation, integers.Contract)]
CASES = [narrow(c) for c in (*OTHERS, *CONTRACTIONS) if max((s.size for s in c.sources), default=0) < LARGE]
TOTAL = by_operation(case for case in CASES if not isinstance(case.operation, PARTIAL))


def check(chosen: Sequence[Case]) -> rtl.Comparison:
    program = side_by_side([single(case.operation, *case.sources) for case in chosen])
    made = [frames(case) for case in chosen]
    most = max(len(values) for given in made for values in given.values())
    vectors = {name: np.resize(values, (most, *values.shape[1:])) for name, values in values_of(made).items()}
    few = {name: values[:STALLED] for name, values in vectors.items()}
    with rtl.Simulation(schedule(program)) as simulation:
        for given, pace in ((vectors, 3),) if TIER == "deep" else ((few, 3), (vectors, None)):
            found = rtl.compare(simulation.run(given, pace), rtl.expected(program, given))
            assert found.mismatches == 0, found.first_difference
    return found


@pytest.mark.parametrize("name", TOTAL)
def test_hardware_is_the_integers(name: str) -> None:
    """All cases of an operation in one design; `out0_k` is the output of case k."""
    assert check(TOTAL[name]).undefined == 0


@pytest.mark.parametrize("case", [c for c in CASES if isinstance(c.operation, PARTIAL)], ids=str)
def test_hardware_fails_where_the_integers_have_no_value(case: Case) -> None:
    found = check([case])
    assert found.undefined < found.vectors

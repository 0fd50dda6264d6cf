"""Random frames with early, late and missing `tlast`, gaps and stalls: their status is 1, and all others are right."""

from __future__ import annotations

import hardware_programs
import numpy as np
import pytest
from broken_frames import all_faulty
from folded_programs import frames as random_frames

from circuitize.backends.verilog import folded, parallel
from circuitize.sims.rtl import Simulation, compare, expected

FRAMES = 120


@pytest.mark.parametrize(
    "interval",
    [0, 1, pytest.param(2, marks=pytest.mark.deep), 4],
    ids=lambda n: f"folded at {n}" if n else "parallel",
)
@pytest.mark.parametrize("pace", [pytest.param(None, marks=pytest.mark.deep), 3])
def test_frames_out_of_place_fail_alone(interval: int, pace: int | None) -> None:
    program, draw = hardware_programs.arithmetic(), np.random.default_rng(interval)
    design = folded.schedule(program, interval_budget=interval) if interval else parallel.schedule(program)
    vectors = random_frames(program, FRAMES, 3)
    wanted = expected(program, vectors)
    beats, short_or_long = all_faulty(design, vectors, draw)
    wrong = wanted.undefined | short_or_long
    assert 20 < wrong.sum() < FRAMES - 20 and (wrong & ~wanted.undefined).sum() > 10
    with Simulation(design) as simulation:
        found = simulation.run_beats(beats, FRAMES, pace)
    compared = compare(found, type(wanted)(wanted.outputs, wrong))
    assert (compared.mismatches, compared.first_difference) == (0, None)

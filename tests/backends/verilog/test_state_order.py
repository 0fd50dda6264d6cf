"""State that a step replaces unread, hands on, or shows: no frame sees what a later one writes."""

from __future__ import annotations

import numpy as np
import pytest
from state_programs import UPDATES, initial, modal, step
from tiers import count
from unrefined_plans import unrefined

from circuitize.backends.verilog.bound import Bound, integrated
from circuitize.backends.verilog.folded import schedule
from circuitize.backends.verilog.shell import Interface
from circuitize.sims.rtl import Simulation, compare, expected
from circuitize.sims.rtl.session import session, session_frames

FRAMES = count(3, deep=400)
PACES = (None, 1, 2)[: count(2, deep=3)]


CASES = [(name, outputs) for name in UPDATES for outputs in (True, False)]
FEW = [("replaced", False), ("delayed", True), ("swapped", False), ("added", True), ("one", False)]
"""Each update once; the others are in the deep tier."""


@pytest.mark.parametrize(
    ("name", "outputs"),
    [pytest.param(*case, marks=() if case in FEW else pytest.mark.deep) for case in CASES],
)
def test_steps_in_a_row(name: str, outputs: bool) -> None:
    draw = np.random.default_rng(1)
    vectors = {"x": draw.integers(-100, 101, (FRAMES, 12)), "m": draw.integers(-3, 4, (FRAMES, 12, 12))}
    program = step(name, outputs)
    wanted = expected(program, vectors, initial())
    with Simulation(schedule(program, initial(), lanes=8)) as simulation:
        for pace in PACES:
            assert compare(simulation.run(vectors, pace), wanted).first_difference is None


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "replaced" else pytest.mark.deep) for name in UPDATES]
)
def test_modes_in_any_order(name: str) -> None:
    made, start = modal(name)
    vectors = session_frames(made, count(6, deep=2 * FRAMES), 1, start)
    wanted = session(made, vectors, start)
    with unrefined():
        design = integrated(Bound(made.step, start, made), "folded", {"lanes": 8}, Interface("m"))
    with Simulation(design) as simulation:
        for pace in PACES[count(1, deep=0) :]:
            assert compare(simulation.run(vectors, pace), wanted).first_difference is None

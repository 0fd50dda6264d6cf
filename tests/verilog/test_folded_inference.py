"""Folded networks in simulation: what the integer executor computes, bit for bit, in exactly the clocks announced."""

from __future__ import annotations

import pytest
from folded_programs import frames, perceptron

from circuitize.backends.verilog.folded import schedule
from circuitize.sims.rtl import Simulation, compare, expected


@pytest.mark.parametrize("interval", [3, 8, 32])
def test_a_perceptron_agrees_and_keeps_its_clocks(interval: int) -> None:
    program = perceptron((4, 8, 3), seed=1)
    design = schedule(program, interval_budget=interval)
    vectors = frames(program, 200)
    wanted = expected(program, vectors)
    with Simulation(design) as simulation:
        alone = compare(simulation.run(vectors), wanted)
        pressed = compare(simulation.run(vectors, backpressure=interval), wanted)
    assert alone.first_difference is None and pressed.first_difference is None
    assert design.report["interval_cycles"] == interval == alone.interval_cycles
    assert design.report["latency_cycles"] == alone.latency_cycles

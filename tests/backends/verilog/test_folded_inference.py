"""Folded networks in simulation: what the integer executor computes, bit for bit, in exactly the clocks announced."""

from __future__ import annotations

import pytest
from folded_programs import frames, network, perceptron
from tiers import TIER, count

from circuitize.backends.verilog.design import Design
from circuitize.backends.verilog.folded import schedule
from circuitize.circuits.program import IntegerProgram
from circuitize.sims.rtl import Simulation, available, compare, expected

MANY, FEW = count(8, deep=5000), count(4, deep=100)
"""Frames; the first eight are of ends of intervals."""


def quick() -> str:
    """The simulator for so many frames: Verilator builds for seconds, and then runs a hundred times as fast."""
    here = any(simulator.name == "verilator" for simulator in available())
    return "verilator" if here and TIER == "deep" else "icarus"


def check(design: Design, program: IntegerProgram, number: int, simulator: str = "icarus") -> None:
    """The design agrees, without gaps and with, and takes the clocks it announces."""
    vectors = frames(program, number)
    wanted = expected(program, vectors)
    with Simulation(design, simulator) as simulation:
        alone = compare(simulation.run(vectors), wanted)
        pressed = compare(simulation.run(vectors, backpressure=number), wanted)
    assert (alone.first_difference, pressed.first_difference) == (None, None)
    assert (alone.mismatches, pressed.mismatches, alone.vectors) == (0, 0, number)
    assert design.report["interval_cycles"] == alone.interval_cycles < pressed.interval_cycles
    assert design.report["latency_cycles"] == alone.latency_cycles


@pytest.mark.parametrize("interval", [1, 3, 8, 32])
def test_a_perceptron_agrees_and_keeps_its_clocks(interval: int) -> None:
    program = perceptron((4, 8, 3), seed=1)
    design = schedule(program, interval_budget=interval)
    assert design.report["interval_cycles"] == interval
    check(design, program, count(15, deep=1000))


@pytest.mark.deep
def test_the_jet_network_agrees_on_many_frames() -> None:
    program = perceptron()
    design = schedule(program, interval_budget=32)
    assert (design.report["interval_cycles"], design.report["lanes"]) == (32, 133)
    check(design, program, MANY, quick())


@pytest.mark.parametrize("interval", [72, 700])
def test_convolution_table_pooling_and_argmax_agree_on_many_frames(interval: int) -> None:
    program = network()
    design = schedule(program, interval_budget=interval)
    assert design.report["interval_cycles"] <= interval
    check(design, program, MANY if interval == 72 else FEW, quick() if interval == 72 else "icarus")

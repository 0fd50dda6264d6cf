"""Quantized networks of ONNX, bit for bit what onnxruntime makes of them: in integers, constraints and hardware."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from qdq_networks import Network, asymmetric, convolutions, perceptron
from tiers import count

from circuitize.backends.verilog.folded import schedule as folded
from circuitize.backends.verilog.parallel import schedule as parallel
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.quantize import quantize
from circuitize.circuits.values import Raw, to_integers, to_reals
from circuitize.sims import integer
from circuitize.sims.agree import R1CS, agree
from circuitize.sims.rtl import Simulation

NETWORKS = {"QDQ": perceptron, "QDQ per channel": convolutions, "QLinear, asymmetric": asymmetric}
Reals = NDArray[np.float64]


@cache
def made(name: str) -> tuple[Network, IntegerProgram]:
    """Calibrated on one small example alone: no format may come from it."""
    network = NETWORKS[name]()
    return network, quantize(network.program([network.drawn(2)[1] / 4]))


def inputs_of(program: IntegerProgram, drawn: list[Reals]) -> list[NDArray[np.int64]]:
    return [to_integers(program.inputs[0], x, "x") for x in drawn]


@pytest.mark.parametrize("name", NETWORKS)
def test_integers_are_bit_equal_to_onnxruntime(name: str) -> None:
    network, program = made(name)
    drawn = network.drawn(count(200, deep=20_000))
    wanted = network.judged(drawn)
    format = program.outputs[0].format
    for x, y in zip(inputs_of(program, drawn), wanted, strict=True):
        np.testing.assert_array_equal(to_reals(format, evaluate(program.arrow, [x])[0]), y)
    found = np.array(wanted)
    ends = [format.low * 2.0**-format.fraction_bits, format.high * 2.0**-format.fraction_bits]
    assert len(np.unique(found)) > 40 and set(ends) <= set(found.flat), "from end to end, both of them saturated"


@pytest.mark.parametrize("name", NETWORKS)
def test_constraints_are_bit_equal_to_onnxruntime(name: str) -> None:
    network, program = made(name)
    drawn = network.drawn(count(2, deep=8), seed=1)
    wanted = network.judged(drawn)
    vectors = [{"x": x} for x in inputs_of(program, drawn)]
    for vector, y in zip(vectors, wanted, strict=True):
        found = integer.run(program, {"x": Raw(vector["x"])})["y"]
        np.testing.assert_array_equal(to_reals(program.outputs[0].format, found), y)
    compared = agree(program, vectors, [R1CS(program)])
    assert (compared.mismatches, compared.undefined, compared.vectors) == (0, 0, len(vectors)), (
        compared.first_difference
    )


@pytest.mark.rtl
@pytest.mark.parametrize(
    ("name", "schedule"),
    [
        ("QDQ", "parallel"),
        ("QDQ", "folded"),
        ("QLinear, asymmetric", "folded"),
        ("QDQ per channel", "folded"),
    ],
)
def test_hardware_is_bit_equal_to_onnxruntime(name: str, schedule: str) -> None:
    network, program = made(name)
    drawn = network.drawn(count(2 if name == "QDQ per channel" else 8, deep=60), seed=2)
    design = parallel(program, 4) if schedule == "parallel" else folded(program, interval_budget=200)
    with Simulation(design, "icarus") as simulation:
        frames = simulation.run({"x": np.stack(inputs_of(program, drawn))})
    found = to_reals(program.outputs[0].format, frames.outputs["y"])
    np.testing.assert_array_equal(found, np.array(network.judged(drawn)))

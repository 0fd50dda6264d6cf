"""Functions, reductions and normalisation side by side in one program: every target has the executor's integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from tensor_proofs import committed_inputs, proved

from circuitize.backends.r1cs.challenge import Challenge
from circuitize.backends.verilog import folded, parallel
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import to_integers
from circuitize.frontends import activations, functions
from circuitize.frontends.tensor import Tensor
from circuitize.frontends.trace import trace
from circuitize.sims.agree import R1CS, agree
from circuitize.sims.plonkish import Plonkish
from circuitize.sims.rtl import check_design

WIDE = Fixed((2, 3), 12, -6 * 4096, 6 * 4096)
"""Beyond the reach of the sigmoid's relatives, and wider than one table."""

Function = Callable[[Tensor], Tensor]
GROUPS: dict[str, Sequence[Function]] = {
    "smooth": (
        functions.erf,
        functions.gelu,
        lambda x: functions.gelu(x, True),
        activations.softplus,
        activations.mish,
    ),
    "waves": (functions.sin, lambda x: functions.cos(x * 8.0), functions.exp2, lambda x: functions.log2(x * x + 0.5)),
    "pieces": (
        activations.elu,
        activations.hard_swish,
        activations.leaky_relu,
        functions.floor,
        functions.round_half_even,
        functions.sign,
        lambda x: functions.top_k(x, 2)[0],
    ),
    "sums": (
        functions.normalize,
        functions.root_mean_square_normalize,
        lambda x: functions.variance(x, 1),
        lambda x: functions.cumulative_sum(x, 1),
        lambda x: functions.reciprocal_square_root(functions.absolute(x) + 0.25),
        lambda x: functions.product(functions.clip(x, -1.5, 1.5), 0),
        functions.least,
    ),
}


def examples(count: int) -> list[dict[str, np.ndarray]]:
    """Numbers all over the interval; rows are never nearly constant, which no norm would like."""
    random = np.random.default_rng(4)
    spread = np.array([-4.0, 0.0, 4.0]) + random.uniform(-2, 2, (count, 2, 3))
    return [{"x": random.permuted(row, axis=1)} for row in spread]


def program(name: str) -> IntegerProgram:
    arrow = trace(lambda x: [function(x) for function in GROUPS[name]], WIDE.shape)
    outputs = tuple(Port(f"y{k}", Visibility.PUBLIC) for k in range(len(GROUPS[name])))
    given = Program(arrow, (Port("x", Visibility.PUBLIC, WIDE),), outputs, tuple(examples(64)))
    return quantize(given)


@pytest.mark.deep
@pytest.mark.rtl
@pytest.mark.proof
@pytest.mark.parametrize("name", GROUPS)
def test_every_target_has_the_same_integers(name: str) -> None:
    made = program(name)
    vectors = [{"x": to_integers(made.inputs[0], example["x"], "example")} for example in examples(6)]
    found = agree(made, vectors, [R1CS(made), R1CS(made, challenge=Challenge.COMMITTED), Plonkish(made)])
    assert found.mismatches == 0, found.first_difference
    assert found.undefined == 0
    committed = committed_inputs(made)
    proved(committed, vectors[0])
    frames = {"x": np.stack([vector["x"] for vector in vectors])}
    for schedule in (parallel.schedule, folded.schedule):
        hardware = check_design(schedule(made), made, frames, backpressure=1)
        assert hardware.mismatches == 0, hardware.first_difference
        assert hardware.undefined == 0

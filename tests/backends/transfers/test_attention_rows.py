"""What stands between the products of attention: by spherical attention and by softmax, in constraints and lookups."""

from __future__ import annotations

import numpy as np
import pytest

from circuitize.backends.drawing.cost import counted
from circuitize.circuits.integers import Contract, Shift
from circuitize.circuits.port import Port
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.quantize import quantize
from circuitize.frontends.attention import Attention, softmax_attention, spherical_attention
from circuitize.frontends.formats import Format
from circuitize.frontends.trace import trace

FORMAT = Format.signed(15, 12)


def head(attention: Attention, length: int, width: int) -> IntegerProgram:
    shape = (length, width)
    arrow = trace(lambda q, k, v: attention(q, k, v, None), shape, shape, shape)
    inputs = tuple(Port(name, "committed", FORMAT.of(shape)) for name in ("query", "key", "value"))
    random = np.random.default_rng(0)
    example = {port.name: FORMAT.nearest(random.normal(0.0, 0.5, shape)) for port in inputs}
    return quantize(Program(arrow, inputs, (Port("read", "public"),), (example,)))


def between(program: IntegerProgram, measure: str) -> tuple[int, int]:
    """The cost without contractions of two arrays: without the rounding of scores, and with it."""
    exact = rounding = 0
    for cost, edge in zip(counted(program, measure), program.arrow.edges(), strict=True):
        if isinstance(edge.operation, Contract) and edge.sources[0] != edge.sources[1]:
            continue
        shape = program.arrow.type(edge.targets[0]).shape
        if isinstance(edge.operation, Shift) and len(set(shape)) == 1:
            rounding += cost
        else:
            exact += cost
    return exact, exact + rounding


@pytest.mark.deep
@pytest.mark.slow
def test_at_1024_positions_the_ratio_is_27() -> None:
    """8.2 M constraints against 222 M where scores stay exact, as the estimate of the literature has it."""
    spherical, softmax = (head(attention, 1024, 64) for attention in (spherical_attention, softmax_attention))
    exact, all_of_it = between(spherical, "rows")
    _, other = between(softmax, "rows")
    assert exact < 8.2e6 and 2.1e8 < other < 2.3e8
    assert other / exact > 27
    assert other / all_of_it > 5
    assert between(softmax, "lookups")[1] / between(spherical, "lookups")[1] > 4.25


def test_the_ratio_grows_with_the_positions() -> None:
    ratios = []
    for length in (8, 32):
        spherical, softmax = (head(attention, length, 4) for attention in (spherical_attention, softmax_attention))
        ratios.append(between(softmax, "rows")[1] / between(spherical, "rows")[0])
    assert 1 < ratios[0] < ratios[1]

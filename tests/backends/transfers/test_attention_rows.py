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


def between(program: IntegerProgram, measure: str, scores: bool) -> int:
    """The cost without contractions of two arrays, and, unless `scores`, without the rounding of scores."""
    found = 0
    for cost, edge in zip(counted(program, measure), program.arrow.edges(), strict=True):
        product = isinstance(edge.operation, Contract) and edge.sources[0] != edge.sources[1]
        first = isinstance(edge.operation, Shift) and len(set(program.arrow.type(edge.targets[0]).shape)) == 1
        found += 0 if product or (first and not scores) else cost
    return found


@pytest.mark.deep
@pytest.mark.slow
def test_at_1024_positions_the_ratio_is_27() -> None:
    """8.2 M constraints against 222 M where scores stay exact, as the estimate of the literature has it."""
    spherical, softmax = (head(attention, 1024, 64) for attention in (spherical_attention, softmax_attention))
    exact, all_of_it = (between(spherical, "rows", scores) for scores in (False, True))
    other = between(softmax, "rows", True)
    assert exact < 8.2e6 and 2.1e8 < other < 2.3e8
    assert other / exact > 27
    assert other / all_of_it > 5
    assert between(softmax, "lookups", True) / between(spherical, "lookups", True) > 4.25


def test_the_ratio_grows_with_the_positions() -> None:
    ratios = []
    for length in (8, 32):
        spherical, softmax = (head(attention, length, 4) for attention in (spherical_attention, softmax_attention))
        ratios.append(between(softmax, "rows", True) / between(spherical, "rows", False))
    assert 1 < ratios[0] < ratios[1]

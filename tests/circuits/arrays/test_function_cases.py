"""Functions made of operations: derivatives, integers within what is stated of them, and every target the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import tiers
from agreement import check_agreement
from function_cases import FunctionCase, function_cases, small_program
from side_by_side import side_by_side, values_of
from tensor_proofs import committed_inputs, proved

from circuitize.backends.verilog import folded, parallel
from circuitize.circuits.differentiate import reverse_derivative
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.program import IntegerProgram
from circuitize.sims.agree import agree
from circuitize.sims.plonkish import Plonkish
from circuitize.sims.rtl import check_design

CASES = function_cases()
OF_EACH_KIND = (
    "silu",
    "standard_deviation",
    "gather_elements",
    "max_pool",
    "transposed_convolution",
    "softmax_attention",
)
FEW = list({case.of.__name__: case for case in CASES if case.of.__name__ in OF_EACH_KIND}.values())
TARGETED = CASES if tiers.TIER == "deep" else FEW
"""On all targets a function of each kind: each function is tried in integers, and what it is made of on all targets."""


def check(case: FunctionCase, every: list[list[np.ndarray]]) -> None:
    program, arrow = case.program(every), case.arrow
    (port,) = program.outputs
    assert port.format is not None
    for values in every:
        (found,) = evaluate(program.arrow, values)
        (exact,) = evaluate(arrow, case.reals(values))
        units = np.abs(found - np.ldexp(exact, port.format.fraction_bits)).max()
        assert units <= case.allowed + 2.0**-20


@pytest.mark.parametrize("case", [case for case in CASES if case.elementwise], ids=str)
def test_every_integer(case: FunctionCase) -> None:
    (source,) = case.sources
    whole = np.arange(source.fixed.low, source.fixed.high + 1)
    assert len(whole) == (1 << 16) + 1
    check(replace(case, sources=(replace(source, shape=whole.shape),)), [[whole]])


@pytest.mark.parametrize("case", [case for case in CASES if not case.elementwise], ids=str)
def test_arrays_at_random(case: FunctionCase) -> None:
    check(case, case.drawn(tiers.count(60, deep=200)))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives_are_finite_differences(case: FunctionCase) -> None:
    random, arrow, step = np.random.default_rng(12), case.arrow, 2.0**-18
    values = [
        random.integers(0, int(source.high) + 1, source.shape) * 1.0
        if source.index
        else (2 * random.choice(np.arange(-1000, 1000), source.shape, replace=False) + 1) / 1024
        for source in case.sources
    ]
    cotangent = random.normal(size=arrow.target[0].shape)
    slopes = evaluate(reverse_derivative(arrow), [*values, cotangent])
    for position, (source, slope) in enumerate(zip(case.sources, slopes, strict=True)):
        expected = np.zeros(source.shape)
        for place in np.ndindex(source.shape) if not source.index else ():
            ends = []
            for sign in (1, -1):
                moved = [value.copy() for value in values]
                moved[position][place] += sign * step
                ends.append(float((evaluate(arrow, moved)[0] * cotangent).sum()))
            expected[place] = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-6)


def drawn(case: FunctionCase) -> list[dict[str, np.ndarray]]:
    return [{f"x{i}": x for i, x in enumerate(values)} for values in case.drawn(3)]


@pytest.mark.parametrize("case", TARGETED, ids=str)
def test_circuits_have_the_same_integers(case: FunctionCase) -> None:
    """Circuits with every wire changed to anything, and layouts."""
    program, vectors = small_program(case), drawn(case)
    assert check_agreement(program, vectors).undefined == 0
    found = agree(program, vectors, [Plonkish(program)])
    assert (found.mismatches, found.undefined) == (0, 0), found.first_difference


TOGETHER = 9
together = pytest.mark.parametrize("first", range(0, len(TARGETED), TOGETHER))
"""Nine functions side by side."""


def joined(some: Sequence[FunctionCase]) -> tuple[IntegerProgram, list[dict[str, np.ndarray]]]:
    """A program of functions, and three inputs of it."""
    vectors = [values_of(given) for given in zip(*map(drawn, some), strict=True)]
    return side_by_side([small_program(case) for case in some]), vectors


@pytest.mark.rtl
@together
def test_hardware_has_the_same_integers(first: int) -> None:
    """In `make test` each scheduler has every other function: what they are made of is tried on both."""
    step = tiers.count(2, deep=1)
    for number, scheduler in enumerate((parallel, folded)):
        program, vectors = joined(TARGETED[first : first + TOGETHER][number % step :: step])
        frames = {name: np.stack([vector[name] for vector in vectors]) for name in vectors[0]}
        found = check_design(scheduler.schedule(program), program, frames, backpressure=1)
        assert (found.mismatches, found.undefined) == (0, 0), found.first_difference


@pytest.mark.proof
@together
def test_proofs_have_the_same_integers(first: int) -> None:
    program, vectors = joined(TARGETED[first : first + TOGETHER])
    proved(committed_inputs(program), vectors[0])

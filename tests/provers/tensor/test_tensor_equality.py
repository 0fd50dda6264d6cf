"""Tensor proofs say what the integer executor says: at the ends of intervals, of wide random programs, of real ones."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from integers_cases import by_operation, cases
from numpy.typing import NDArray
from r1cs_programs import single
from random_integers import random_program
from random_programs import random_program as random_real_program
from tensor_proofs import committed_inputs, proved, proved_together
from tiers import seeds

from circuitize.backends.tensor.errors import Unprovable
from circuitize.circuits import integers
from circuitize.circuits.errors import OverflowRisk, TypingError, Undefined
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import raw
from circuitize.provers.tensor.plan import plan
from circuitize.provers.tensor.prover import prove
from circuitize.sims import integer

Integers = NDArray[np.int64]
SMALL = [case for case in cases() if case.sources and sum(source.size for source in case.sources) <= 300]


def ends(program: IntegerProgram, random: np.random.Generator, spread: float) -> dict[str, Integers]:
    """Inputs at the ends of their formats: each at one of them, or (at random) each element."""
    made = {}
    for port in program.inputs:
        assert port.format is not None
        low, high, shape = port.format.low, port.format.high, port.format.shape
        at_high = random.random(shape) < 0.5 if random.random() < spread else np.full(shape, random.random() < 0.5)
        made[port.name] = np.where(at_high, high, low).astype(np.int64)
    return made


def runs(program: IntegerProgram, inputs: dict[str, Integers]) -> bool:
    try:
        integer.run(program, raw(inputs))
    except Undefined:
        return False
    return True


def values(program: IntegerProgram) -> dict[str, Integers] | None:
    """Ends that the program is defined at; those that it is not at have no proof. None where no plan can be had."""
    try:
        made = plan(program)
    except Unprovable as error:
        assert "expected" in str(error)
        return None
    random = np.random.default_rng(17)
    for _ in range(6):
        inputs = ends(program, random, 0.5)
        if runs(program, inputs):
            return inputs
        with pytest.raises(Undefined):
            prove(program, inputs, not_zero_knowledge=True, made=made)
    return None


@pytest.mark.deep
@pytest.mark.parametrize("operation", by_operation(SMALL))
def test_each_operation_where_its_interval_ends(operation: str) -> None:
    """Every value where it is defined has a proof with its result; where it is not, there is none."""
    programs = [committed_inputs(single(case.operation, *case.sources)) for case in by_operation(SMALL)[operation]]
    proved_together([(program, values(program)) for program in programs])


WIDE = [Fixed((3,), 0, -(1 << 40), (1 << 40) - 1), Fixed((3,), 0, 1, (1 << 20) + 1)]


@pytest.mark.parametrize("seed", seeds(6, deep=300))
def test_wide_random_programs(seed: int) -> None:
    """Wires of up to 61 bits: a plan says that it cannot, or proves it at the ends and in the middle."""
    random = np.random.default_rng(seed)
    program = committed_inputs(random_program(random, WIDE, 8, 1 << 61))
    try:
        made = plan(program)
    except Unprovable as error:
        assert "expected" in str(error)
        return
    middle = {
        p.name: random.integers(p.format.low, p.format.high, 3, endpoint=True) for p in program.inputs if p.format
    }
    for inputs in (ends(program, random, 0.5), middle):
        if runs(program, inputs):
            proved(program, inputs, made)


def integer_program(seed: int) -> IntegerProgram:
    """A random program over the reals, quantized; its inputs are committed."""
    real, point = random_real_program(seed, length=6)
    formats = [Fixed(np.shape(x), 8, -1024, 1023) for x in point]
    inputs = tuple(Port(f"x{i}", Visibility.COMMITTED, format) for i, format in enumerate(formats))
    arrow = real.arrow()
    outputs = tuple(Port(f"y{i}", Visibility.PUBLIC) for i in range(len(arrow.target)))
    examples = ({p.name: np.clip(x, -3.9, 3.9) for p, x in zip(inputs, point, strict=True)},)
    return quantize(Program(arrow, inputs, outputs, examples))


def test_random_real_programs() -> None:
    """Softmax, divisions, argmax, einsums and views of all kinds, one after the other, as they come."""
    made = 0
    for seed in range(14):
        try:
            program = integer_program(seed)
            own = plan(program)
        except (Unprovable, OverflowRisk, TypingError) as error:
            assert "expected" in str(error)
            continue
        random = np.random.default_rng(seed)
        with suppress(Undefined):
            drawn = {
                p.name: random.integers(-700, 700, p.format.shape).astype(np.int64)
                for p in program.inputs
                if p.format is not None
            }
            integer.run(program, raw(drawn))
            proved(program, drawn, own)
            made += 1
    assert made >= 6


TOP = (1 << 62) - 1
FULL, HALF = Fixed((2,), 0, -TOP, TOP), Fixed((2,), 0, -(1 << 61), (1 << 61) - 1)
DEGENERATE: dict[str, tuple[list[Fixed], integers.IntegerOperation, list[list[int]]]] = {
    "one number": ([Fixed((2,), 0, 3, 3)], integers.Scale(2, 0), [[3, 3]]),
    "a table of one": ([Fixed((2,), 0, 5, 5)], integers.Lookup(5, np.array([7]), 0), [[5, 5]]),
    "nothing of it": ([Fixed((2,), 0, 0, 5)], integers.Scale(0, 0), [[5, 0]]),
    "by nothing": ([Fixed((2,), 0, -8, 7)], integers.Shift(0), [[-8, 7]]),
    "by all": ([HALF], integers.Shift(61), [[-(1 << 61), (1 << 61) - 1]]),
    "past all": ([Fixed((2,), 0, -8, 7)], integers.Shift(40), [[-8, 7]]),
    "signs of the widest": ([FULL], integers.ReLU(), [[TOP, -TOP]]),
    "negative ones": ([FULL], integers.IsNegative(), [[TOP, -TOP]]),
    "a check": ([FULL], integers.Check(0, 5), [[5, 0]]),
    "by one": ([Fixed((2,), 0, -8, 7), Fixed((2,), 0, 1, 1)], integers.Divide(), [[-8, 7], [1, 1]]),
    "far apart": ([HALF, HALF], integers.Maximum(), [[-(1 << 61), 4], [(1 << 61) - 1, 5]]),
    "roots": ([Fixed((2,), 0, 0, TOP)], integers.SquareRoot(), [[TOP, 0]]),
    "roots below 2^58": ([Fixed((2,), 0, 0, (1 << 58) + 5)], integers.SquareRoot(), [[(1 << 58) - 1, 1 << 58]]),
    "roots below 2^60": ([Fixed((2,), 0, 0, (1 << 60) - 1)], integers.SquareRoot(), [[(1 << 60) - 1, 24]]),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_sizes_and_intervals_at_their_limits(name: str) -> None:
    sources, operation, values = DEGENERATE[name]
    program = committed_inputs(single(operation, *sources))
    proved(program, {f"in{i}": np.array(value, np.int64) for i, value in enumerate(values)})

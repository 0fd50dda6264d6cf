"""What wraps is wires in parallel hardware, and a Check that a sum cannot fail costs nothing."""

from __future__ import annotations

import numpy as np
import pytest
from tiers import count

from circuitize.backends.verilog.netlist import Kind
from circuitize.backends.verilog.parallel import schedule
from circuitize.backends.verilog.parallel.schedule import Unrolled
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Add, Check, Clamp, Constant, Contract, Scale, Shift, Subtract, Wrap
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed, signed
from circuitize.sims import rtl

PUBLIC = Visibility.PUBLIC


def whole(builder: Builder, x: int, y: int, source: Fixed) -> IntegerProgram:
    leaving = Port("y", PUBLIC, builder.format(y))
    return IntegerProgram(builder.build([y]), (Port("x", PUBLIC, source),), (leaving,))


def kinds(program: IntegerProgram) -> set[Kind]:
    unrolled = Unrolled(program, 100)
    return {Kind(kind) for kind in unrolled.net.kind[unrolled.pipe.live].tolist()}


@pytest.mark.parametrize("sign", [True, False])
@pytest.mark.parametrize("factors", [(1, 1, 1), (4, -1, 16), (3, -8, 64)])
def test_low_bits_are_wires(sign: bool, factors: tuple[int, ...]) -> None:
    """Of numbers, of their multiples, of what ends in zeros, and of the opposite."""
    builder, source = Builder(), signed((3,), 6, 0)
    x = builder.input(source)
    scaled = builder.add(Contract("j,j->j"), x, builder.add(Constant.of(np.array(factors))))
    program = whole(builder, x, builder.add(Wrap(4, sign), scaled), source)
    assert not kinds(program) & {Kind.CLAMP, Kind.SELECT, Kind.OUTSIDE, Kind.MULTIPLY}
    if set(factors) == {1}:
        assert Kind.ADD not in kinds(program) and Kind.WRAP in kinds(program)
    every = np.arange(-32, 32)
    frames = np.stack([every, every[::-1], np.roll(every, 7)], axis=1)
    found = rtl.check_design(schedule(program, 4), program, {"x": frames})
    assert found.mismatches == 0 and not found.undefined, found.first_difference


def cancelling(low: int, high: int) -> IntegerProgram:
    """floor((7 a + b + c - 7 a) / 2) and floor((b + 2 c) / 2), brought into [0, 100] and checked."""
    builder, source = Builder(), signed((3,), 5, 0)
    x = builder.input(source)
    seven = builder.add(Scale(7, 0), x)
    sums = builder.add(Contract("i,ij->j"), x, builder.add(Constant.of(np.array([[7, 0], [1, 1], [1, 2]]))))
    back = builder.add(Contract("i,ij->j"), seven, builder.add(Constant.of(np.array([[1, 0], [0, 0], [0, 0]]))))
    left = builder.add(Clamp(0, 100), builder.add(Shift(1), builder.add(Subtract(), sums, back)))
    return whole(builder, x, builder.add(Check(low, high), left), source)


def test_a_check_looks_through_sums() -> None:
    """The first element is at most (15 + 15) / 2, the second (15 + 30) / 2."""
    assert Kind.OUTSIDE not in kinds(cancelling(0, 22))
    assert Kind.OUTSIDE in kinds(cancelling(0, 21)), "here the second may fail"
    for high in (22, 21, 9):
        program = cancelling(0, high)
        frames = np.random.default_rng(high).integers(-16, 16, (count(60, deep=3000), 3))
        frames[0], frames[1] = 15, -16
        found = rtl.check_design(schedule(program, 4), program, {"x": frames})
        assert found.mismatches == 0, found.first_difference
        assert (found.undefined > 0) == (high < 22)


def test_a_sum_of_opposites_is_nothing() -> None:
    builder, source = Builder(), signed((2,), 5, 0)
    x = builder.input(source)
    twice = builder.add(Add(), builder.add(Scale(3, 0), x), builder.add(Scale(-3, 0), x))
    program = whole(builder, x, builder.add(Check(0, 0), twice), source)
    assert Kind.OUTSIDE not in kinds(program)

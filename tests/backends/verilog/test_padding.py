"""Zeros that are read in place of elements, of tensors whose interval has no 0, and checks of terms that never fail."""

from __future__ import annotations

import numpy as np
from every_case import every_case
from folded_programs import named
from numpy.typing import NDArray

from circuitize.backends.verilog.folded import schedule
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import (
    Add,
    ArgMax,
    Check,
    Clamp,
    IntegerOperation,
    IsNegative,
    Reindex,
    ReLU,
    Scale,
    Shift,
    Sum,
    View,
)
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.sims.rtl import Simulation, compare, expected

Integers = NDArray[np.int64]

AROUND = View.pad((4,), (1,), (1,))
OUTSIDE = View.pad((4,), (4,), (0,)).then(View.slice((8,), (0,), (4,)))
"""Nothing but zeros."""
FAILS, NEVER = Check(1, 9), Check(-9, 9)


def padded(view: View, operations: list[IntegerOperation], low: int, high: int) -> IntegerProgram:
    """What each operation makes of a view of 4 numbers, with zeros around them; the numbers leave as well."""
    builder = Builder()
    x = builder.input(Fixed((4,), 0, low, high))
    read = builder.add(Reindex(view), x)
    return named(builder, ["x"], [builder.add(Add(), x, x), *(builder.add(one, read) for one in operations)])


def differs(program: IntegerProgram, frames: dict[str, Integers], initial: dict[str, Integers] | None = None) -> str:
    wanted = expected(program, frames, initial or {})
    with Simulation(schedule(program, initial or {})) as simulation:
        return compare(simulation.run(frames), wanted).first_difference or ""


@every_case(
    [
        ("positive", padded(AROUND, [Clamp(2, 8), Clamp(-2, 4), ReLU(), IsNegative()], 3, 9), [3, 5, 9, 4]),
        ("negative", padded(AROUND, [Clamp(-8, -2), ReLU(), IsNegative(), Scale(-3, 0)], -9, -3), [-3, -5, -9, -4]),
        ("checked, and never 0", padded(AROUND, [FAILS], 3, 9), [3, 5, 9, 4]),
        ("checked, and 0", padded(AROUND, [NEVER], 3, 9), [3, 5, 9, 4]),
        ("only zeros", padded(OUTSIDE, [IsNegative(), Shift(1), Shift(4), ReLU(), Clamp(2, 5)], -3, 9), [3, -3, 9, 4]),
        ("only zeros, checked", padded(OUTSIDE, [FAILS], -3, 9), [3, -3, 9, 4]),
    ]
)
def test_zeros_are_read_around_a_tensor(name: str, program: IntegerProgram, numbers: list[int]) -> None:
    frames = {"x": np.array([numbers, numbers[::-1]])}
    assert expected(program, frames, {}).undefined.all() == (FAILS in program.arrow.operations), name
    assert differs(program, frames) == "", name


@every_case([(reduced, one) for reduced in (ArgMax(1), Sum(View.broadcast((3, 4), (1,)))) for one in (NEVER, FAILS)])
def test_terms_are_checked(reduced: IntegerOperation, check: Check) -> None:
    """Some checks cannot fail, since the interval of what they check is narrower."""
    builder = Builder()
    x = builder.input(Fixed((3, 4), 0, -5, 5))
    program = named(builder, ["x"], [builder.add(reduced, builder.add(check, x))])
    frames = {"x": np.random.default_rng(0).integers(1, 6, (4, 3, 4))}
    frames["x"][1, 1, 2] = -3
    assert expected(program, frames, {}).undefined.tolist() == [False, check is FAILS, False, False]
    assert differs(program, frames) == ""


@every_case([IsNegative(), Shift(1), ReLU()])
def test_operations_on_padding_alone(one: IntegerOperation) -> None:
    """What is read is always 0, a number and no signal."""
    builder = Builder()
    x = builder.input(Fixed((4,), 0, -9, 9))
    wide = builder.add(Reindex(View.pad((4,), (4,), (0,))), x)
    zeros = builder.add(Reindex(View.slice((8,), (0,), (4,))), wide)
    program = named(builder, ["x"], [builder.add(Add(), x, x), builder.add(one, zeros)])
    assert differs(program, {"x": np.array([[1, -2, 3, 4]])}) == ""

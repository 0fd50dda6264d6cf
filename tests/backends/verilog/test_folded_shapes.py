"""Folded designs of unusual programs: constants, copies and views leaving, inputs that nothing reads, a dead Check."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from folded_programs import frames, named
from tiers import count, seeds

from circuitize.backends.verilog.folded import schedule
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Add, Check, Clamp, Constant, Contract, Multiply, Reindex, Scale, Sum, View
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.sims.rtl import Simulation, check_design, compare, expected

SMALL = Fixed((3, 4), 0, -9, 9)


def constants() -> IntegerProgram:
    """A constant as an output, and one of a single repeated number."""
    builder = Builder()
    x = builder.input(SMALL)
    many = builder.add(Constant.of(np.arange(6).reshape(2, 3) - 3))
    return named(builder, ["x"], [many, builder.add(Constant.splat(5, (2,))), builder.add(Scale(2, 0), x)])


def copies() -> IntegerProgram:
    """An input as it is, twice, transposed, and padded; what is computed once leaves twice."""
    builder = Builder()
    x = builder.input(SMALL)
    turned = builder.add(Reindex(View.transpose((3, 4), (1, 0))), x)
    padded = builder.add(Reindex(View.pad((3, 4), (1, 0), (0, 2))), x)
    doubled = builder.add(Scale(2, 0), x)
    flipped = builder.add(Reindex(View.flip((3, 4), (0, 1))), doubled)
    return named(builder, ["x"], [x, x, turned, padded, doubled, doubled, flipped])


def unread() -> IntegerProgram:
    """Inputs that nothing reads, the first of them among others."""
    builder = Builder()
    _, x, _ = builder.input(Fixed((7,), 0, 0, 3)), builder.input(SMALL), builder.input(Fixed((), 0, 0, 1))
    return named(builder, ["u", "x", "v"], [builder.add(Sum(View.broadcast((3, 4), (0,))), x)])


def dead() -> IntegerProgram:
    """A Check that no output depends on, and a branch that is longer than the one beside it."""
    builder = Builder()
    x, y = builder.input(SMALL), builder.input(SMALL)
    total = builder.add(Sum(View.broadcast((3, 4), (1,))), builder.add(Multiply(), x, y))
    spread = builder.add(Reindex(View.broadcast((3, 4), (1,))), total)
    near = builder.add(Contract("ij,kj->ik"), spread, y)
    checked = builder.add(Check(-12, 12), builder.add(Add(), x, y))
    wide = builder.add(Reindex(View.slice((3, 4), (0, 0), (3, 3))), checked)
    return named(builder, ["x", "y"], [builder.add(Add(), near, wide)])


@pytest.mark.parametrize("make", [constants, copies, unread, dead])
@pytest.mark.parametrize("interval", [2, 60])
def test_unusual_programs_agree(make: Callable[[], IntegerProgram], interval: int) -> None:
    program = make()
    design = schedule(program, interval_budget=interval)
    found = check_design(design, program, frames(program, count(12, deep=40)))
    assert found.mismatches == 0, found.first_difference


def learning_nothing() -> IntegerProgram:
    """A step of w that adds and shows a view that looks beside a product: nothing but zeros."""
    builder = Builder()
    x, w = builder.input(Fixed((3, 3), 0, -9, 9)), builder.input(Fixed((3, 3), 0, -99, 99))
    made = builder.add(Clamp(-99, 99), builder.add(Contract("ij,jk->ik"), x, w))
    beside = View.pad((3, 3), (0, 0), (3, 0)).then(View.slice((6, 3), (3, 0), (6, 3)))
    zeros = builder.add(Reindex(beside), builder.add(Multiply(), made, made))
    near = builder.add(Clamp(-9, 9), builder.add(Add(), made, zeros))
    grown = builder.add(Contract("ij,ik->jk"), x, near)
    return named(builder, ["x", "w"], [builder.add(Clamp(-99, 99), builder.add(Add(), w, grown)), zeros], ["w"])


@pytest.mark.parametrize(("lanes", "multipliers"), [(4, None), (None, 12)])
def test_a_view_of_nothing_is_zero(lanes: int | None, multipliers: int | None) -> None:
    program, initial = learning_nothing(), {"w": np.arange(9).reshape(3, 3)}
    design = schedule(program, initial, lanes, multipliers)
    found = check_design(design, program, frames(program, count(4, deep=40)), initial)
    assert found.mismatches == 0, found.first_difference


def from_blocks(checked: bool) -> IntegerProgram:
    """Operands so long that they lie in block memory, of a sum, of its terms' Check, and of what is added to it."""
    builder = Builder()
    x, w = builder.input(Fixed((2, 20), 0, -9, 9)), builder.input(Fixed((20, 35), 0, -9, 9))
    y = builder.input(Fixed((2, 35), 0, -99, 99))
    product = builder.add(Contract("ij,jk->ik"), x, w)
    made = builder.add(Add(), product, y)
    if checked:
        made = builder.add(Check(-700, 700), made)
    return named(builder, ["x", "w", "y"], [made])


@pytest.mark.parametrize("checked", [pytest.param(False, marks=pytest.mark.deep), True])
def test_what_comes_from_block_memory_is_registered(checked: bool) -> None:
    program = from_blocks(checked)
    design = schedule(program, lanes=4)
    late = {line.split()[2] for text in design.files.values() for line in text.splitlines() if "_late;" in line}
    assert {"x0_0_late;", "x1_0_late;", "x2_0_late;"} <= late
    vectors = frames(program, count(3, deep=4))
    wanted = expected(program, vectors)
    with Simulation(design) as simulation:
        alone, pressed = (compare(simulation.run(vectors, pace), wanted) for pace in (None, 3))
    assert (alone.mismatches, alone.first_difference) == (0, None)
    assert alone.latency_cycles == design.report["latency_cycles"]
    assert pressed.mismatches == 0


def test_a_stalled_output_stops_the_others_and_loses_nothing() -> None:
    program = copies()
    design = schedule(program, interval_budget=12)
    vectors = frames(program, count(20, deep=30))
    with Simulation(design) as simulation:
        runs = [simulation.run(vectors, backpressure=seed) for seed in seeds(2, deep=4)]
    for run in runs:
        assert (run.outputs["y0"] == vectors["x"]).all() and (run.outputs["y4"] == 2 * vectors["x"]).all()

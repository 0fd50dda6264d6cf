"""Contractions of wide factors, written with parts of them."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from every_case import every_case
from folded_programs import named
from tiers import count

from circuitize.backends.verilog.folded.core import core
from circuitize.backends.verilog.folded.folding import fold
from circuitize.backends.verilog.folded.lending import lending
from circuitize.backends.verilog.folded.matching import Matching
from circuitize.backends.verilog.folded.size import bits_fit
from circuitize.backends.verilog.folded.sizes import Sizes
from circuitize.backends.verilog.folded.splitting import split
from circuitize.backends.verilog.signals import signed_width
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Add, Check, Clamp, Contract, Divide, Multiply, Scale, Shift, Wrap
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.sims.integer import run
from circuitize.sims.rtl import Simulation, compare, expected

SCHEDULE = import_module("circuitize.backends.verilog.folded.schedule")
SEARCH = import_module("circuitize.backends.verilog.folded.search")
ROWS, INNER, COLUMNS, SIDE = 3, 4, 5, 4
Interval = tuple[int, int]


def signed(bits: int) -> Interval:
    return -(1 << bits - 1), (1 << bits - 1) - 1


def contracting(x: Interval, y: Interval) -> IntegerProgram:
    """A product of two matrices between limits of half of what it may be."""
    builder = Builder()
    wires = builder.inputs([Fixed((ROWS, INNER), 0, *x), Fixed((INNER, COLUMNS), 0, *y)])
    made = builder.add(Contract("ij,jk->ik"), *wires)
    whole = builder.format(made)
    return named(builder, ["x", "y"], [builder.add(Clamp(whole.low // 2, whole.high // 2), made)])


@every_case(
    [
        (signed(25), signed(18), 1),
        (signed(26), signed(18), 2),
        (signed(19), signed(25), 2),
        (signed(20), signed(20), 2),
        ((0, (1 << 19) - 1), signed(25), 2),
        (signed(30), signed(18), 2),
        (signed(27), signed(28), 4),
        (signed(2), signed(49), 2),
        (signed(2), signed(52), 3),
        (signed(30), signed(31), 4),
        (signed(31), (1 - (1 << 30), (1 << 30) - 1), 1),
    ]
)
def test_wide_contractions_are_sums_of_narrow_ones(x: Interval, y: Interval, parts: int) -> None:
    """Of the same values; one whose sums might pass 2^62 stays as it is, and so does one that is narrow."""
    program = contracting(x, y)
    arrow = split(program.arrow)
    made = [edge for edge in arrow.edges() if isinstance(edge.operation, Contract)]
    assert len(made) == parts and (parts > 1) == (arrow != program.arrow)
    for edge in made if parts > 1 else ():
        assert bits_fit(*(signed_width(arrow.format(k).low, arrow.format(k).high) for k in edge.sources)), edge
    draw = np.random.default_rng(parts)
    for _ in range(count(3, deep=50)):
        given = {
            name: np.where(
                draw.random(shape) < 0.3, draw.choice(ends, shape), draw.integers(*ends, shape, endpoint=True)
            )
            for name, ends, shape in (("x", x, (ROWS, INNER)), ("y", y, (INNER, COLUMNS)))
        }
        wanted = run(program, given)
        found = run(replace(program, arrow=arrow), given)
        np.testing.assert_array_equal(wanted["y0"], found["y0"])


@pytest.mark.parametrize("divides", [False, True])
def test_where_the_interval_counts_a_contraction_stays_whole(divides: bool) -> None:
    """That of its parts may be wider: an output would have another type, and a divisor might be zero."""
    builder = Builder()
    wires = builder.inputs([Fixed((ROWS, INNER), 0, 1, 1 << 26), Fixed((INNER, COLUMNS), 0, 1, 9)])
    whole = builder.add(Contract("ij,jk->ik"), *wires)
    program = named(builder, ["x", "y"], [builder.add(Divide(), whole, whole) if divides else whole])
    assert split(program.arrow) == program.arrow


def test_where_a_definition_would_pass_2_62_a_contraction_stays_whole() -> None:
    """The definition of Wrap subtracts from the sum, and the ends of a split sum lie further apart."""
    builder = Builder()
    wires = builder.inputs([Fixed((ROWS, INNER), 0, 1 - (1 << 31), 0), Fixed((INNER, COLUMNS), 0, 0, (1 << 29) - 1)])
    program = named(builder, ["x", "y"], [builder.add(Wrap(20, False), builder.add(Contract("ij,jk->ik"), *wires))])
    assert split(program.arrow) == core(program.arrow)


def learning() -> IntegerProgram:
    """A step of one state, w, of 24 bits: products with x, of 20 bits, their squares, and sums of these with x."""
    builder = Builder()
    x, w = builder.inputs([Fixed((SIDE, SIDE), 0, *signed(20)), Fixed((SIDE, SIDE), 0, *signed(24))])

    def down(bits: int, wire: int) -> int:
        return builder.add(Scale(1, bits), builder.add(Shift(bits), wire))

    made = builder.add(Clamp(*signed(24)), down(18, builder.add(Contract("ij,jk->ik"), x, w)))
    squares = builder.add(Clamp(*signed(21)), down(20, builder.add(Multiply(), made, made)))
    grown = builder.add(Clamp(*signed(20)), down(22, builder.add(Contract("ij,ik->jk"), x, squares)))
    next_w = builder.add(Check(*signed(24)), builder.add(Add(), w, grown))
    return named(builder, ["x", "w"], [next_w, made], ["w"])


def test_steps_with_wide_contractions_equal_the_executors(monkeypatch: pytest.MonkeyPatch) -> None:
    """All sums are made on the shared lanes, and some frames fail."""
    draw, frames = np.random.default_rng(6), count(4, deep=40)
    start = {"w": draw.integers(*signed(24), (SIDE, SIDE), endpoint=True)}
    start["w"][0, :2] = signed(24)
    vectors = {"x": draw.integers(*signed(20), (frames, SIDE, SIDE), endpoint=True)}
    folded = lending(fold(learning()), narrow=True)
    assert folded is not None
    sums = [number for number, stage in enumerate(folded.stages) if stage.reduction]
    assert len(sums) > 2 and sums == sorted(folded.members)
    wanted = expected(learning(), vectors, start)
    assert 0 < wanted.undefined.sum() < frames
    monkeypatch.setattr(SCHEDULE, "fold", lambda *_: folded)
    with Simulation(SCHEDULE.schedule(learning(), start, dsp_budget=10)) as simulation:
        found = simulation.run(vectors)
        for beats in (found, simulation.run(vectors, 1)):
            assert compare(beats, wanted).first_difference is None
    report = simulation.design.report
    assert report["dsp"] <= 10
    assert (found.latency_cycles, found.interval_cycles) == (report["latency_cycles"], report["interval_cycles"])


def test_a_step_may_lend_whose_sums_share_lanes_only_if_they_are_split(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[tuple[bool, int]] = []

    def note(way: Matching, limit: int, borrows: bool) -> list[Sizes]:
        tried.append((bool(way.fold.members), limit))
        return []

    monkeypatch.setattr(SEARCH, "_lent", note)
    folded = fold(learning())
    chosen = SEARCH.choose_sizes(folded, None, 10, None)
    assert not folded.members and tried == [(False, 10)] * 2 + [(True, 10)] * 2 and chosen.fold is folded

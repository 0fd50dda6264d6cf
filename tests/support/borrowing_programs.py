"""Random small steps whose stages borrow the multipliers of shared lanes, whether or not that makes a design better."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from folded_programs import named
from numpy.typing import NDArray

from circuitize.backends.verilog.design import Design
from circuitize.backends.verilog.folded import borrowing, budget, tiling, turns
from circuitize.backends.verilog.folded.folding import Fold, fold
from circuitize.backends.verilog.folded.lending import Demand, Loan, away, lending
from circuitize.backends.verilog.folded.model import Actor, Link
from circuitize.backends.verilog.folded.plan import Plan, plan
from circuitize.backends.verilog.folded.pool import Borrower, Pool, works
from circuitize.backends.verilog.folded.sizes import Sizes
from circuitize.backends.verilog.folded.tiling import Choice
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import (
    Add,
    ArgMax,
    Check,
    Clamp,
    Contract,
    IntegerOperation,
    Multiply,
    Reindex,
    Scale,
    Shift,
    Subtract,
    Sum,
)
from circuitize.circuits.integers.view import View
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed

SCHEDULE = import_module("circuitize.backends.verilog.folded.schedule")
SEARCH = import_module("circuitize.backends.verilog.folded.search")
SHAPES = [(2, 3), (3, 4), (6, 7), (5, 2), (8, 3), (1, 6), (6, 1), (5, 14)]
BITS = [5, 9, 12, 17, 18, 20]

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Borrowing:
    """A step, the contents of its memory at first, its design, and the plan of the design."""

    program: IntegerProgram
    initial: dict[str, Integers]
    design: Design
    plan: Plan

    @property
    def pool(self) -> Pool:
        """The shared lanes."""
        assert self.plan.sizes.pool is not None
        return self.plan.sizes.pool

    def frames(self, count: int, seed: int) -> dict[str, Integers]:
        """Frames of which the first has only the ends of the intervals; often some fail."""
        draw = np.random.default_rng(seed)
        made = {}
        for port in self.program.inputs:
            if port.format is not None and port.name not in self.initial:
                low, high = port.format.low, port.format.high
                made[port.name] = draw.integers(low, high + 1, (count, *port.format.shape))
                made[port.name][0] = np.where(draw.random(port.format.shape) < 0.5, low, high)
        return made


class _Step:
    """A step under construction: x and y come in, w and v are state; `matrices` are like v, and `rows` like a row."""

    def __init__(self, draw: random.Random) -> None:
        self.draw, self.builder = draw, Builder()
        self.shape, columns = draw.choice(SHAPES), draw.choice([1, 2, 3, 5, 8])
        self.w_type = Fixed((self.shape[1], columns), 0, -draw.choice([9, 200, 4000]), draw.choice([9, 200, 4000]))
        types = [Fixed(self.shape, 0, *self._interval()) for _ in range(3)]
        x, y, self.w, self.v = self.builder.inputs([*types[:2], self.w_type, types[2]])
        self.matrices, self.rows, self.checked = [x, y, self.v], list[int](), list[int]()
        self.each_row = View.broadcast(self.shape, (0,))
        self.sums = [self.within(self.add(Contract("ij,jk->ik"), self.within(x, 12), self.w), self.bits())]

    def _interval(self) -> tuple[int, int]:
        low, high = (1 << self.draw.choice([3, 7, 12, 16]) for _ in range(2))
        return self.draw.choice([-low, -low, 0]), high - 1

    def add(self, operation: IntegerOperation, *wires: int) -> int:
        return self.builder.add(operation, *wires)

    def bits(self) -> int:
        return self.draw.choice(BITS)

    def within(self, wire: int, bits: int) -> int:
        """A wire, shifted and clamped to so many bits and a sign, or to fewer, if it is wider."""
        format, most = self.builder.format(wire), (1 << bits) - 1
        shift = max(-format.low, format.high, 1).bit_length() - bits - self.draw.randint(0, 5)
        if max(-format.low, format.high) <= most:
            return wire
        if shift > 0:
            wire = self.add(Scale(1, shift), self.add(Shift(shift), wire))
        return self.add(Clamp(self.draw.choice([-most, -most, -self.draw.randint(0, most), 0]), most), wire)

    def any(self, bits: int) -> int:
        return self.within(self.draw.choice(self.matrices[-4:]), bits)

    def product(self, x: int, y: int) -> int:
        return self.within(self.add(Multiply(), x, y), self.bits())

    def grow(self, kind: str) -> None:
        """Add an operation or a few."""
        draw = self.draw
        if kind == "product":
            self.matrices.append(self.product(self.any(self.bits()), self.any(self.bits())))
        elif kind == "by row" and self.rows:
            row = self.add(Reindex(self.each_row), draw.choice(self.rows))
            self.matrices.append(self.product(self.any(self.bits()), self.within(row, self.bits())))
        elif kind == "rows" and self.rows:
            self.rows.append(self.product(*(self.within(draw.choice(self.rows), self.bits()) for _ in "xy")))
        elif kind == "sums":
            self.sums.append(self.product(*(self.within(draw.choice(self.sums), self.bits()) for _ in "xy")))
        elif kind == "number":
            number = draw.choice([77, 1001, 46341, -5])
            self.matrices.append(self.within(self.add(Scale(number, 0), self.any(self.bits())), self.bits()))
        elif kind == "argmax":
            self.rows.append(self.add(ArgMax(0), self.add(Multiply(), self.any(self.bits()), self.any(self.bits()))))
        elif kind == "checked":
            self.rows.append(self._checked())
            self.checked.append(self.rows[-1])
        elif kind == "deep":
            self.rows.append(self._deep())

    def _checked(self) -> int:
        """The sums of products that are checked, often multiplied by something: a stage of lanes of its own."""
        made = self.add(Multiply(), self.any(self.bits()), self.any(self.bits()))
        format = self.builder.format(made)
        made = self.add(Check(format.low, format.high - (format.high >> self.draw.randint(3, 8))), made)
        total = self.within(self.add(Sum(self.each_row), made), self.bits())
        return self.product(total, self.within(total, 9)) if self.draw.random() < 0.6 else total

    def _deep(self) -> int:
        """The sums of products of which a factor is made by several operations."""
        made = self.add(Subtract(), self.any(2), self.any(2))
        for _ in range(self.draw.randint(0, 10)):
            made = self.add(self.draw.choice([Add(), Subtract()]), made, self.any(2))
        return self.within(self.add(Sum(self.each_row), self.add(Multiply(), made, self.any(self.bits()))), self.bits())

    def end(self) -> IntegerProgram:
        """The program, with the new state."""
        grown = self.add(Contract("ij,ik->jk"), self.any(8), self.within(self.draw.choice(self.sums), 8))
        low, high = self.w_type.low, self.w_type.high
        next_w = self.add(Add(), self.w, self.within(grown, self.draw.choice([1, 3, 10])))
        next_w = self.add(self.draw.choice([Check(low, high), Check(low, high), Clamp(low, high)]), next_w)
        moved = self.add(Add(), self.add(Scale(1, 1), self.add(Shift(1), self.v)), self.any(self.bits()))
        if self.rows:
            moved = self.add(Add(), moved, self.add(Reindex(self.each_row), self.rows[-1]))
        kept = self.builder.format(self.v)
        next_v = self.add(Check(kept.low, kept.high), self.add(Clamp(kept.low, kept.high), moved))
        outputs = dict.fromkeys([self.matrices[-1], *self.checked])
        return named(self.builder, ["x", "y", "w", "v"], [next_w, next_v, *outputs], ["w", "v"])


def step(seed: int) -> tuple[IntegerProgram, dict[str, Integers]]:
    """A random step, and what its memory holds at first."""
    made = _Step(random.Random(seed))
    kinds = ["product", "by row", "rows", "sums", "number", "argmax", "checked", "checked", "deep", "deep"]
    for kind in made.draw.choices(kinds, k=made.draw.randint(6, 12)):
        made.grow(kind)
    program, draw = made.end(), np.random.default_rng(seed)
    state = {port.name: port.format for port in program.inputs if port.held and port.format is not None}
    return program, {name: draw.integers(of.low, of.high + 1, of.shape) for name, of in state.items()}


def borrowing_step(seed: int) -> Borrowing | None:
    """A random step of random sizes, in which some of the stages that can borrow multipliers do so, either way round,
    in a random order of turns; None if no stage of it can.
    """
    program, initial = step(seed)
    lent, draw = lending(fold(program)), random.Random(seed)
    if lent is None or not lent.members:
        return None
    with pytest.MonkeyPatch.context() as patch:
        _force(patch, lent, draw)
        most = sum(works(lent).values())
        size = draw.choice([None, 1, 2, 3, 5, 8, 13, 20])
        made: Sizes = SEARCH.sizes(
            lent, min(draw.choice([1, 8, 40, 300]), most), pool_size=size and min(size, most), borrows=True
        )
        if made.pool is None or not made.pool.borrowers:
            return None
        patch.setattr(SCHEDULE, "fold", lambda *_: lent)
        patch.setattr(SCHEDULE, "choose_sizes", lambda *_: made)
        return Borrowing(program, initial, SCHEDULE.schedule(program, initial), plan(made))


def _force(patch: pytest.MonkeyPatch, lent: Fold, draw: random.Random) -> None:
    """Let stages borrow, and take turns and sizes, at random."""
    part = draw.choice([0.5, 1])

    def borrowers(
        fold: Fold,
        pool: Pool,
        choices: Sequence[Choice],
        loans: Sequence[Loan],
        demands: Mapping[int, Demand],
        *_: object,
    ) -> tuple[tuple[Loan, ...], dict[int, Borrower]]:
        found = {}
        for number in draw.sample(sorted(demands), len(demands)):
            one = borrowing._borrower(fold, pool, choices, demands[number])
            if number not in fold.members and one is not None and draw.random() < part:
                other = replace(one, bits=one.bits[::-1], turned=not one.turned)
                found[number] = draw.choice([one, other])
        left = (borrowing._without(one, [*found], demands) for one in loans)
        return tuple(one for one in left if one is not None), found

    def order(actors: Sequence[Actor], links: Sequence[Link], *_: object) -> list[int]:
        return random_order(lent, actors, links, draw)

    shared, alone = tiling.choices_shared, tiling.choose

    def any_shared(*given: Any, **more: Any) -> list[tuple[float, Choice]]:
        found = shared(*given, **more)
        return [draw.choice(found)] if draw.random() < 0.7 else found

    def any_alone(stage: Any, clocks: int, *given: Any) -> Choice:
        return alone(stage, draw.choice([2, 9, 30, 1000, clocks]), *given)

    patch.setattr(turns, "choose_borrowers", borrowers)
    patch.setattr(turns, "in_turns", order)
    patch.setattr(budget, "choices_shared", any_shared)
    patch.setattr(budget, "choose", any_alone)


def random_order(lent: Fold, actors: Sequence[Actor], links: Sequence[Link], draw: random.Random) -> list[int]:
    """An order in which what an actor reads is written before; stages that send products often follow those whose sums
    the lanes make.
    """
    first, status, made = len(lent.entries), len(actors) - 1, list[int]()
    before = {k: {link.writer for link in links if link.reader == k and not link.state} for k in range(len(actors))}
    summed = False
    while len(made) < len(actors):
        ready = [k for k in before if k not in made and before[k] <= {*made}]
        sends = [
            k
            for k in ready
            if 0 <= k - first < len(lent.stages) and k - first not in lent.members and any(away(lent, k - first, 1))
        ]
        liked = sends if summed else [k for k in ready if k not in sends]
        made.append(draw.choice(liked if liked and draw.random() < 0.8 else ready))
        summed = made[-1] - first in lent.members if made[-1] in sends or made[-1] - first in lent.members else summed
    return sorted(made, key=lambda k: (k == status, actors[k].shows is not None, made.index(k)))

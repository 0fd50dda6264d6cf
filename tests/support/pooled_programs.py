"""A small step whose stages use shared lanes in every way: factors made of operands, long drains, odd splits."""

from __future__ import annotations

import numpy as np
from folded_programs import named
from numpy.typing import NDArray

from circuitize.backends.verilog.modes import Modal
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Add, Check, Clamp, Contract, Multiply, Reindex, Subtract, Sum
from circuitize.circuits.integers.view import View
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed

Integers = NDArray[np.int64]

ROWS, TERMS, COLUMNS = 6, 7, 5
SPARE = 8
"""Rows of the second state, which is 32 words a bank: it lies in LUTs, and the first one in blocks."""


def mixed() -> IntegerProgram:
    """A step of two states, v [6, 7] and w [7, 40].

    A row of v becomes the sum of (x - y) v, whose factor x - y is made where it is multiplied, added to v; w grows by a
    product of x and a check fails where an element leaves its interval.
    """
    builder = Builder()
    wide = COLUMNS * SPARE
    x, y, v, w = builder.inputs(
        [
            Fixed((ROWS, TERMS), 0, -20, 20),
            Fixed((ROWS, TERMS), 0, -20, 20),
            Fixed((ROWS, TERMS), 0, -100, 100),
            Fixed((TERMS, wide), 0, -4000, 4000),
        ]
    )
    rows = View.broadcast((ROWS, TERMS), (0,))
    apart = builder.add(Subtract(), x, y)
    sums = builder.add(Sum(rows), builder.add(Multiply(), apart, v))
    plain = builder.add(Sum(rows), y)
    near = builder.add(Clamp(-50, 50), builder.add(Add(), sums, plain))
    kept = builder.add(Clamp(-100, 100), builder.add(Add(), v, builder.add(Reindex(rows), near)))
    made = builder.add(Contract("ij,jk->ik"), x, w)
    small = builder.add(Clamp(-9, 9), made)
    grown = builder.add(Contract("ij,ik->jk"), x, small)
    next_w = builder.add(Check(-4000, 4000), builder.add(Add(), w, grown))
    return named(builder, ["x", "y", "v", "w"], [kept, next_w, near], ["v", "w"])


def modal() -> tuple[Modal, dict[str, Integers]]:
    """The step in a design with modes, and the contents of its memory."""
    return Modal(mixed()), initial()


def initial() -> dict[str, Integers]:
    """What the memory holds at first."""
    draw = np.random.default_rng(7)
    return {
        "v": draw.integers(-100, 101, (ROWS, TERMS)),
        "w": draw.integers(-3300, 3301, (TERMS, COLUMNS * SPARE)),
    }


def frames(count: int, seed: int) -> dict[str, Integers]:
    """Frames of which some fail: w leaves its interval, and the state is kept as it was."""
    draw = np.random.default_rng(seed)
    return {name: draw.integers(-20, 21, (count, ROWS, TERMS)) for name in ("x", "y")}

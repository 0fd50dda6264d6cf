"""A small step whose stages multiply outside their sums: by wide factors, in several stages, in lanes and in units."""

from __future__ import annotations

import numpy as np
from folded_programs import named
from numpy.typing import NDArray

from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Add, Check, Clamp, Contract, Multiply, Reindex, Scale, Shift, Sum
from circuitize.circuits.integers.view import View
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed

Integers = NDArray[np.int64]

ROWS, COLUMNS = 8, 8
POWER = 1 << 17


def multiplying() -> IntegerProgram:
    """A step of one state, w [8, 8].

    The products of x have 21 bits; those with y, which is close to a power of two, and the squares of 19 bits take two
    multipliers unless they are written otherwise, and so do those of a wide number and 46,341. The squares of a row are
    added up with a check of each. What the last stage adds up is made while its source is still written.
    """
    builder = Builder()
    x, y, w = builder.inputs(
        [
            Fixed((ROWS, COLUMNS), 0, -1000, 1000),
            Fixed((ROWS, COLUMNS), 0, POWER - 500, POWER + 500),
            Fixed((COLUMNS, COLUMNS), 0, -4000, 4000),
        ]
    )

    def down(bits: int, wire: int) -> int:
        return builder.add(Scale(1, bits), builder.add(Shift(bits), wire))

    rows = View.broadcast((ROWS, COLUMNS), (0,))
    made = builder.add(Contract("ij,jk->ik"), x, w)
    near = builder.add(Clamp(-(1 << 18), (1 << 18) - 1), down(5, made))
    squares = builder.add(Check(0, (1 << 36) - 9), builder.add(Multiply(), near, near))
    total = down(20, builder.add(Sum(rows), squares))
    moved = down(14, builder.add(Multiply(), near, y))
    halved = down(26, builder.add(Scale(46341, 0), builder.add(Scale(1 << 10, 0), moved)))
    small = builder.add(Clamp(-900, 900), down(8, halved))
    scaled = builder.add(Multiply(), small, builder.add(Reindex(rows), total))
    back = builder.add(Clamp(-2, 2), builder.add(Add(), down(20, scaled), down(8, small)))
    beside = builder.add(Clamp(-9, 9), down(4, builder.add(Multiply(), small, x)))
    grown = builder.add(Contract("ij,ik->jk"), beside, back)
    next_w = builder.add(Check(-4000, 4000), builder.add(Add(), w, grown))
    return named(builder, ["x", "y", "w"], [next_w, scaled], ["w"])


def initial() -> dict[str, Integers]:
    """What the memory holds at first."""
    return {"w": np.random.default_rng(3).integers(-3900, 3901, (COLUMNS, COLUMNS))}


def frames(count: int, seed: int) -> dict[str, Integers]:
    """Frames of which some fail."""
    draw = np.random.default_rng(seed)
    x = draw.integers(-1000, 1001, (count, ROWS, COLUMNS))
    return {"x": x, "y": draw.integers(POWER - 500, POWER + 501, (count, ROWS, COLUMNS))}

"""Programs whose examples meet in sums over their batch, or nowhere, and frames for them."""

from __future__ import annotations

import numpy as np
from folded_programs import frames as random_frames
from folded_programs import named
from numpy.typing import NDArray

from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Add, Check, Contract, Multiply, Reindex, Sum, View
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed

Integers = NDArray[np.int64]


def frames(program: IntegerProgram, number: int, seed: int) -> dict[str, Integers]:
    """Frames of a step of which about one in four has a learning rate so large that a weight leaves its interval."""
    draw, found = np.random.default_rng(seed), dict[str, Integers]()
    for port in program.inputs:
        if not port.held:
            scale = 2.0**port.format.fraction_bits
            found[port.name] = np.rint(draw.integers(0, 17, (number, *port.format.shape)) / 16 * scale).astype(np.int64)
            if port.name == "learning_rate":
                found[port.name] = np.where(draw.random(number) < 0.25, port.format.high, int(scale / 8))
    return found


def scores() -> IntegerProgram:
    """Scores of each example, their sum over the batch, and a sum that a number and Checks of examples go into."""
    builder = Builder()
    x, w = builder.input(Fixed((6, 3), 0, -9, 9)), builder.input(Fixed((3, 2), 0, -4, 4))
    r = builder.input(Fixed((2,), 0, -50, 50))
    made = builder.add(Check(-60, 60), builder.add(Contract("bi,ij->bj"), x, w))
    total = builder.add(Sum(View.broadcast((6, 2), (0,))), made)
    scaled = builder.add(Multiply(), r, total)
    spread = builder.add(Add(), made, builder.add(Reindex(View.broadcast((6, 2), (0,))), r))
    return named(builder, ["x", "w", "r"], [made, builder.add(Check(-2000, 3000), scaled), spread])


def few(program: IntegerProgram, number: int, seed: int) -> dict[str, Integers]:
    """Random frames with a few greatest and least elements, of which some frames are undefined."""
    draw = np.random.default_rng(seed)
    vectors = random_frames(program, number, seed)
    return {name: values // draw.integers(1, 3, (number, *[1] * (values.ndim - 1))) for name, values in vectors.items()}


def tally() -> IntegerProgram:
    """State that adds up the sum of a batch, and must stay within [-100, 100]."""
    builder = Builder()
    state, x = builder.input(Fixed((2, 3), 0, -100, 100)), builder.input(Fixed((4, 2, 3), 0, -30, 30))
    more = builder.add(Sum(View.broadcast((4, 2, 3), (0,))), x)
    return named(builder, ["state", "x"], [builder.add(Check(-100, 100), builder.add(Add(), state, more))], ["state"])

"""Small programs whose hidden proofs are looked into: of each integer operation, and a step of several."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from r1cs_programs import program, single

from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import IntegerOperation
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed


def step() -> IntegerProgram:
    """ReLU of a shifted product."""
    builder = Builder()
    x, y = builder.inputs([Fixed((2,), 0, -3, 4), Fixed((2,), 0, -2, 3)])
    shifted = builder.add(integers.Shift(1), builder.add(integers.Multiply(), x, y))
    return program(builder.build([builder.add(integers.ReLU(), shifted)]))


TABLE = np.array([3, 0, 5, 3, 1, 2, 7, 7])
SMALL, POSITIVE, DIVISOR, TWO = Fixed((), 0, -5, 6), Fixed((), 0, 0, 7), Fixed((), 0, 1, 3), Fixed((2,), 0, -2, 3)
PLACE = Fixed((), 0, 0, 1)
OPERATIONS: list[tuple[IntegerOperation, Sequence[Fixed]]] = [
    (integers.Add(), (SMALL, SMALL)),
    (integers.Subtract(), (SMALL, SMALL)),
    (integers.Multiply(), (TWO, TWO)),
    (integers.Scale(3, 0), (SMALL,)),
    (integers.Shift(2), (SMALL,)),
    (integers.Check(-5, 4), (SMALL,)),
    (integers.IsNegative(), (SMALL,)),
    (integers.ReLU(), (SMALL,)),
    (integers.Maximum(), (SMALL, Fixed((), 0, -2, 3))),
    (integers.Select(), (PLACE, SMALL, POSITIVE)),
    (integers.Divide(), (SMALL, DIVISOR)),
    (integers.SquareRoot(), (POSITIVE,)),
    (integers.Lookup(0, TABLE, 0), (POSITIVE,)),
    (integers.Clamp(-2, 3), (SMALL,)),
    (integers.Wrap(2, signed=True), (SMALL,)),
    (integers.ArgMax(0), (TWO,)),
    (integers.ArgMaxOneHot(0), (TWO,)),
    (integers.Gather(0), (TWO, PLACE)),
    (integers.ScatterAdd(0, 2), (SMALL, PLACE)),
    (integers.Contract("ij,jk->ik"), (Fixed((2, 2), 0, -2, 3), Fixed((2, 1), 0, -2, 3))),
    (integers.Concatenate(0), (TWO, TWO)),
    (integers.Constant.of(np.array([1, 2])), ()),
    (integers.Reindex(integers.View.flip((2,), [0])), (TWO,)),
    (integers.Sum(integers.View.broadcast((2,), [0])), (TWO,)),
]
PROGRAMS = {"step": step()} | {type(op).__name__: single(op, *sources) for op, sources in OPERATIONS}
LARGE = single(integers.ReLU(), Fixed((200,), 0, -5, 6))
"""Of tables whose folds are folded again, where vectors are asked to be as short as in `MORE_VECTORS`."""

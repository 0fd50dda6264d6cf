"""Programs in which every integer operation occurs, on values that tell seeded faults apart."""

from __future__ import annotations

import numpy as np
from r1cs_programs import program

from circuitize.circuits import integers as ints
from circuitize.circuits.builder import Builder
from circuitize.circuits.operation import Provenance
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed, signed

SHAPE = (3, 3)
TABLE = np.array([7, -3, 0, 5, 1, 1, 20, -8, 6, 4, 2, 9, -1, 11, 13, 3])


def everything() -> IntegerProgram:
    """One edge per operation that has a value everywhere, each in a part of its own name."""
    builder = Builder()
    x, y = (builder.input(Fixed(SHAPE, 4, -128, 127)) for _ in range(2))
    wide, other = (builder.input(signed(SHAPE, bits, 0)) for bits in (31, 25))
    positive = builder.input(Fixed(SHAPE, 4, 1, 255))
    condition = builder.input(Fixed(SHAPE, 0, 0, 1))
    indices = builder.input(Fixed((3,), 0, 0, 2))
    transposed = ints.View.transpose(SHAPE, (1, 0))
    constant = builder.add(ints.Constant.of(np.arange(-4, 5).reshape(SHAPE), 4))
    nibbles = builder.add(ints.Shift(4), x)
    outputs = [constant, nibbles]
    edges: list[tuple[ints.IntegerOperation, list[int]]] = [
        (ints.Add(), [x, constant]),
        (ints.Subtract(), [x, y]),
        (ints.Scale(6, 1), [x]),
        (ints.Multiply(), [x, y]),
        (ints.Contract("ij,jk->ik"), [x, y]),
        (ints.Contract("ij,jk->ik"), [wide, other]),
        (ints.IsNegative(), [x]),
        (ints.ReLU(), [y]),
        (ints.Divide(), [x, positive]),
        (ints.SquareRoot(), [positive]),
        (ints.Lookup(-8, TABLE, 0), [nibbles]),
        (ints.Reindex(transposed), [x]),
        (ints.Sum(ints.View.broadcast(SHAPE, (0,))), [x]),
        (ints.Concatenate(0), [x, y]),
        (ints.Select(), [condition, x, y]),
        (ints.Maximum(), [x, y]),
        (ints.ArgMax(1), [nibbles]),
        (ints.Clamp(-20, 30), [x]),
        (ints.Gather(0), [x, indices]),
        (ints.ScatterAdd(0, 3), [x, indices]),
    ]
    for operation, sources in edges:
        builder.provenance = Provenance(f"the {operation.name.removeprefix('integer.')}")
        outputs.append(builder.add(operation, *sources))
    return program(builder.build(outputs))


def checked() -> IntegerProgram:
    """A value in [-3, 3] of a difference in [-8, 7]."""
    builder = Builder()
    x = builder.input(Fixed((), 0, -8, 7))
    return program(builder.build([builder.add(ints.Check(-3, 3), builder.add(ints.Scale(1, 1), x))]))


def shifted() -> IntegerProgram:
    """A shift, and a sum beside it."""
    builder = Builder()
    x = builder.input(Fixed(SHAPE, 4, -128, 127))
    return program(builder.build([builder.add(ints.Shift(4), x), builder.add(ints.Add(), x, x)]))

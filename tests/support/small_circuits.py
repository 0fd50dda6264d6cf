"""Programs of at most 200 rows: every case of either language that is small enough, smaller ones of the others, and
programs of several operations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from arrays_cases import cases as real_cases
from cli_programs import inverse
from fault_programs import checked
from integers_cases import cases
from operations.integer import Case
from operations.real import Case as RealCase
from operations.real import Source
from quantized_cases import program as quantized
from r1cs_programs import chain, program, single

from circuitize.backends.r1cs.cost import estimate
from circuitize.circuits import arrays, integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import View
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.quantize import quantize
from circuitize.circuits.types import Fixed

MOST_ROWS = 200


def fixed(low: int, high: int, *shape: int) -> Fixed:
    return Fixed(shape, 0, low, high)


def perceptron(neurons: int = 1) -> IntegerProgram:
    """Two inputs, neurons, shift, range and ReLU."""
    builder = Builder()
    x, w = builder.input(fixed(-8, 7, 2)), builder.input(fixed(-8, 7, 2, neurons))
    sums = builder.add(integers.Contract("i,ij->j"), x, w)
    ranged = builder.add(integers.Check(-20, 15), builder.add(integers.Shift(2), sums))
    return program(builder.build([builder.add(integers.ReLU(), ranged)]))


def descent() -> IntegerProgram:
    """w - floor(x * (w * x - y) / 4), checked: a training step of one weight."""
    builder = Builder()
    x, w, y = (builder.input(fixed(-8, 7)) for _ in range(3))
    residue = builder.add(integers.Subtract(), builder.add(integers.Multiply(), w, x), y)
    slope = builder.add(
        integers.Scale(1, 2), builder.add(integers.Shift(2), builder.add(integers.Multiply(), x, residue))
    )
    return program(builder.build([builder.add(integers.Check(-8, 7), builder.add(integers.Subtract(), w, slope))]))


PROGRAMS = {
    "scale": chain(fixed(-5, 9, 3), integers.Scale(-3, 0)),
    "product": single(integers.Multiply(), fixed(-5, 9, 2), fixed(-8, -2, 2)),
    "shift": chain(fixed(-500, 500, 2), integers.Scale(3, 0), integers.Shift(4)),
    "check": chain(fixed(-64, 63, 2), integers.Scale(1, 1), integers.Check(-60, 16)),
    "sign": chain(fixed(-30, 300, 2), integers.IsNegative()),
    "relu by zero test": chain(fixed(-1, 9, 2), integers.ReLU()),
    "division": single(integers.Divide(), fixed(-5, 9), fixed(2, 7)),
    "root": single(integers.SquareRoot(), fixed(0, 300)),
    "lookup": single(integers.Lookup(-3, np.array([5, -7, 0, 3, 1, -9, 2, 2]), 4), fixed(-3, 4, 2)),
    "gather": single(integers.Gather(0), fixed(-9, 9, 5), fixed(0, 4)),
    "select": single(integers.Select(), fixed(0, 1, 2), fixed(-3, 4, 2), fixed(0, 9, 2)),
    "clamp": chain(fixed(-9, 99, 2), integers.Clamp(-4, 5)),
    "perceptron": perceptron(),
    "two perceptrons": perceptron(2),
    "descent": descent(),
    "checked difference": checked(),
    "inverse": quantize(inverse()),
}
"""Programs by name."""

TWO, WIDE = fixed(-5, 9, 2), fixed(-(1 << 30), 1 << 30)

SMALLER = [
    Case(integers.Add(), (TWO, TWO)),
    Case(integers.Subtract(), (TWO, TWO)),
    Case(integers.Shift(17), (WIDE,)),
    Case(integers.Divide(), (fixed(-300, 900), fixed(1, 300))),
    Case(integers.SquareRoot(), (fixed(0, 1 << 20),)),
    Case(integers.Maximum(), (TWO, fixed(-9, 99, 2))),
    Case(integers.ArgMaxOneHot(1), (fixed(-3, 3, 2, 3),)),
    Case(integers.Gather(1), (fixed(-9, 9, 2, 3), fixed(-1, 3, 2))),
    Case(integers.ScatterAdd(0, 3), (fixed(-9, 9, 2, 2), fixed(-1, 3, 2))),
    Case(integers.Contract("ij,jk->ik"), (fixed(-5, 9, 2, 3), fixed(-4, 4, 3, 2))),
    Case(integers.Contract("ij,jk->ik"), (fixed(-5, 9, 1, 2), fixed(-4, 4, 2, 1))),
    Case(integers.Reindex(View.transpose((2, 3), (1, 0))), (fixed(3, 1 << 9, 2, 3),)),
    Case(integers.Reindex(View.transpose((2, 2), (1, 0))), (fixed(3, 9, 2, 2),)),
    Case(integers.Sum(View.broadcast((2, 3), (0,))), (fixed(-(1 << 9), 1 << 8, 2, 3),)),
    Case(integers.Sum(View.broadcast((2, 2), (0,))), (fixed(-3, 8, 2, 2),)),
    Case(integers.ArgMaxOneHot(1), (fixed(-3, 3, 1, 3),)),
    Case(integers.Maximum(), (fixed(-5, 9), fixed(-9, 99))),
    Case(integers.Clamp(-4, 5), (fixed(-9, 99),)),
    Case(integers.IsNegative(), (fixed(-30, 300),)),
    Case(integers.Gather(0), (fixed(-9, 9, 3), fixed(0, 2))),
    Case(integers.ArgMax(0), (fixed(0, 1, 5),)),
]
"""Operations of which no case, or none of its kind, is small enough."""

SMALLER_REAL = [
    RealCase(arrays.Multiply(), (Source((2,)), Source((2,), fraction_bits=9))),
    RealCase(arrays.Einsum("i,j->ij"), (Source((2,), fraction_bits=5), Source((3,), fraction_bits=4))),
    RealCase(arrays.Greater(), (Source((3,)), Source((3,), fraction_bits=9))),
    RealCase(arrays.Select(), (Source((2,), 0.0, 1.0, 0), Source((2,)), Source((2,), fraction_bits=9))),
    RealCase(arrays.Max(0), (Source((4,)),)),
    RealCase(arrays.ArgMaxOneHot(0), (Source((4,)),)),
    RealCase(arrays.ScatterAdd(0, 3), (Source((2, 2)), Source((2,), 0.0, 2.0, 0, index=True))),
    RealCase(arrays.Exp(), (Source((), -1.0, 1.0, 6),)),
    RealCase(arrays.Reciprocal(), (Source((2,), 0.5, 4.0, 6),)),
    RealCase(arrays.Reciprocal(), (Source((), -4.0, 4.0, 6, gap=0.125),)),
    RealCase(arrays.Divide(), (Source((), -2.0, 2.0, 6), Source((), 0.25, 4.0, 6))),
    RealCase(arrays.Log(), (Source((), 0.25, 4.0, 6),)),
    RealCase(arrays.SquareRoot(), (Source((), 0.015625, 4.0, 8),)),
    RealCase(arrays.Sigmoid(), (Source((), -2.0, 1.5, 6),)),
    RealCase(arrays.Tanh(), (Source((), -1.5, 2.0, 6),)),
    RealCase(arrays.Square(), (Source((2,)),)),
    RealCase(arrays.Maximum(), (Source((3,)), Source((3,), fraction_bits=9))),
    RealCase(arrays.Mean((0,)), (Source((5,)),)),
    RealCase(arrays.Softmax(0), (Source((2,), -2.0, 2.0, 4),)),
    RealCase(arrays.LogSumExp(0), (Source((2,), -2.0, 2.0, 4),)),
    RealCase(arrays.LogSoftmax(0), (Source((2,), -2.0, 2.0, 4),)),
    RealCase(arrays.CrossEntropy(), (Source((1, 2), -2.0, 2.0, 4), Source((1, 2), 0.0, 1.0, 0))),
    RealCase(arrays.BinaryCrossEntropy(), (Source((1, 1), -2.0, 2.0, 4), Source((1, 1), 0.0, 1.0, 0))),
]


LONG = (arrays.SquareRoot, arrays.Divide, arrays.Select)
CHOSEN = (integers.ReLU, integers.Check, integers.Clamp, integers.ArgMax, integers.Gather, integers.ScatterAdd)


def small_programs() -> Iterator[tuple[str, IntegerProgram]]:
    """All of them, by name."""
    yield from PROGRAMS.items()
    for place, case in enumerate([*SMALLER, *cases()]):
        yield f"{place} {case}", single(case.operation, *case.sources)
    for place, real in enumerate([*SMALLER_REAL, *real_cases()]):
        yield f"real {place} {real}".replace("\n", " "), quantized(real)


def representatives() -> dict[str, Callable[[], IntegerProgram]]:
    """A part, by name, and what makes each: of each kind of row one at least."""
    found: dict[str, Callable[[], IntegerProgram]] = {name: partial(PROGRAMS.__getitem__, name) for name in PROGRAMS}
    found |= {
        f"{place} {case}": partial(single, case.operation, *case.sources)
        for place, case in enumerate(SMALLER)
        if place not in (2, 4)
    }
    chosen = [case for case in cases() if isinstance(case.operation, CHOSEN) and case.sources[0].size < 12]
    found |= {
        f"case {place} {case}": partial(single, case.operation, *case.sources) for place, case in enumerate(chosen)
    }
    reals = [real for real in SMALLER_REAL if not isinstance(real.operation, LONG)]
    return found | {f"real {real}": partial(quantized, real) for real in reals}


def is_small(given: IntegerProgram, most: int = MOST_ROWS) -> bool:
    return bool(estimate(given)["constraints"] <= most)

"""Arithmetic: what each operation is in plain Python integers, and cases of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from operations.integer import INTERVALS, TOP, Described, case, fixed, of_one, of_two
from plain_integers import Index, NoValueError, Plain, elementwise, made

from circuitize.circuits import integers

TABLE = np.array([5, -7, 0, 3, 1 << 40, -9, 2, 2])


def check(o: Any, x: Plain) -> Plain:
    if any(not o.low <= value <= o.high for value in x.elements.values()):
        raise NoValueError
    return x


def divide(o: Any, x: Plain, y: Plain) -> Plain:
    if min(y.elements.values()) <= 0:
        raise NoValueError

    def element(p: Index) -> int:
        quotient = abs(x[p]) // y[p]
        if x[p] < 0 and abs(x[p]) % y[p]:
            return -quotient - 1
        return -quotient if x[p] < 0 else quotient

    return made(x.shape, element)


def square_root(o: Any, x: Plain) -> Plain:
    def element(p: Index) -> int:
        if x[p] < 0:
            raise NoValueError
        below, above = 0, 1 << 32
        while above - below > 1:
            middle = (below + above) // 2
            below, above = (middle, above) if middle * middle <= x[p] else (below, middle)
        return below

    return made(x.shape, element)


def lookup(o: Any, x: Plain) -> Plain:
    entries = {o.low + i: int(entry) for i, entry in enumerate(o.table.tolist())}
    if any(value not in entries for value in x.elements.values()):
        raise NoValueError
    return made(x.shape, lambda p: entries[x[p]])


WIDE, SMALL, UNSIGNED = fixed((3, 4), -TOP, TOP, 7), fixed((3, 4), -5, 9, 2), fixed((3, 4), 0, 300)
HALF = fixed((3, 4), -(TOP >> 1), TOP >> 1, 7)
INT32 = fixed((3, 4), -(1 << 31), (1 << 31) - 1, 5)
THIRTY = fixed((3, 4), -(1 << 30), 1 << 30, 5)

CASES = [
    Described(
        lambda o: Plain.of(o.constant),
        [
            case(integers.Constant.of(np.arange(-5, 7).reshape(3, 4), 3)),
            case(integers.Constant.splat(-TOP, (2, 2), 1)),
            case(integers.Constant.splat(7)),
        ],
        lambda: [(integers.Constant.of([3, -4]), []), (integers.Constant.splat(5, (2, 2)), [])],
        lambda o: int(o.fraction_bits),
    ),
    Described(
        elementwise(lambda o, x, y: x + y),
        [case(integers.Add(), HALF, HALF), case(integers.Add(), fixed((), -3, 4), fixed((), 5, 6))],
        lambda: of_two(integers.Add(), (), ()),
    ),
    Described(
        elementwise(lambda o, x, y: x - y),
        [case(integers.Subtract(), HALF, HALF)],
        lambda: of_two(integers.Subtract(), (), ()),
    ),
    Described(
        elementwise(lambda o, x: o.factor * x),
        [
            case(integers.Scale(-3, 2), SMALL),
            case(integers.Scale(0, -9), WIDE),
            case(integers.Scale(1, 0), WIDE),
            case(integers.Scale((1 << 30) - 1, 30), INT32),
        ],
        lambda: [entry for factor in (-2, 0, 3) for entry in of_one(integers.Scale(factor, 1), ())],
        lambda o, bits: bits + int(o.fraction_bits),
    ),
    Described(
        elementwise(lambda o, x, y: x * y),
        [case(integers.Multiply(), THIRTY, INT32), case(integers.Multiply(), SMALL, fixed((3, 4), -8, -2, 1))],
        lambda: of_two(integers.Multiply(), (), ()),
        lambda o, *bits: sum(bits),
    ),
    Described(
        elementwise(lambda o, x: (x - x % 2**o.bits) // 2**o.bits),
        [case(integers.Shift(bits), WIDE) for bits in (0, 1, 17, 61, 62)],
        lambda: [entry for bits in (0, 1, 2, 62) for entry in of_one(integers.Shift(bits), ())],
        lambda o, bits: bits - int(o.bits),
    ),
    Described(
        elementwise(lambda o, x: 1 if x < 0 else 0),
        [case(integers.IsNegative(), source) for source in (WIDE, UNSIGNED, fixed((2,), -9, -1), SMALL)],
        lambda: of_one(integers.IsNegative(), ()),
        lambda o, bits: 0,
    ),
    Described(
        elementwise(lambda o, x: x if x > 0 else 0),
        [case(integers.ReLU(), source) for source in (WIDE, fixed((2,), -9, -1), fixed((2,), 2, 5), fixed((), -1, 1))],
        lambda: of_one(integers.ReLU(), ()),
    ),
    Described(
        divide,
        [
            case(integers.Divide(), WIDE, fixed((3, 4), 1, TOP, 3)),
            case(integers.Divide(), SMALL, fixed((3, 4), 2, 7)),
            case(integers.Divide(), WIDE, fixed((3, 4), 1, 3)),
        ],
        lambda: [
            (integers.Divide(), [fixed((), *x), fixed((), *y)])
            for x in [*INTERVALS, (-9, 9), (4, 9), (-9, -5)]
            for y in ((1, 1), (1, 3), (2, 3), (3, 3))
        ],
        lambda o, above, below: above - below,
    ),
    Described(
        square_root,
        [case(integers.SquareRoot(), fixed((3, 4), 0, TOP, 8)), case(integers.SquareRoot(), UNSIGNED)],
        lambda: of_one(integers.SquareRoot(), (), [(0, 0), (0, 9), (3, 4), (8, 26), (16, 17)]),
        lambda o, bits: bits // 2,
    ),
    Described(
        lookup,
        [
            case(integers.Lookup(-3, TABLE, 4), fixed((3, 4), -3, 4)),
            case(integers.Lookup(-3, TABLE, 4), fixed((5,), -1, 0)),
        ],
        lambda: of_one(integers.Lookup(-3, TABLE, 0), ()),
        lambda o, bits: int(o.fraction_bits),
    ),
    Described(
        check,
        [
            case(integers.Check(-TOP, TOP), WIDE),
            case(integers.Check(-5, 9), fixed((3, 4), -6, 9)),
            case(integers.Check(0, 16), fixed((2,), 0, 17)),
            case(integers.Check(-TOP, 3), fixed((), -TOP, TOP)),
        ],
        lambda: of_one(integers.Check(2, 2), (), [(2, 2)]),
    ),
]

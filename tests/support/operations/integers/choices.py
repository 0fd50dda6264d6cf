"""Choices: what each operation is in plain Python integers, and cases of it."""

from __future__ import annotations

from typing import Any

from operations.integer import FEW, TOP, Described, case, fixed, of_one, of_two
from plain_integers import Index, Plain, elementwise, made

from circuitize.circuits import integers
from circuitize.circuits.types import Fixed

CLAMPED = [(-9, 99), (-9, 3), (-2, 99), (-2, 2), (5, 9), (-9, -4), (7, 8), (-4, 5), (-TOP >> 1, TOP >> 1)]


def best(x: Plain, axis: int, p: Index) -> int:
    """The lowest i with the greatest x[p with i at the axis]; p lacks the axis."""
    row = [x[(*p[:axis], i, *p[axis:])] for i in range(x.shape[axis])]
    return row.index(max(row))


def arg_max(o: Any, x: Plain) -> Plain:
    return made(x.shape[: o.axis] + x.shape[o.axis + 1 :], lambda p: best(x, o.axis, p))


def arg_max_one_hot(o: Any, x: Plain) -> Plain:
    return made(x.shape, lambda p: int(best(x, o.axis, p[: o.axis] + p[o.axis + 1 :]) == p[o.axis]))


def along_axes() -> list[tuple[int, Fixed]]:
    """Axes, and sources that have many equal elements along them."""
    shapes = ((0, (5,)), (1, (3, 4)), (0, (3, 4)), (1, (2, 1, 3)), (2, (2, 2, 7)))
    return [(axis, fixed(shape, -3, 3, 1)) for axis, shape in shapes]


CASES = [
    Described(
        elementwise(lambda o, c, a, b: {1: a, 0: b}[c]),
        [
            case(
                integers.Select(), fixed((3, 4), 0, 1), fixed((3, 4), -(TOP >> 1), TOP >> 1, 7), fixed((3, 4), -1, 3, 7)
            ),
            case(integers.Select(), fixed((2,), 1, 1), fixed((2,), -3, 4), fixed((2,), 0, 9)),
            case(integers.Select(), fixed((2,), 0, 0), fixed((2,), -3, 4), fixed((2,), 0, 9)),
        ],
        lambda: [
            (integers.Select(), [fixed((), *c), fixed((), *a), fixed((), *b)])
            for c in [(0, 0), (1, 1), (0, 1)]
            for a in FEW
            for b in FEW
        ],
        lambda o, condition, a, b: a,
    ),
    Described(
        elementwise(lambda o, x, y: x if x > y else y),
        [
            case(integers.Maximum(), fixed((3, 4), -(TOP >> 2), TOP >> 2), fixed((3, 4), -9, 99)),
            case(integers.Maximum(), fixed((3,), -9, -2), fixed((3,), 0, 0)),
        ],
        lambda: of_two(integers.Maximum(), (), ()),
    ),
    Described(
        elementwise(lambda o, x: o.low if x < o.low else o.high if x > o.high else x),
        [case(integers.Clamp(-4, 5), fixed((3, 4), low, high)) for low, high in CLAMPED],
        lambda: [entry for low, high in ((-1, 1), (0, 0), (-9, 9)) for entry in of_one(integers.Clamp(low, high), ())],
    ),
    Described(
        elementwise(
            lambda o, x: (x + (1 << o.bits - 1)) % (1 << o.bits) - (1 << o.bits - 1) if o.signed else x % (1 << o.bits)
        ),
        [
            *(
                case(integers.Wrap(4, signed), fixed((3, 4), low, high))
                for low, high in CLAMPED[:-1]
                for signed in (True, False)
            ),
            case(integers.Wrap(1, True), fixed((5,), -9, 9, 3)),
            case(integers.Wrap(4, True), fixed((5,), 9, 12)),
            case(integers.Wrap(0, False), fixed((3,), -2, 2)),
        ],
        lambda: [entry for o in ((1, True), (2, True), (2, False)) for entry in of_one(integers.Wrap(*o), ())],
    ),
    Described(
        arg_max,
        [
            *(case(integers.ArgMax(axis), source) for axis, source in along_axes()),
            case(integers.ArgMax(1), fixed((3, 6), -(TOP >> 3), TOP >> 3)),
        ],
        lambda: [entry for axis in (0, 1) for entry in of_one(integers.ArgMax(axis), (1, 3), [(0, 1), (-1, 2)])],
        lambda o, bits: 0,
    ),
    Described(
        arg_max_one_hot,
        [case(integers.ArgMaxOneHot(axis), source) for axis, source in along_axes()],
        lambda: [entry for axis in (0, 1) for entry in of_one(integers.ArgMaxOneHot(axis), (1, 3), [(0, 1), (-1, 2)])],
        lambda o, bits: 0,
    ),
]

"""Small programs for tests of hardware: scores, a class, state, a convolution, and one of most operations each."""

from __future__ import annotations

import numpy as np
from r1cs_programs import integer_type

from circuitize import Format, IntegerProgram, Port, Role, Visibility
from circuitize.circuits.builder import Builder
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.integers import (
    Add,
    ArgMax,
    Check,
    Clamp,
    Constant,
    Contract,
    Divide,
    IsNegative,
    Lookup,
    Maximum,
    Reindex,
    ReLU,
    Scale,
    Select,
    Shift,
    SquareRoot,
    Sum,
    View,
)
from circuitize.circuits.operation import Provenance
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import to_reals

PUBLIC = Visibility.PUBLIC
X, W, SCORES = (Format.signed(5, 2).of((3,)), Format.signed(4, 1).of((3, 2)), Format.signed(8, 3).of((2,)))


def _program(arrow: Arrow, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> IntegerProgram:
    sides = ((inputs, arrow.source), (outputs, arrow.target))
    given, made = (
        tuple(map(lambda name, type: Port(name, PUBLIC, integer_type(type)), names, types)) for names, types in sides
    )
    return IntegerProgram(arrow, given, made)


def _scores(builder: Builder, x: int, w: int) -> int:
    return builder.add(Check(SCORES.low, SCORES.high), builder.add(Contract("i,ij->j"), x, w))


def linear() -> IntegerProgram:
    """Two scores of three numbers; the weight is held, and four of five examples have the label that it gives."""
    builder = Builder()
    x, w = builder.inputs([X, W])
    arrow = builder.build([_scores(builder, x, w)])
    weight = np.array([[3, -2], [-4, 5], [1, 2]])
    random = np.random.default_rng(0)
    inputs = random.integers(-7, 8, (5, 3))
    labels = (inputs @ weight).argmax(axis=1)
    labels[4] = 1 - labels[4]
    reals, held = to_reals(X, inputs), to_reals(W, weight)
    examples = [{"x": a, "w": held, "y": np.asarray(b)} for a, b in zip(reals, labels, strict=True)]
    ports = (Port("x", PUBLIC, X), Port("w", Visibility.COMMITTED, W, Role.PARAMETER))
    return IntegerProgram(arrow, ports, (Port("y", PUBLIC, SCORES),), tuple(examples))


def head() -> IntegerProgram:
    """The class itself; its answers are classes."""
    given = linear()
    builder = Builder()
    x, w = builder.inputs([X, W])
    arrow = builder.build([builder.add(ArgMax(0), _scores(builder, x, w))])
    return IntegerProgram(arrow, given.inputs, (Port("y", PUBLIC, integer_type(arrow.target[0])),), given.examples)


def counter() -> IntegerProgram:
    """State: a total that a frame adds to, undefined past its format."""
    format = Format.signed(6, 0).of((2,))
    builder = Builder()
    total, x = builder.inputs([format, format])
    arrow = builder.build([builder.add(Check(format.low, format.high), builder.add(Add(), total, x))])
    ports = (Port("total", PUBLIC, format, Role.STATE), Port("x", PUBLIC, format))
    values = [{"total": np.array([1, 2]), "x": np.array(x)} for x in ([1, -1], [20, 5], [11, 9], [0, -20])]
    return IntegerProgram(arrow, ports, (Port("total", PUBLIC, format, Role.STATE),), tuple(values))


def alone() -> IntegerProgram:
    """Nothing enters frame by frame."""
    builder = Builder()
    arrow = builder.build([builder.add(ReLU(), builder.input(X))])
    ports = (Port("x", PUBLIC, X, Role.STATE),), (Port("y", PUBLIC, integer_type(arrow.target[0])),)
    return IntegerProgram(arrow, *ports, ({"x": np.zeros(3)},))


def convolution() -> IntegerProgram:
    """Two channels of a 4 x 4 image convolved 2 x 2, saturated, then the greatest of each channel."""
    builder = Builder()
    image = builder.input(Fixed((2, 4, 4), 3, -8, 7))
    kernel = np.random.default_rng(1).integers(-3, 4, (2, 2, 2, 2))
    builder.provenance = Provenance("conv")
    windows = builder.add(Reindex(View.window((2, 4, 4), (1, 2), (2, 2), (1, 1))), image)
    flat = builder.type(windows)
    assert isinstance(flat, Fixed)
    matrix = builder.add(Reindex(View.reshape(flat.shape, (2, 9, 4))), windows)
    weights = builder.add(Constant.of(kernel.reshape(2, 2, 4), 2))
    made = builder.add(Contract("cpk,ock->op"), matrix, weights)
    made = builder.add(Clamp(0, 15), builder.add(Shift(1), builder.add(ReLU(), made)))
    parts = [builder.add(Reindex(View.slice((2, 9), (0, at), (2, at + 1))), made) for at in range(9)]
    builder.provenance = Provenance("pool")
    greatest = parts[0]
    for one in parts[1:]:
        greatest = builder.add(Maximum(), greatest, one)
    arrow = builder.build([greatest])
    return _program(arrow, ("image",), ("y",))


def arithmetic() -> IntegerProgram:
    """Division, square root, a table, choice, sum, shift and saturation of four numbers."""
    builder = Builder()
    x, y = builder.inputs([Fixed((4,), 2, -20, 20), Fixed((4,), 2, 1, 9)])
    quotient = builder.add(Divide(), x, y)
    root = builder.add(SquareRoot(), y)
    table = builder.add(Lookup(-20, np.arange(-20, 21) ** 2 % 23 - 5, 0), x)
    chosen = builder.add(Select(), builder.add(IsNegative(), x), quotient, table)
    total = builder.add(Sum(View.broadcast((4,), [0])), chosen)
    small = builder.add(Clamp(-8, 7), builder.add(Shift(1), builder.add(Scale(3, 0), total)))
    checked = builder.add(Check(-12, 12), chosen)
    arrow = builder.build([quotient, root, small, checked])
    return _program(arrow, ("x", "y"), ("quotient", "root", "small", "checked"))

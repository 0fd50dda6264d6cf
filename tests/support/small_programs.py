"""Random integer programs of every operation, small enough to find all witnesses of their circuits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import OverflowRisk, TypingError
from circuitize.circuits.integers import IntegerOperation, View
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed

Random = np.random.Generator
FARTHEST = 90
MOST_ELEMENTS = 6
SHAPES = [(), (1,), (2,), (3,), (2, 2), (1, 3)]


def random_program(random: Random, operations: int) -> IntegerProgram:
    """Inputs of awkward intervals, random operations, and outputs that may be inputs, constants or one wire twice."""
    builder = Builder()
    wires = [builder.input(_format(random)) for _ in range(random.integers(1, 4))]
    inputs = [builder.type(wire) for wire in wires]
    attempts = 0
    while builder.edge_count < operations and attempts < 40 * operations:
        attempts += 1
        write = OPERATIONS[random.integers(len(OPERATIONS))]
        chosen = write(random, builder, wires)
        if chosen is None:
            continue
        operation, sources = chosen
        try:
            (made,) = operation.target_types(*[builder.type(wire) for wire in sources])
        except (TypingError, OverflowRisk):
            continue
        if max(-made.low, made.high) <= FARTHEST and made.size <= MOST_ELEMENTS:
            wires.append(builder.add(operation, *sources))
    outputs = [wires[-1], *random.choice(wires, random.integers(0, 3)).tolist()]
    arrow = builder.build(outputs)
    seen = [Visibility.PUBLIC, Visibility.PRIVATE]
    sides = [
        tuple(
            Port(f"{name}{i}", Visibility.PUBLIC if i == 0 else seen[random.integers(2)], type)
            for i, type in enumerate(types)
            if isinstance(type, Fixed)
        )
        for name, types in (("in", inputs), ("out", arrow.target))
    ]
    return IntegerProgram(arrow, sides[0], sides[1])


def draw(program: IntegerProgram, random: Random) -> dict[str, NDArray[np.int64]]:
    """Inputs in their formats, ends more often than not."""
    values = {}
    for port in program.inputs:
        format = port.format
        assert format is not None
        uniform = random.integers(format.low, format.high, format.shape, endpoint=True)
        ends = random.choice(np.array([format.low, format.high]), format.shape)
        values[port.name] = np.asarray(np.where(random.random(format.shape) < 0.5, ends, uniform), np.int64)
    return values


def _format(random: Random) -> Fixed:
    low = int(random.integers(-12, 8))
    extent = int(random.choice([0, 1, 2, 3, 4, 6, 7, 8, 10, 15, 16, 17]))
    return Fixed(SHAPES[random.integers(len(SHAPES))], 0, low, low + extent)


Chosen = tuple[IntegerOperation, list[int]] | None


def _one(builder: Builder, random: Random, wires: list[int]) -> tuple[int, Fixed]:
    """A wire, recent ones more often than not."""
    recent = wires[-4:] if random.random() < 0.7 else wires
    wire = int(random.choice(recent))
    type = builder.type(wire)
    assert isinstance(type, Fixed)
    return wire, type


def _interval(random: Random, x: Fixed) -> tuple[int, int]:
    """An interval that meets [low, high], inside it or not."""
    ends = sorted(int(v) for v in random.integers(x.low - 2, x.high + 3, 2))
    low = random.choice([x.low, ends[0]])
    high = random.choice([x.high, ends[1]])
    return min(int(low), x.high), max(int(high), x.low, min(int(low), x.high))


def _unary(make: Callable[[Random, Fixed], IntegerOperation | None]) -> Callable[[Random, Builder, list[int]], Chosen]:
    def write(random: Random, builder: Builder, wires: list[int]) -> Chosen:
        wire, type = _one(builder, random, wires)
        operation = make(random, type)
        return None if operation is None else (operation, [wire])

    return write


def _binary(operation: IntegerOperation) -> Callable[[Random, Builder, list[int]], Chosen]:
    def write(random: Random, builder: Builder, wires: list[int]) -> Chosen:
        return operation, [_one(builder, random, wires)[0] for _ in range(2)]

    return write


def _select(random: Random, builder: Builder, wires: list[int]) -> Chosen:
    return integers.Select(), [_one(builder, random, wires)[0] for _ in range(3)]


def _concatenate(random: Random, builder: Builder, wires: list[int]) -> Chosen:
    return integers.Concatenate(0), [_one(builder, random, wires)[0] for _ in range(random.integers(1, 4))]


def _indexed(random: Random, builder: Builder, wires: list[int]) -> Chosen:
    (x, type), (indices, _) = _one(builder, random, wires), _one(builder, random, wires)
    if not type.shape:
        return None
    axis = int(random.integers(len(type.shape)))
    operation = (
        integers.Gather(axis) if random.random() < 0.5 else integers.ScatterAdd(axis, int(random.integers(1, 5)))
    )
    return operation, [x, indices]


def _contract(random: Random, builder: Builder, wires: list[int]) -> Chosen:
    equation = random.choice(
        ["i,i->", "i,j->ij", "i,i->i", "ij,j->i", "ij,jk->ik", "i,->i", ",->", "i,j->j", "ij,ij->"]
    )
    return integers.Contract(str(equation)), [_one(builder, random, wires)[0] for _ in range(2)]


def _constant(random: Random, builder: Builder, wires: list[int]) -> Chosen:
    shape = SHAPES[random.integers(len(SHAPES))]
    return integers.Constant.of(random.integers(-5, 6, shape)), []


def _lookup(random: Random, x: Fixed) -> IntegerOperation:
    below, above = random.integers(0, 3, 2).tolist()
    return integers.Lookup(x.low - below, random.integers(-20, 21, x.high - x.low + 1 + below + above), 0)


def _view(random: Random, x: Fixed) -> View:
    shape = x.shape
    kind = random.integers(6)
    if kind == 0 or not shape:
        return View.broadcast((2, *shape), (0,))
    if kind == 1:
        return View.reshape(shape, (x.size,))
    if kind == 2:
        return View.pad(shape, random.integers(0, 2, len(shape)).tolist(), random.integers(0, 2, len(shape)).tolist())
    if kind == 3:
        return View.slice(shape, [0] * len(shape), [int(random.integers(1, n + 1)) for n in shape])
    if kind == 4:
        return View.flip(shape, [0])
    return View.transpose(shape, list(reversed(range(len(shape)))))


OPERATIONS: list[Callable[[Random, Builder, list[int]], Chosen]] = [
    _binary(integers.Add()),
    _binary(integers.Subtract()),
    _binary(integers.Multiply()),
    _binary(integers.Multiply()),
    _binary(integers.Maximum()),
    _binary(integers.Divide()),
    _binary(integers.Divide()),
    _select,
    _select,
    _concatenate,
    _indexed,
    _indexed,
    _contract,
    _contract,
    _constant,
    _unary(lambda random, x: integers.Scale(int(random.integers(-3, 4)), 0)),
    _unary(lambda random, x: integers.Shift(int(random.integers(0, 5)))),
    _unary(lambda random, x: integers.Shift(int(random.integers(1, 3)))),
    _unary(lambda random, x: integers.Check(*_interval(random, x))),
    _unary(lambda random, x: integers.Check(*_interval(random, x))),
    _unary(lambda random, x: integers.Clamp(*_interval(random, x))),
    _unary(lambda random, x: integers.IsNegative()),
    _unary(lambda random, x: integers.ReLU()),
    _unary(lambda random, x: integers.SquareRoot()),
    _unary(_lookup),
    _unary(lambda random, x: integers.ArgMax(int(random.integers(max(len(x.shape), 1))))),
    _unary(lambda random, x: integers.ArgMaxOneHot(int(random.integers(max(len(x.shape), 1))))),
    _unary(lambda random, x: integers.Reindex(_view(random, x))),
    _unary(lambda random, x: integers.Reindex(_view(random, x))),
    _unary(lambda random, x: integers.Sum(View.broadcast(x.shape, [0]) if x.shape else View(()))),
]

"""Random programs of integers."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from r1cs_programs import program

from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import OverflowRisk, TypingError
from circuitize.circuits.integers import View
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed

SOURCES = [Fixed((3,), 0, -20, 19), Fixed((3,), 0, 1, 12)]


def random_program(random: np.random.Generator, sources: list[Fixed], length: int, magnitude: int) -> IntegerProgram:
    """A few operations on wires drawn at random, none of more than `magnitude`; Checks near what the wire can hold."""
    builder = Builder()
    wires = builder.inputs(sources)

    def draw() -> tuple[int, Fixed]:
        wire = wires[-1] if random.random() < 0.5 else int(random.choice(wires))
        found = builder.type(wire)
        assert isinstance(found, Fixed)
        return wire, found

    while len(wires) < len(sources) + length:
        (x, source), (y, other) = draw(), draw()
        shape, middle = source.shape, (source.low + source.high) // 2
        near = sorted(random.integers(source.low - 2, source.high + 3, 2).tolist())
        alike = source.shape == other.shape and source.fraction_bits == other.fraction_bits
        choices: list[tuple[integers.IntegerOperation, tuple[int, ...]]] = [
            (integers.Check(min(near[0], middle), max(near[1], middle)), (x,)),
            (integers.Shift(int(random.integers(1, 4))), (x,)),
            (integers.Scale(int(random.integers(-3, 4)), 0), (x,)),
            (integers.IsNegative(), (x,)),
            (integers.ReLU(), (x,)),
            (integers.Clamp(*near), (x,)),
            (integers.Constant.splat(int(random.integers(-3, 4)), shape, source.fraction_bits), ()),
        ]
        if shape:
            choices += [
                (integers.Reindex(View.flip(shape, (0,))), (x,)),
                (integers.Reindex(View.window(shape, (0,), (1,)).then(View.reshape((*shape, 1), shape))), (x,)),
                (
                    integers.Reindex(View.pad((shape[0],), (1,), (0,)).then(View.slice((shape[0] + 1,), (0,), shape))),
                    (x,),
                ),
                (integers.ArgMaxOneHot(0), (x,)),
            ]
        if alike:
            choices += [(kind(), (x, y)) for kind in (integers.Add, integers.Subtract, integers.Maximum)]
        if source.shape == other.shape:
            choices.append((integers.Multiply(), (x, y)))
            if other.low >= 1:
                choices.append((integers.Divide(), (x, y)))
        if source.low >= 0 and source.fraction_bits % 2 == 0:
            choices.append((integers.SquareRoot(), (x,)))
        operation, read = choices[int(random.integers(len(choices)))]
        with suppress(TypingError, OverflowRisk):
            (target,) = operation.target_types(*(builder.type(wire) for wire in read))
            if max(-target.low, target.high) <= magnitude:
                wires.append(builder.add(operation, *read))
    return program(builder.build([wires[-1], int(random.choice(wires))]))

"""A small model that learns with momentum, as a program with state, and frames for it."""

from __future__ import annotations

import numpy as np
from folded_programs import named

from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Add, Check, Clamp, Contract, Scale, Shift, Subtract
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed

INITIAL = {"w": np.array([[3, -2], [5, 1], [-7, 0]]), "speed": np.zeros((3, 2), np.int64)}


def learner() -> IntegerProgram:
    """A linear model of three inputs and two outputs that learns with momentum; it tells its old weights, too."""
    builder = Builder()
    w, speed = builder.input(Fixed((3, 2), 0, -16, 15)), builder.input(Fixed((3, 2), 0, -32, 31))
    x, y = builder.input(Fixed((3,), 0, -8, 7)), builder.input(Fixed((2,), 0, -128, 127))
    error = builder.add(Subtract(), builder.add(Contract("i,ij->j"), x, w), y)
    gradient = builder.add(Contract("i,j->ij"), x, error)

    def part(value: int, bits: int) -> int:
        return builder.add(Scale(1, bits), builder.add(Shift(bits), value))

    faster = builder.add(Clamp(-32, 31), builder.add(Add(), part(speed, 1), part(gradient, 6)))
    moved = builder.add(Check(-16, 15), builder.add(Subtract(), w, part(faster, 1)))
    return named(builder, ["w", "speed", "x", "y"], [moved, faster, error, w], ["w", "speed"])


def frames(number: int, seed: int = 0) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(seed)
    return {"x": draw.integers(-8, 8, (number, 3)), "y": draw.integers(-128, 128, (number, 2))}

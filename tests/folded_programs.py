"""Small integer programs to fold into hardware, seeded, and frames for them with the ends of every interval."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Add, Clamp, Constant, Contract, ReLU, Shift
from circuitize.circuits.program import Port, Program, Visibility
from circuitize.circuits.types import Fixed

Integers = NDArray[np.int64]
JET = (16, 64, 32, 32, 5)
"""Layer widths of the jet network."""


def named(builder: Builder, inputs: Sequence[str], outputs: Sequence[int], held: Sequence[str] = ()) -> Program:
    """The program of what a builder holds, its outputs named y0, y1, ... or, for state, like the input."""
    arrow = builder.build(outputs)
    names = [*held, *(f"y{k}" for k in range(len(outputs) - len(held)))]
    return Program(
        arrow,
        tuple(
            Port(name, Visibility.PUBLIC, type, name in held)
            for name, type in zip(inputs, arrow.source, strict=True)
            if isinstance(type, Fixed)
        ),
        tuple(
            Port(name, Visibility.PUBLIC, type, name in held)
            for name, type in zip(names, arrow.target, strict=True)
            if isinstance(type, Fixed)
        ),
    )


def layers(weights: Sequence[Integers], biases: Sequence[Integers], shifts: Sequence[int], activation: int) -> Program:
    """A perceptron on 8-bit inputs: x W + b, then max(., 0), a floor shift and saturation at `activation`.

    A layer whose shift is negative ends in x W + b.
    """
    builder = Builder()
    wire, fraction_bits = builder.input(Fixed((len(weights[0]),), 0, -128, 127)), 0
    for weight, bias, shift in zip(weights, biases, shifts, strict=True):
        wire = builder.add(Contract("i,ij->j"), wire, builder.add(Constant.of(weight)))
        wire = builder.add(Add(), wire, builder.add(Constant.of(bias, fraction_bits)))
        if shift >= 0:
            wire = builder.add(Shift(shift), builder.add(ReLU(), wire))
            wire = builder.add(Clamp(0, activation), wire)
            fraction_bits -= shift
    return named(builder, ["inputs"], [wire])


def perceptron(widths: Sequence[int] = JET, seed: int = 0) -> Program:
    """A perceptron of 6-bit weights and 8-bit unsigned activations."""
    draw = np.random.default_rng(seed)
    weights = [draw.integers(-31, 32, (rows, columns)) for rows, columns in pairwise(widths)]
    biases = [draw.integers(-2000, 2000, columns) for columns in widths[1:]]
    return layers(weights, biases, [*(6 for _ in widths[2:]), -1], 255)


def frames(program: Program, count: int, seed: int = 0) -> dict[str, Integers]:
    """Random frames of every input that is not held; all inputs at both ends of their intervals first."""
    draw = np.random.default_rng(seed)
    made = {}
    for port in program.inputs:
        format = port.format
        assert format is not None
        if port.held:
            continue
        values = draw.integers(format.low, format.high + 1, (count, *format.shape))
        ends = np.array([format.low, format.high])
        values[:2] = ends[:count].reshape(-1, *[1] * len(format.shape))
        values[2:8] = ends[draw.integers(0, 2, values[2:8].shape)]
        made[port.name] = values
    return made

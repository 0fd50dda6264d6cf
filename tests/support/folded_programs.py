"""Small integer programs to fold into hardware, seeded, and frames for them with the ends of every interval."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import (
    Add,
    ArgMax,
    Clamp,
    Constant,
    Contract,
    Lookup,
    Maximum,
    Reindex,
    ReLU,
    Shift,
    View,
)
from circuitize.circuits.port import Port, Role, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed

Integers = NDArray[np.int64]
JET = (16, 64, 32, 32, 5)
"""Layer widths of the jet network."""


def named(builder: Builder, inputs: Sequence[str], outputs: Sequence[int], held: Sequence[str] = ()) -> IntegerProgram:
    """The program of what a builder holds, its outputs named y0, y1, ... or, for state, like the input."""
    arrow = builder.build(outputs)
    names = [*held, *(f"y{k}" for k in range(len(outputs) - len(held)))]
    return IntegerProgram(
        arrow,
        tuple(
            Port(name, Visibility.PUBLIC, type, Role.STATE if name in held else Role.DATA)
            for name, type in zip(inputs, arrow.source, strict=True)
            if isinstance(type, Fixed)
        ),
        tuple(
            Port(name, Visibility.PUBLIC, type, Role.STATE if name in held else Role.DATA)
            for name, type in zip(names, arrow.target, strict=True)
            if isinstance(type, Fixed)
        ),
    )


def layers(
    weights: Sequence[Integers], biases: Sequence[Integers], shifts: Sequence[int], activation: int
) -> IntegerProgram:
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


def perceptron(widths: Sequence[int] = JET, seed: int = 0) -> IntegerProgram:
    """A perceptron of 6-bit weights and 8-bit unsigned activations."""
    draw = np.random.default_rng(seed)
    weights = [draw.integers(-31, 32, (rows, columns)) for rows, columns in pairwise(widths)]
    biases = [draw.integers(-2000, 2000, columns) for columns in widths[1:]]
    return layers(weights, biases, [*(6 for _ in widths[2:]), -1], 255)


def frames(program: IntegerProgram, count: int, seed: int = 0) -> dict[str, Integers]:
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


def network(seed: int = 0) -> IntegerProgram:
    """A small network with everything: a convolution, a table as activation, maxima of 2 x 2, a dense layer, an argmax.

    Outputs y0, the five sums of the dense layer, and y1, the place of the greatest.
    """
    draw = np.random.default_rng(seed)
    builder = Builder()
    image = builder.input(Fixed((6, 6, 2), 0, 0, 15))
    window = builder.add(Reindex(View.window((6, 6, 2), (0, 1), (3, 3))), image)
    kernel = builder.add(Constant.of(draw.integers(-7, 8, (3, 3, 2, 4))))
    sums = builder.add(Contract("hwcij,ijcd->hwd"), window, kernel)
    bias = builder.add(Constant.of(np.broadcast_to(draw.integers(-99, 99, 4), (4, 4, 4))))
    scaled = builder.add(Clamp(-128, 127), builder.add(Shift(3), builder.add(Add(), sums, bias)))
    table = np.rint(255 / (1 + np.exp(-np.arange(-128, 128) / 32))).astype(np.int64)
    active = builder.add(Lookup(-128, table, 0), scaled)
    pooled = builder.add(Reindex(View.window((4, 4, 4), (0, 1), (2, 2), (2, 2))), active)
    parts = [
        builder.add(Reindex(View.slice((2, 2, 4, 2, 2), (0, 0, 0, i, j), (2, 2, 4, i + 1, j + 1))), pooled)
        for i in range(2)
        for j in range(2)
    ]
    while len(parts) > 1:
        parts = [builder.add(Maximum(), *pair) for pair in zip(parts[::2], parts[1::2], strict=True)]
    flat = builder.add(Reindex(View.reshape((2, 2, 4, 1, 1), (16,))), parts[0])
    logits = builder.add(Contract("i,ij->j"), flat, builder.add(Constant.of(draw.integers(-31, 32, (16, 5)))))
    return named(builder, ["image"], [logits, builder.add(ArgMax(0), logits)])

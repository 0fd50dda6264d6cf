"""Small networks of integers with random weights, in the shapes that parallel schedules are used for."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from r1cs_programs import integer_type

from circuitize.circuits import integers
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import View
from circuitize.circuits.operation import Provenance
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed


def finished(builder: Builder, source: Fixed, *outputs: int) -> IntegerProgram:
    """The program of one input x with outputs y, y1, ..."""
    arrow = builder.build(outputs)
    ports = [Port(f"y{i or ''}", Visibility.PUBLIC, integer_type(type)) for i, type in enumerate(arrow.target)]
    return IntegerProgram(arrow, (Port("x", Visibility.PUBLIC, source),), tuple(ports))


def affine(builder: Builder, x: int, weights: np.ndarray, bias: np.ndarray, equation: str = "i,ij->j") -> int:
    """x W + b, exactly."""
    made = builder.add(integers.Contract(equation), x, builder.add(integers.Constant.of(weights)))
    type = integer_type(builder.type(made))
    spread = np.broadcast_to(bias, type.shape)
    return builder.add(integers.Add(), made, builder.add(integers.Constant.of(spread, type.fraction_bits)))


def activation(builder: Builder, x: int, shift: int, bits: int) -> int:
    """max(x, 0), shifted and saturated."""
    x = builder.add(integers.Shift(shift), builder.add(integers.ReLU(), x))
    return builder.add(integers.Clamp(0, (1 << bits) - 1), x)


def layered(
    weights: Sequence[np.ndarray], biases: Sequence[np.ndarray], shifts: Sequence[int], source: Fixed
) -> IntegerProgram:
    """Dense layers with saturating activations; a shift below 0 is a layer without one."""
    builder = Builder()
    x = builder.input(source)
    for index, (matrix, bias, shift) in enumerate(zip(weights, biases, shifts, strict=True), 1):
        builder.provenance = Provenance(f"dense{index}")
        x = affine(builder, x, matrix, bias)
        x = activation(builder, x, shift, 8) if shift >= 0 else x
    return finished(builder, source, x)


def drawn(random: np.random.Generator, sizes: Sequence[int], bits: int, zeros: float) -> list[np.ndarray]:
    """Matrices of normal weights of so many bits, a part of them zero."""
    most = (1 << (bits - 1)) - 1
    found = []
    for shape in pairwise(sizes):
        matrix = np.clip(np.rint(random.normal(0, most / 2.5, shape)), -most, most).astype(np.int64)
        found.append(np.where(random.random(shape) < zeros, 0, matrix))
    return found


def jet(zeros: float = 0.0) -> IntegerProgram:
    """16-64-32-32-5, weights of 6 bits, activations of 8."""
    random = np.random.default_rng(16)
    sizes = (16, 64, 32, 32, 5)
    biases = [random.integers(-2000, 2000, size) for size in sizes[1:]]
    return layered(drawn(random, sizes, 6, zeros), biases, (6, 6, 6, -1), Fixed((16,), 0, -128, 127))


def sparse() -> IntegerProgram:
    """The same, of whose weights three quarters are 0: some activations have so few sources that nothing saturates."""
    return jet(0.75)


def small() -> IntegerProgram:
    """4-5-2 on numbers that do not fill their bits, rounded and saturated, and a Check of the sums."""
    random, builder = np.random.default_rng(4), Builder()
    source = Fixed((4,), 0, -20, 20)
    x = affine(builder, builder.input(source), random.integers(-7, 8, (4, 5)), random.integers(-60, 60, 5))
    x = affine(builder, activation(builder, x, 2, 5), random.integers(-7, 8, (5, 2)), random.integers(-9, 9, 2))
    return finished(builder, source, builder.add(integers.Check(-200, 150), x))


def convolution() -> IntegerProgram:
    """3 x 3, 2 -> 3 channels over 4 x 4 with a border of zeros, saturated, then the greatest of each 2 x 2."""
    random, builder = np.random.default_rng(3), Builder()
    source = Fixed((4, 4, 2), 4, -128, 127)
    x = builder.input(source)
    windows = View.pad((4, 4, 2), (1, 1, 0), (1, 1, 0)).then(View.window((6, 6, 2), (0, 1), (3, 3)))
    x = builder.add(integers.Reindex(windows), x)
    kernel = random.integers(-31, 32, (3, 3, 2, 3))
    x = affine(builder, x, kernel, random.integers(-999, 999, 3), "ijcuv,uvck->ijk")
    x = activation(builder, x, 6, 8)
    corners = [
        builder.add(integers.Reindex(View.slice((4, 4, 3), (i, j, 0), (4, 4, 3), (2, 2, 1))), x)
        for i in (0, 1)
        for j in (0, 1)
    ]
    pooled = [builder.add(integers.Maximum(), corners[0], corners[1]), builder.add(integers.Maximum(), *corners[2:])]
    return finished(builder, source, builder.add(integers.Maximum(), *pooled))


def tabled() -> IntegerProgram:
    """A dense layer, rounded, through a table of a sigmoid, and another dense layer of what the table gives."""
    random, builder = np.random.default_rng(5), Builder()
    source = Fixed((8,), 0, -8, 7)
    x = affine(builder, builder.input(source), random.integers(-7, 8, (8, 6)), random.integers(-9, 9, 6))
    x = builder.add(integers.Clamp(-128, 127), builder.add(integers.Shift(1), x))
    sigmoid = np.rint(255 / (1 + np.exp(-np.arange(-128, 128) / 24))).astype(np.int64)
    x = builder.add(integers.Lookup(-128, sigmoid, 8), x)
    return finished(builder, source, affine(builder, x, random.integers(-7, 8, (6, 3)), random.integers(-9, 9, 3)))


def curve() -> IntegerProgram:
    """A table of 2,048 entries, large enough for a block memory, and its product with its argument."""
    random, builder = np.random.default_rng(7), Builder()
    source = Fixed((2,), 0, -1000, 1000)
    x = builder.input(source)
    y = builder.add(integers.Lookup(-1024, random.integers(-500, 500, 2048), 0), x)
    return finished(builder, source, y, builder.add(integers.Multiply(), x, y))


def head() -> IntegerProgram:
    """A dense layer and the place of the greatest, as an index and as a one among zeros."""
    random, builder = np.random.default_rng(6), Builder()
    source = Fixed((6,), 0, -8, 7)
    x = affine(builder, builder.input(source), random.integers(-3, 4, (6, 10)), random.integers(-3, 3, 10))
    return finished(builder, source, builder.add(integers.ArgMax(0), x), builder.add(integers.ArgMaxOneHot(0), x), x)


def checked() -> IntegerProgram:
    """A dense layer that a Check may stop, and a quotient of what it lets through."""
    random, builder = np.random.default_rng(8), Builder()
    source = Fixed((4,), 0, -8, 7)
    x = affine(builder, builder.input(source), random.integers(-7, 8, (4, 4)), random.integers(-9, 9, 4))
    x = builder.add(integers.Check(-60, 60), x)
    positive = builder.add(
        integers.Add(), builder.add(integers.ReLU(), x), builder.add(integers.Constant.splat(1, (4,)))
    )
    return finished(builder, source, builder.add(integers.Divide(), x, positive))


def vectors(source: Fixed, count: int, seed: int = 1) -> dict[str, np.ndarray]:
    """Random frames; a quarter of them of the interval's ends alone, the first two all of one end."""
    random = np.random.default_rng(seed)
    found = random.integers(source.low, source.high, (count, *source.shape), endpoint=True)
    found[: count // 4] = random.choice([source.low, source.high], found[: count // 4].shape)
    found[0], found[1] = source.low, source.high
    return {"x": found}

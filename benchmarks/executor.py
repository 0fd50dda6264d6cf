"""The exact integer step beside the same step written in numpy with float32, on one thread, in one process.

Usage: python benchmarks/executor.py [PROGRAM ...] [--seconds S]   (default: iris, digits, 784-128-10, a million and ten
million parameters)

Both take turns on the program's own data, and the least time of each counts: the machine may do other work. The float32
step is checked to do the same as the integers before it is timed. To beat: 10 times float32's time from 784-128-10 at
batch 64 on; below that, calls of numpy are what counts, not arithmetic.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when numpy is imported

import numpy as np
from numpy.typing import NDArray

from circuitize.api.named import exact_named
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.values import to_integers, to_reals
from circuitize.sims import integer

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PROGRAMS = [
    "iris.py:step",
    "digits.py:step",
    "mnist_mlp.py:step",
    "mnist_mlp.py:step64",
    "mlp_1m.py:step",
    "mlp_10m.py:step",
]
TOLERANCE = 2e-3
TARGET = 10.0

Floats = NDArray[np.float32]


def float_step(weights: Sequence[Floats], biases: Sequence[Floats], x: Floats, t: Floats, rate: Floats) -> list[Floats]:
    """One SGD step on the mean squared error of a dense network with ReLU between layers: weights before biases."""
    layers = [x]
    for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
        layers.append(np.maximum(layers[-1] @ weight + bias, np.float32(0)))
    difference = layers[-1] @ weights[-1] + biases[-1] - t
    cotangent = difference * (2 * rate / np.float32(difference.size))
    updated: list[Floats] = []
    for layer, weight, bias in zip(layers[::-1], weights[::-1], biases[::-1], strict=True):
        updated += [bias - cotangent.sum(axis=0), weight - layer.T @ cotangent]
        if layer is not x:
            cotangent = (cotangent @ weight.T) * (layer > 0)
    return [*updated[::-1], np.square(difference).mean()]


def steps(program: IntegerProgram) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """The float32 step and the integer step on the program's first example, compared once."""
    inputs = program.examples[0]
    whole = [to_integers(port, inputs[port.name], "example") for port in program.inputs]
    values = {
        port.name: to_reals(port.format, value).astype(np.float32)
        for port, value in zip(program.inputs, whole, strict=True)
        if port.format is not None
    }
    *parameters, x, t, rate = values.values()
    weights, biases = parameters[0::2], parameters[1::2]
    prepared = integer.executor(program)

    def floats() -> Any:
        return float_step(weights, biases, x, t, rate)

    def integers() -> Any:
        return prepared.outputs(whole)

    for port, expected, found in zip(program.outputs, floats(), integers(), strict=True):
        error = float(np.abs(to_reals(port.format, found) - expected).max())
        assert error < TOLERANCE, f"{port.name} differs from float32 by {error}"
    return floats, integers


def least_times(first: Callable[[], Any], second: Callable[[], Any], seconds: float) -> tuple[float, float]:
    """The least wall-clock time of each, run in turn for so many seconds and at least five times."""
    found: list[tuple[float, float]] = []
    end = time.perf_counter() + seconds
    while len(found) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        first()
        middle = time.perf_counter()
        second()
        found.append((middle - start, time.perf_counter() - middle))
    return min(a for a, _ in found), min(b for _, b in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=PROGRAMS, help="FILE:NAME in the examples")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each program runs")
    chosen = parser.parse_args()
    print(f"{'program':<22}{'parameters':>12}{'batch':>7}{'float32 ms':>12}{'integers ms':>13}{'ratio':>8}")
    for name in chosen.programs:
        program = exact_named(str(EXAMPLES / name)).integer
        shapes = {port.name: port.format.shape for port in program.inputs if port.format is not None}
        carried = {port.name for port in program.outputs} & set(shapes)
        count = sum(int(np.prod(shapes[name])) for name in carried)
        floats, exact = least_times(*steps(program), chosen.seconds)
        print(
            f"{name:<22}{count:>12,}{shapes['inputs'][0]:>7}{floats * 1e3:>12.3f}{exact * 1e3:>13.3f}"
            f"{exact / floats:>7.1f}x",
            flush=True,
        )
    versions = f"numpy {np.__version__}, Python {sys.version.split()[0]}"
    print(f"to beat: {TARGET:.0f}x from 784-128-10 at batch 64 on; {versions}")


if __name__ == "__main__":
    main()

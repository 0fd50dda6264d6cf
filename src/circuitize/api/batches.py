"""Batches for calibration: from a file of examples, or at random."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.archives import read_npz
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.phases import Progress
from circuitize.circuits.port import Port
from circuitize.circuits.types import Fixed

Reals = NDArray[np.float64]

DRAWN = 8
"""The number of random batches if no examples are given."""
MOST_DRAWN = 1 << 24
"""The most random numbers of all batches together, not counting the first batch."""
MOST_STEPS = 256
"""The default bound of the number of training steps for calibration, which is otherwise one pass through the
examples.
"""

Draw = Callable[[np.random.Generator], Reals]
Batches = Callable[[Sequence[Port[Fixed]], Mapping[str, Draw]], list[dict[str, Reals]]]
"""A function from ports, and from ways to draw, by name, the ports that are not drawn uniformly, to batches of data."""


def batches_of(path: Path, examples: Path | None, say: Progress) -> Batches:
    """Return batches for the program of a file: from a file of examples, or drawn at random, in which case `say`
    reports this.
    """

    def batches(ports: Sequence[Port[Fixed]], drawn: Mapping[str, Draw]) -> list[dict[str, Reals]]:
        if examples is not None:
            return _cut(examples, ports)
        elements = sum(math.prod(port.format.shape) for port in ports)
        count = max(1, min(DRAWN, MOST_DRAWN // max(elements, 1)))
        say(
            f"{path}: calibrated on {count} random batch{'es' if count > 1 else ''}; give examples of the data by "
            "--calibrate FILE.npz"
        )
        generator = np.random.default_rng(0)
        return [
            {port.name: drawn.get(port.name, lambda g, p=port: _uniform(g, p.format))(generator) for port in ports}
            for _ in range(count)
        ]

    return batches


def _uniform(generator: np.random.Generator, format: Fixed) -> Reals:
    drawn = generator.integers(format.low, format.high, format.shape, endpoint=True)
    return np.ldexp(drawn.astype(np.float64), -format.fraction_bits)


def _cut(path: Path, ports: Sequence[Port[Fixed]]) -> list[dict[str, Reals]]:
    """Return batches from a file whose arrays hold examples along their first axis; left-over examples that do not fill
    a batch are dropped.
    """
    shapes = {port.name: port.format.shape for port in ports}
    arrays = read_npz(path, lambda name, shape: name in shapes)
    missing = [name for name in shapes if name not in arrays]
    unknown = [name for name in arrays if name not in shapes]
    if missing or unknown:
        raise CircuitizeError(
            f"{path}: expected examples of {list(shapes)}, found {list(arrays)}; "
            f"{'add ' + missing[0] if missing else 'leave out ' + unknown[0]}"
        )
    counts = {}
    for name, shape in shapes.items():
        array = arrays[name]
        if array.dtype.kind not in "biuf":
            raise CircuitizeError(f"{path}: expected numbers as {name!r}, found dtype {array.dtype}; write numbers")
        if shape and array.shape[1:] == shape[1:] and array.shape[0] >= shape[0]:
            counts[name] = array.shape[0] // shape[0]
        elif not shape and array.shape == ():
            continue
        else:
            wanted = ["N", *shape[1:]] if shape else []
            raise CircuitizeError(
                f"{path}: expected {name!r} of shape {str(wanted).replace(chr(39), '')}, "
                f"{f'N at least {shape[0]}' if shape else 'a number'}, found {list(array.shape)}; reshape it"
            )
    if len(set(counts.values())) > 1:
        raise CircuitizeError(f"{path}: expected as many batches of each input, found {counts}; give equally many rows")
    every = islice(range(next(iter(counts.values()), 1)), MOST_STEPS)
    return [
        {
            name: np.asarray(arrays[name][k * shape[0] : (k + 1) * shape[0]] if shape else arrays[name], np.float64)
            for name, shape in shapes.items()
        }
        for k in every
    ]

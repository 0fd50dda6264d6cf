"""What a case of an integer operation is: its sources, and random, awkward and extreme values of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plain_integers import Plain

from circuitize.circuits import integers
from circuitize.circuits.types import Fixed, Shape

Integers = NDArray[np.int64]
TOP = (1 << 62) - 1
INTERVALS = [(low, high) for low in range(-3, 4) for high in range(low, 4)]
FEW = [(-3, 2), (-2, -1), (1, 3), (0, 0), (-2, 0), (0, 2), (2, 2), (-3, -3)]

Operation = integers.IntegerOperation
Intervals = Sequence[tuple[int, int]]
Tried = tuple[Operation, list[Fixed]]
"""An operation, and source types whose values can all be tried."""


@dataclass(frozen=True)
class Case:
    """An operation on sources of these types."""

    operation: Operation
    sources: tuple[Fixed, ...]

    def __str__(self) -> str:
        shapes = "x".join(str(list(s.shape)).replace(" ", "") for s in self.sources)
        return f"{self.operation.name.removeprefix('integer.')}-{shapes}"

    def draw(self, random: np.random.Generator) -> list[Integers]:
        return [draw(source, random) for source in self.sources]


@cache
def awkward(low: int, high: int) -> Integers:
    """0, +-1, +-2^k, +-2^k +- 1 and both ends, as far as they lie in the interval."""
    powers = [1 << k for k in range(63)]
    near = {sign * (power + step) for sign in (1, -1) for power in powers for step in (-1, 0, 1)}
    found = np.array(sorted(v for v in {*near, 0, low, high, low + 1, high - 1} if low <= v <= high), np.int64)
    found.flags.writeable = False
    return found


def draw(source: Fixed, random: np.random.Generator) -> Integers:
    """Values of a type: uniform, awkward and at the ends, mixed element by element."""
    ends = np.array([source.low, source.high])
    choices = [
        random.integers(source.low, source.high, source.shape, endpoint=True),
        random.choice(awkward(source.low, source.high), source.shape),
        random.choice(ends, source.shape),
        np.broadcast_to(random.choice(awkward(source.low, source.high)), source.shape),
    ]
    return np.asarray(np.choose(random.integers(len(choices), size=source.shape), choices), np.int64)


def fixed(shape: tuple[int, ...], low: int, high: int, fraction_bits: int = 0) -> Fixed:
    return Fixed(shape, fraction_bits, low, high)


def case(operation: Operation, *sources: Fixed) -> Case:
    return Case(operation, sources)


def of_one(operation: Operation, shape: Shape, intervals: Intervals = INTERVALS) -> list[Tried]:
    """The operation on every interval."""
    return [(operation, [fixed(shape, *interval)]) for interval in intervals]


def of_two(operation: Operation, *shapes: Shape, intervals: Intervals = INTERVALS) -> list[Tried]:
    """The operation on every pair of intervals."""
    pairs = product(intervals, repeat=2)
    return [
        (operation, [fixed(shape, *interval) for shape, interval in zip(shapes, pair, strict=True)]) for pair in pairs
    ]


def fraction_bits_of_the_first(operation: Any, *sources: int) -> int:
    return sources[0]


@dataclass(frozen=True)
class Described:
    """A class of operations: what it is in plain Python integers, written apart from the class, and cases of it.

    `plain` takes an operation and its sources, and raises NoValueError where it has no value; `fraction_bits` takes an
    operation and its sources' fraction bits. The interval of what is `tried` must be just what is attained.
    """

    plain: Callable[..., Plain]
    cases: Sequence[Case]
    tried: Callable[[], list[Tried]]
    fraction_bits: Callable[..., int] = fraction_bits_of_the_first

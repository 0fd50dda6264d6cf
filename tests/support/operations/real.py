"""What a case of a real operation is: its sources, values of them, and how far its lowering may be off."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits import arrays
from circuitize.circuits.builder import generator
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.types import Array, Fixed, Shape

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Source:
    """One source: real values in [low, high] with |x| >= gap, multiples of 2^-fraction_bits; an index is whole."""

    shape: Shape
    low: float = -2.0
    high: float = 2.0
    fraction_bits: int = 10
    gap: float = 0.0
    index: bool = False

    @property
    def array(self) -> Array:
        return Array(self.shape)

    @property
    def fixed(self) -> Fixed:
        unit = 2.0**self.fraction_bits
        return Fixed(self.shape, self.fraction_bits, math.ceil(self.low * unit), math.floor(self.high * unit))

    def awkward(self, random: np.random.Generator) -> Integers:
        """Integers of the source's type: ends of the interval, 0, 1 and -1 where allowed, and many repeated values."""
        fixed, gap = self.fixed, math.ceil(self.gap * 2.0**self.fraction_bits)

        def allowed(values: Integers) -> Integers:
            inside = np.clip(values, fixed.low, fixed.high)
            return np.where(np.abs(inside) < gap, np.where(inside < 0, -gap, gap), inside)

        any_at_all = allowed(random.integers(fixed.low, fixed.high + 1, self.shape))
        corners = allowed(random.choice([fixed.low, fixed.high, -1, 0, 1], self.shape))
        few = allowed(random.choice(random.integers(fixed.low, fixed.high + 1, 3), self.shape))
        return np.asarray(np.choose(random.integers(3, size=self.shape), [any_at_all, corners, few]), np.int64)

    def real(self, integers: Integers) -> Floats:
        return np.asarray(np.ldexp(integers.astype(np.float64), -self.fraction_bits))


@dataclass(frozen=True)
class Case:
    """An operation with its sources. Its lowering is within `units`, and half a one for rounding, of the exact.

    None: it rounds nothing, whatever its class of rounding.
    """

    operation: arrays.RealOperation
    sources: tuple[Source, ...]
    units: float | None = 0

    def __str__(self) -> str:
        return f"{self.operation} on {', '.join(str(list(s.shape)) for s in self.sources)}"

    @property
    def arrow(self) -> Arrow:
        return generator(self.operation, *(source.array for source in self.sources))

    @property
    def target(self) -> Array:
        (target,) = self.operation.target_types(*(source.array for source in self.sources))
        return target

    def awkward(self, random: np.random.Generator) -> list[Integers]:
        """Integers of the sources' types, with ties within and across sources."""
        return [source.awkward(random) for source in self.sources]

    def reals(self, integers: list[Integers]) -> list[Floats]:
        return [source.real(values) for source, values in zip(self.sources, integers, strict=True)]

    def smooth(self, random: np.random.Generator) -> list[Floats]:
        """Real values within the sources' bounds, 2^-12 from 0 and from each other at least: no kink is nearby.

        They are odd multiples of 2^-12, drawn without repetition. A source of one single value keeps it, an index
        is whole.
        """
        chosen: list[Floats] = []
        taken: set[int] = set()
        for source in self.sources:
            if source.index:
                drawn = random.integers(int(source.low), int(source.high) + 1, source.shape)
                chosen.append(np.asarray(drawn, np.float64))
                continue
            least, greatest = math.ceil(source.low * 2048), math.floor(source.high * 2048) - 1
            candidates = 2 * np.arange(least, greatest + 1) + 1
            candidates = candidates[np.abs(candidates) >= source.gap * 4096]
            candidates = candidates[~np.isin(candidates, list(taken))]
            if len(candidates):
                drawn = np.asarray(random.choice(candidates, source.shape, replace=False))
                taken.update(drawn.reshape(-1).tolist())
                chosen.append(np.asarray(np.ldexp(np.float64(drawn), -12)))
            else:
                chosen.append(np.full(source.shape, source.low))
        return chosen


@dataclass(frozen=True)
class Described:
    """A class of operations: what it is by numpy and by JAX, both written apart from the class, and cases of it.

    `reference` and `jax` take an operation and give a function of its sources' values.
    """

    reference: Callable[[Any], Callable[..., Any]]
    jax: Callable[[Any], Callable[..., Any]]
    cases: Sequence[Case]


def on(*shapes: Shape, **keywords: Any) -> tuple[Source, ...]:
    """Sources of different fraction bits, so that lowering must align them."""
    return tuple(Source(shape, fraction_bits=10 - position, **keywords) for position, shape in enumerate(shapes))

"""Normalisation: elements less their mean over some axes, over their standard deviation; or over their size alone."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import TypingError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.types import Array

from . import expect
from .composite import Composite
from .composites import Mean
from .constant import Constant
from .elementwise import Add, Multiply, Scale, Subtract
from .layout import Broadcast, Sum
from .reciprocal_root import ReciprocalSquareRoot


@dataclass(frozen=True)
class Variance(Composite):
    """The sum of squared distances from the mean over some axes, which are removed, over their count less `correction`.

    The derivative is 2 (x - mean) * dz over the same: what the mean adds to it cancels exactly, so it is left out.
    """

    name = "real.variance"

    axes: tuple[int, ...]
    correction: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", expect.distinct(self.axes))

    def definition(self, *sources: Array) -> Arrow:
        expect.arrays(sources, 1)
        expect.axes_within(self.axes, len(sources[0].shape))
        count = math.prod(sources[0].shape[axis] for axis in self.axes)
        if not 0 <= self.correction < count:
            raise TypingError(f"expected a correction from 0 to {count - 1}, found {self.correction}; take less off")
        builder = Builder()
        centred = self._centred(builder, builder.input(sources[0]))
        total = builder.add(Sum(self.axes), builder.add(Multiply(), centred, centred))
        return builder.build([builder.add(Scale(1 / (count - self.correction)), total)])

    def _centred(self, builder: Builder, x: int) -> int:
        spread = Broadcast(builder.type(x).shape, self.axes)
        return builder.add(Subtract(), x, builder.add(spread, builder.add(Mean(self.axes), x)))

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        shape = builder.type(sources[0]).shape
        count = math.prod(shape[axis] for axis in self.axes)
        share = builder.add(Scale(2 / (count - self.correction)), cotangents[0])
        spread = builder.add(Broadcast(shape, self.axes), share)
        return [builder.add(Multiply(), self._centred(builder, sources[0]), spread)]


@dataclass(frozen=True)
class _Normalization(Composite):
    axes: tuple[int, ...]
    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", expect.distinct(self.axes))
        if not self.axes:
            raise TypingError("expected at least one axis to normalise over, found none; name the axes")
        if not (self.epsilon >= 0 and math.isfinite(self.epsilon)):
            raise TypingError(f"expected an epsilon of at least 0, found {self.epsilon}; give a small positive one")

    def definition(self, *sources: Array) -> Arrow:
        expect.arrays(sources, 1)
        expect.axes_within(self.axes, len(sources[0].shape))
        builder = Builder()
        numerator, inverse = self._factors(builder, builder.input(sources[0]))
        return builder.build([builder.add(Multiply(), numerator, self._spread(builder, inverse, numerator))])

    @abstractmethod
    def _centred(self, builder: Builder, x: int) -> int:
        """What is divided."""

    def _factors(self, builder: Builder, x: int) -> tuple[int, int]:
        """What is divided, and one over the root of the mean of its squares plus epsilon."""
        centred = self._centred(builder, x)
        square = builder.add(Mean(self.axes), builder.add(Multiply(), centred, centred))
        if self.epsilon:
            shape = builder.type(square).shape
            square = builder.add(Add(), square, builder.add(Constant.splat(self.epsilon, shape)))
        return centred, builder.add(ReciprocalSquareRoot(), square)

    def _spread(self, builder: Builder, wire: int, like: int) -> int:
        return builder.add(Broadcast(builder.type(like).shape, self.axes), wire)

    def reverse(
        self, builder: Builder, sources: Sequence[int], targets: Sequence[int], cotangents: Sequence[int]
    ) -> list[int | None]:
        (x,), (z,), (cotangent,) = sources, targets, cotangents
        _, inverse = self._factors(builder, x)
        along = builder.add(Mean(self.axes), builder.add(Multiply(), cotangent, z))
        projected = builder.add(Multiply(), z, self._spread(builder, along, z))
        rest = builder.add(Subtract(), self._centred(builder, cotangent), projected)
        return [builder.add(Multiply(), rest, self._spread(builder, inverse, z))]


@dataclass(frozen=True)
class Normalize(_Normalization):
    """(x - mean) / sqrt(variance + epsilon), mean and variance (over n) over some axes, which stay.

    The derivative is (dz - mean of dz - z * mean of dz * z) / sqrt(variance + epsilon). Ba et al., arXiv 1607.06450.
    Undefined where variance + epsilon is 0.
    """

    name = "real.normalize"

    def _centred(self, builder: Builder, x: int) -> int:
        return builder.add(Subtract(), x, self._spread(builder, builder.add(Mean(self.axes), x), x))


@dataclass(frozen=True)
class RootMeanSquareNormalize(_Normalization):
    """x / sqrt(mean of x^2 + epsilon), the mean over some axes, which stay. Zhang and Sennrich, arXiv 1910.07467.

    The derivative is (dz - z * mean of dz * z) / sqrt(mean of x^2 + epsilon). Undefined where the divisor is 0.
    """

    name = "real.root_mean_square_normalize"

    def _centred(self, builder: Builder, x: int) -> int:
        return x

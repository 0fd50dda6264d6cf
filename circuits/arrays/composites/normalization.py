"""Normalisation: elements less their mean over some axes, divided by their standard deviation; or elements divided by
their root mean square.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from circuitize.circuits.errors import TypingError

from .. import expect
from ..arithmetic.reductions import Mean
from ..composite import Composite
from ..curves.reciprocal_root import ReciprocalSquareRoot
from ..layout.movement import Broadcast, Sum
from ..term import Real


@dataclass(frozen=True)
class Variance(Composite):
    """The sum of squared distances from the mean over some axes, which the result lacks, divided by the number of
    elements less `correction`.

    The derivative of Variance is 2 (x - mean) * dz over the variance's divisor: the part of the derivative that comes
    from the mean cancels exactly, so it is left out.
    """

    name = "real.variance"

    axes: tuple[int, ...]
    correction: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", expect.distinct(self.axes))

    def define(self, *sources: Real) -> Real:
        (x,) = sources
        expect.axes_within(self.axes, x.ndim)
        count = math.prod(x.shape[axis] for axis in self.axes)
        if not 0 <= self.correction < count:
            raise TypingError(f"expected a correction from 0 to {count - 1}, found {self.correction}; take less off")
        centred = self._centred(x)
        return Sum(self.axes)(centred * centred) * (1 / (count - self.correction))

    def _centred(self, x: Real) -> Real:
        return x - Broadcast(x.shape, self.axes)(Mean(self.axes)(x))

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        (x,) = sources
        count = math.prod(x.shape[axis] for axis in self.axes)
        spread = Broadcast(x.shape, self.axes)(dz * (2 / (count - self.correction)))
        return [self._centred(x) * spread]


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

    def define(self, *sources: Real) -> Real:
        (x,) = sources
        expect.axes_within(self.axes, x.ndim)
        numerator, inverse = self._factors(x)
        return numerator * self._spread(inverse, numerator)

    @abstractmethod
    def _centred(self, x: Real) -> Real:
        """Return the numerator of a normalisation: the elements less their mean, or the elements themselves."""

    def _factors(self, x: Real) -> tuple[Real, Real]:
        """Return the numerator of a normalisation, and one over the root of the mean of the numerator's squares plus
        epsilon.
        """
        centred = self._centred(x)
        square = Mean(self.axes)(centred * centred)
        return centred, ReciprocalSquareRoot()(square + self.epsilon if self.epsilon else square)

    def _spread(self, x: Real, like: Real) -> Real:
        return Broadcast(like.shape, self.axes)(x)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        (x,) = sources
        _, inverse = self._factors(x)
        projected = z * self._spread(Mean(self.axes)(dz * z), z)
        return [(self._centred(dz) - projected) * self._spread(inverse, z)]


@dataclass(frozen=True)
class Normalize(_Normalization):
    """(x - mean) / sqrt(variance + epsilon), with mean and variance (divided by n) taken over some axes, which the
    result keeps.

    The derivative of Normalize is (dz - mean of dz - z * mean of dz * z) / sqrt(variance + epsilon). Layer
    normalisation is from Ba et al., arXiv 1607.06450. Normalize is undefined where variance + epsilon is 0.
    """

    name = "real.normalize"

    def _centred(self, x: Real) -> Real:
        return x - self._spread(Mean(self.axes)(x), x)


@dataclass(frozen=True)
class RootMeanSquareNormalize(_Normalization):
    """x / sqrt(mean of x^2 + epsilon), with the mean taken over some axes, which the result keeps. Root mean square
    normalisation is from Zhang and Sennrich, arXiv 1910.07467.

    The derivative of RootMeanSquareNormalize is (dz - z * mean of dz * z) / sqrt(mean of x^2 + epsilon).
    RootMeanSquareNormalize is undefined where the divisor of the normalisation is 0.
    """

    name = "real.root_mean_square_normalize"

    def _centred(self, x: Real) -> Real:
        return x

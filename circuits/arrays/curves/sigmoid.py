"""The sigmoid and the hyperbolic tangent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from circuitize.circuits.array_module import array_module
from circuitize.circuits.operation import Values

from ..term import Real
from .series import Series
from .smooth import Smooth


@dataclass(frozen=True)
class Sigmoid(Smooth):
    """The sigmoid 1 / (1 + e^-x) of each element. The derivative of Sigmoid is dz * z * (1 - z). The lowered sigmoid is
    0 or 1 far from x = 0, and defined everywhere.
    """

    name = "real.sigmoid"

    def run(self, *values: Values) -> tuple[Values, ...]:
        (x,) = values
        module = array_module(x)
        small = module.exp(-abs(x))
        return (module.asarray(module.where(x < 0, small, 1.0) / (1.0 + small)),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        return [dz * (z * (1.0 - z))]

    def taylor(self, centre: Decimal, order: int) -> Series:
        return _logistic(centre, 1, order)

    def disc(self, centre: float) -> tuple[float, float]:
        return 2.0, 1.1  # |1 + e^-z| >= sin 2 > 0.909 where |Im z| <= 2

    def reach(self, distance: float) -> float:
        return -math.log(distance)  # sigmoid(-x) <= e^-x


@dataclass(frozen=True)
class Tanh(Smooth):
    """The hyperbolic tangent of each element. The derivative of Tanh is dz * (1 - z * z). The lowered hyperbolic
    tangent is -1 or 1 far from x = 0.
    """

    name = "real.tanh"

    def run(self, *values: Values) -> tuple[Values, ...]:
        module = array_module(*values)
        return (module.asarray(module.tanh(values[0])),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        one = z.constant(1.0)
        return [dz * (one - z * z)]

    def taylor(self, centre: Decimal, order: int) -> Series:
        return _logistic(centre, 2, order) * 2 + -1

    def disc(self, centre: float) -> tuple[float, float]:
        return 1.0, 3.2  # 2 sigmoid(2z) - 1

    def reach(self, distance: float) -> float:
        return 0.5 * math.log(2 / distance)  # 1 - tanh(x) <= 2 e^(-2x)


def _logistic(centre: Decimal, rate: int, order: int) -> Series:
    """Return the Taylor series of 1 / (1 + e^(-rate * x))."""
    x = Series.of(centre, 1, order=order) * rate
    if centre < 0:
        small = x.exp()
        return small / (small + 1)
    return Series.of(1, order=order) / ((-x).exp() + 1)

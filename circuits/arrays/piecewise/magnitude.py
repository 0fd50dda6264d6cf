"""Composites of comparisons: magnitude and sign, and the exponential linear unit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from circuitize.circuits.errors import TypingError

from ..composite import Composite
from ..curves.exponential import Exp
from ..term import Real
from .comparison import ReLU, Select


@dataclass(frozen=True)
class Sign(Composite):
    """Sign: 1 where x > 0, -1 where x < 0, 0 at 0. The derivative of Sign is zero everywhere."""

    name = "real.sign"

    def define(self, *sources: Real) -> Real:
        (x,) = sources
        zero = x.constant(0.0)
        return (x > zero) - (zero > x)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        return [None]


@dataclass(frozen=True)
class Abs(Composite):
    """The magnitude of each element: 2 max(x, 0) - x. The derivative of Abs is dz * sign(x), which is 0 at 0."""

    name = "real.abs"

    def define(self, *sources: Real) -> Real:
        (x,) = sources
        return 2.0 * ReLU()(x) - x

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        return [Sign()(*sources) * dz]


@dataclass(frozen=True)
class ELU(Composite):
    """The exponential linear unit: x where x > 0, else alpha * (e^x - 1). The derivative of ELU is dz where x > 0, else
    dz * (z + alpha).

    The derivative of ELU needs no second exponential; the slope at 0 is alpha. ELU is from Clevert et al., arXiv
    1511.07289.
    """

    name = "real.elu"

    alpha: float = 1.0

    def __post_init__(self) -> None:
        if not math.isfinite(self.alpha):
            raise TypingError(f"expected a finite alpha, found {self.alpha}; give a real number")

    def define(self, *sources: Real) -> Real:
        (x,) = sources
        below = -ReLU()(-x)
        one = x.constant(1.0)
        bend = self.alpha * (Exp()(below) - one)
        return ReLU()(x) + bend

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        (x,) = sources
        return [Select()(ReLU()(x) > 0.0, dz, dz * (z + self.alpha))]

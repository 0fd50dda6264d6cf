"""Softplus, whose derivative is the sigmoid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from circuitize.circuits.array_module import array_module
from circuitize.circuits.operation import Values

from ..term import Real
from .series import CONTEXT, Series
from .sigmoid import Sigmoid
from .smooth import Smooth


@dataclass(frozen=True)
class Softplus(Smooth):
    """The softplus log(1 + e^x) of each element. The derivative of Softplus is dz * sigmoid(x)."""

    name = "real.softplus"
    follows = True

    def run(self, *values: Values) -> tuple[Values, ...]:
        module = array_module(*values)
        return (module.asarray(module.logaddexp(values[0], 0.0)),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        return [dz * Sigmoid()(*sources)]

    def taylor(self, centre: Decimal, order: int) -> Series:
        below = CONTEXT.ln(1 + CONTEXT.exp(-abs(centre)))
        start = CONTEXT.add(below, max(centre, Decimal(0)))
        return Sigmoid().taylor(centre, order).integral(start) if order else Series((start,))

    def disc(self, centre: float) -> tuple[float, float]:
        # |1 + e^z| >= sin 2 > e^-1 where |Im z| <= 2, and <= e^(|centre| + 3); |arg| <= pi.
        return 2.0, abs(centre) + 3 + math.pi

    def reach(self, distance: float) -> float:
        return -math.log(distance)  # log(1 + e^-x) <= e^-x

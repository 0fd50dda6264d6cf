"""Softsign: a sigmoid without an exponential."""

from __future__ import annotations

from dataclasses import dataclass

from ..composite import Composite
from ..piecewise.magnitude import Abs
from ..term import Real


@dataclass(frozen=True)
class Softsign(Composite):
    """x / (1 + |x|): like Tanh from -1 to 1, but one division, and slower to saturate."""

    name = "real.softsign"

    def define(self, *sources: Real) -> Real:
        (x,) = sources
        magnitude = Abs()(x)
        return x / (magnitude + 1.0)

"""GELU with a hyperbolic tangent in place of the normal distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from circuitize.circuits.array_module import array_module
from circuitize.circuits.builder import Builder
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Array

from ..reverse import reverse
from ..term import Real
from .series import CONTEXT, PI, Series
from .sigmoid import Sigmoid
from .smooth import Smooth

CUBIC = Decimal("0.044715")
RATE = CONTEXT.sqrt(CONTEXT.divide(Decimal(8), PI))
"""The factor RATE makes x * sigmoid(RATE * (x + CUBIC * x^3)) equal to x * (1 + tanh(sqrt(2 / pi) * (x + CUBIC * x^3)))
/ 2.
"""


@dataclass(frozen=True)
class TanhGELU(Smooth):
    """x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2, an approximation of GELU. The derivative of TanhGELU is
    dz * `TanhGELUSlope`(x).

    The formula of TanhGELU is GELU's approximation in arXiv 1606.08415, section 2. TanhGELU differs from GELU by at
    most 4.8e-4.
    """

    name = "real.tanh_gelu"
    follows = True

    def run(self, *values: Values) -> tuple[Values, ...]:
        (x,) = values
        return (array_module(x).asarray(x * _gate(x)),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        return [dz * TanhGELUSlope()(*sources)]

    def taylor(self, centre: Decimal, order: int) -> Series:
        x = Series.of(centre, 1, order=order)
        exponent = (x + x * x * x * CUBIC) * RATE
        if exponent.terms[0] < 0:
            small = exponent.exp()
            return x * small / (small + 1)
        return x / ((-exponent).exp() + 1)

    def disc(self, centre: float) -> tuple[float, float]:
        # The imaginary part of the exponent is at most 2.5 there, so 1 + e^(..) keeps sin 2.5 > 0.59 away from 0.
        radius = _radius(centre)
        return radius, (abs(centre) + radius) / 0.59

    def reach(self, distance: float) -> float:
        return _reach(distance, 1.0)  # x * sigmoid(-u) <= x^3 e^-u for x >= 1


@dataclass(frozen=True)
class TanhGELUSlope(Smooth):
    """The slope of TanhGELU: s + x s (1 - s) u', with s = sigmoid(u) and u = sqrt(8 / pi) * (x + 0.044715 x^3)."""

    name = "real.tanh_gelu_slope"

    def run(self, *values: Values) -> tuple[Values, ...]:
        (x,) = values
        gate, other = _gate(x), _gate(-x)
        slope = float(RATE) * (1.0 + 3.0 * float(CUBIC) * x * x)
        return (array_module(x).asarray(gate + x * gate * other * slope),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        (x,), builder = sources, Builder()
        slope = builder.build([_slope(Real(builder, builder.input(Array(x.shape)))).wire])
        return [Real(dz.builder, wire) for wire in dz.builder.splice(reverse(slope), [x.wire, dz.wire])]

    def taylor(self, centre: Decimal, order: int) -> Series:
        return Series(TanhGELU().taylor(centre, order + 1).derivative().terms[:-1])

    def disc(self, centre: float) -> tuple[float, float]:
        # With 3/4 of the radius R of TanhGELU's disc: by Cauchy's estimate the derivative is at most M / (R / 4) there.
        radius, most = TanhGELU().disc(centre)
        return 0.75 * radius, 4 * most / radius

    def reach(self, distance: float) -> float:
        # s(-x) <= e^-u and x s (1 - s) u' <= x e^-u * 2 x^2 for x >= 2, of which the second is greater.
        return _reach(distance, 2.0)


def _gate(x: Values) -> Values:
    """Return sigmoid(u) of TanhGELU, computed without overflow."""
    module = array_module(x)
    exponent = float(RATE) * (x + float(CUBIC) * x * x * x)
    small = module.exp(-abs(exponent))
    gate: Values = module.where(exponent < 0, small, 1.0) / (1.0 + small)
    return gate


def _radius(centre: float) -> float:
    """Return a radius R such that |Im u(z)| <= 2.5 for |z - centre| <= R, since Im u <= RATE * R * (1 + 3 CUBIC
    (|centre| + R)^2).
    """
    radius = 1.0
    while float(RATE) * radius * (1 + 3 * float(CUBIC) * (abs(centre) + radius) ** 2) > 2.5:
        radius *= 0.875
    return radius


def _reach(distance: float, factor: float) -> float:
    """Return a whole number from which on factor * x^3 * e^-u(x) <= distance; the product falls for x >= 2."""
    x = 2
    while factor * x**3 * math.exp(-float(RATE) * (x + float(CUBIC) * x**3)) > distance:
        x += 1
    return float(x)


def _slope(x: Real) -> Real:
    square = x * x
    one = x.constant(1.0)
    gate = Sigmoid()(float(RATE) * (x * (one + float(CUBIC) * square)))
    bend = gate * (one - gate)
    steep = float(RATE) * (one + 3 * float(CUBIC) * square)
    return gate + x * bend * steep

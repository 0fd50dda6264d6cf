"""The error function and GELU, an activation that the error function defines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

import numpy as np

from circuitize.circuits.array_module import Table, array_module
from circuitize.circuits.operation import Values

from ..arithmetic.power import Square
from ..term import Real
from .exponential import Exp
from .series import CONTEXT, PI, Series, exactly
from .smooth import Smooth

ROOT_OF_TWO = CONTEXT.sqrt(Decimal(2))
ROOT_OF_PI = CONTEXT.sqrt(PI)
HEIGHT = CONTEXT.divide(Decimal(1), CONTEXT.sqrt(CONTEXT.multiply(Decimal(2), PI)))
"""Of the normal distribution's density at 0."""
SPACING, FARTHEST, TERMS = 8, 6, 14
"""Parameters of float64 values of erf: Taylor series around the multiples of 1 / 8 up to 6; above 6, erf is 1 to 53
bits.
"""


@dataclass(frozen=True)
class Erf(Smooth):
    """erf(x) = 2 / sqrt(pi) * the integral of e^(-t^2) from 0 to x. The derivative of Erf is dz * 2 / sqrt(pi) *
    e^(-x^2).
    """

    name = "real.erf"

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (error_function(values[0]),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        (x,) = sources
        return [dz * (2 / math.sqrt(math.pi) * Exp()(-1.0 * Square()(x)))]

    def taylor(self, centre: Decimal, order: int) -> Series:
        start = exact_error_function(centre)
        if not order:
            return Series((start,))
        x = Series.of(centre, 1, order=order)
        bell = (-(x * x)).exp() * CONTEXT.divide(Decimal(2), ROOT_OF_PI)
        return bell.integral(start)

    def disc(self, centre: float) -> tuple[float, float]:
        # |e^(-z^2)| is at most e^(|Im z|^2), so erf moves by at most 2 / sqrt(pi) * e on the way from the centre.
        return 1.0, 1 + 2 / math.sqrt(math.pi) * math.e

    def reach(self, distance: float) -> float:
        return math.sqrt(-math.log(distance))  # 1 - erf(x) <= e^(-x^2)


@dataclass(frozen=True)
class GELU(Smooth):
    """x * P(x), where P is the normal distribution function. The derivative of GELU is dz * (P(x) + x * p(x)), where p
    is the normal density.

    The distribution function is P(x) = (1 + erf(x / sqrt 2)) / 2. GELU is from Hendrycks and Gimpel, arXiv 1606.08415.
    """

    name = "real.gelu"
    follows = True

    def run(self, *values: Values) -> tuple[Values, ...]:
        (x,) = values
        return (array_module(x).asarray(x * (0.5 + 0.5 * error_function(x * math.sqrt(0.5)))),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        return [dz * GELUSlope()(*sources)]

    def taylor(self, centre: Decimal, order: int) -> Series:
        return Series.of(centre, 1, order=order) * _normal(centre, order)

    def disc(self, centre: float) -> tuple[float, float]:
        # |p(z)| is at most e^(|Im z|^2 / 2) / sqrt(2 pi).
        return 1.0, (abs(centre) + 1) * (1 + math.exp(0.5) / math.sqrt(2 * math.pi))

    def reach(self, distance: float) -> float:
        # x P(-x) <= p(x) for x > 0.
        return math.sqrt(-2 * math.log(distance))


@dataclass(frozen=True)
class GELUSlope(Smooth):
    """P(x) + x * p(x), the slope of GELU. The derivative of GELUSlope is dz * (2 - x^2) * p(x)."""

    name = "real.gelu_slope"

    def run(self, *values: Values) -> tuple[Values, ...]:
        (x,) = values
        module = array_module(x)
        bell = module.exp(-0.5 * x * x) * (1 / math.sqrt(2 * math.pi))
        return (module.asarray(0.5 + 0.5 * error_function(x * math.sqrt(0.5)) + x * bell),)

    def derivative(self, dz: Real, z: Real, *sources: Real) -> Sequence[Real | None]:
        square = Square()(*sources)
        bell = Exp()(-0.5 * square)
        return [dz * (1 / math.sqrt(2 * math.pi) * ((2.0 - square) * bell))]

    def taylor(self, centre: Decimal, order: int) -> Series:
        longer = (Series.of(centre, 1, order=order + 1) * _normal(centre, order + 1)).derivative()
        return Series(longer.terms[:-1])

    def disc(self, centre: float) -> tuple[float, float]:
        bell = math.exp(0.5) / math.sqrt(2 * math.pi)
        return 1.0, 1 + bell + (abs(centre) + 1) * bell

    def reach(self, distance: float) -> float:
        # |P(-x) - x p(x)| <= x p(x) for x >= 1, and x p(x) <= e^(-x^2 / 2 + x / e) / sqrt(2 pi), as log x <= x / e.
        return math.e**-1 + math.sqrt(math.e**-2 - 2 * math.log(distance))


def error_function(x: Values) -> Values:
    """Return erf in float64, to within a few units of the last place."""
    module = array_module(x)
    magnitude = module.minimum(abs(x), float(FARTHEST))
    place = module.rint(magnitude * SPACING).astype(np.int64)
    distance = magnitude - place / SPACING
    terms = _terms().like(place)
    total = terms[TERMS - 1][place]
    for k in range(TERMS - 2, -1, -1):
        total = total * distance + terms[k][place]
    result: Values = module.asarray(module.where(x < 0, -total, total))
    return result


@cache
@exactly
def _terms() -> Table:
    centres = [CONTEXT.divide(Decimal(i), Decimal(SPACING)) for i in range(FARTHEST * SPACING + 1)]
    series = [Erf().taylor(centre, TERMS - 1).terms for centre in centres]
    terms: Values = np.array([[float(a) for a in terms] for terms in series]).T.copy()
    terms.setflags(write=False)
    return Table(terms)


@exactly
def exact_error_function(x: Decimal) -> Decimal:
    """Return erf(x) to 40 digits: 2 / sqrt(pi) * e^(-x^2) * the sum of 2^n x^(2n + 1) / (2n + 1)!!, which has positive
    terms only.
    """
    square = x * x
    twice, least = 2 * square, Decimal("1e-45")
    term = total = abs(x)
    factor = 1
    while term > least * total:
        factor += 2
        term = term * twice / factor
        total += term
    magnitude = total * CONTEXT.exp(-square) * 2 / ROOT_OF_PI
    return -magnitude if x < 0 else magnitude


def _normal(centre: Decimal, order: int) -> Series:
    """Return the Taylor series of the normal distribution function."""
    half = Decimal("0.5")
    start = CONTEXT.multiply(half, 1 + exact_error_function(CONTEXT.divide(centre, ROOT_OF_TWO)))
    if not order:
        return Series((start,))
    x = Series.of(centre, 1, order=order)
    bell = (x * x * -half).exp() * HEIGHT
    return bell.integral(start)

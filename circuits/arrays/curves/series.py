"""Power series with decimal coefficients: the Taylor series of a function, to as many digits as are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext
from functools import wraps
from typing import ParamSpec, TypeVar

CONTEXT = Context(prec=50, rounding=ROUND_HALF_UP)
"""The context in which series are computed: decimal, so that every machine computes the same."""

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")


Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def exactly(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Return the given function of Decimals, run in `CONTEXT`, since even a minus rounds to the current context."""

    @wraps(function)
    def inner(*values: Parameters.args, **named: Parameters.kwargs) -> Result:
        with localcontext(CONTEXT):
            return function(*values, **named)

    return inner


@dataclass(frozen=True, slots=True)
class Series:
    """A power series a[0] + a[1] t + ... + a[n] t^n, cut off after term n; the operands of an operator have the same n.
    Multiplying two series takes quadratic time.
    """

    terms: tuple[Decimal, ...]

    @classmethod
    def of(cls, *terms: Decimal | int, order: int) -> Series:
        """Return the series of the given terms up to the given order, followed by zeros if there are fewer."""
        return cls(tuple(map(Decimal, terms[: order + 1])) + (Decimal(0),) * (order + 1 - len(terms)))

    def __add__(self, other: Series | Decimal | int) -> Series:
        if isinstance(other, Series):
            return Series(tuple(CONTEXT.add(a, b) for a, b in zip(self.terms, other.terms, strict=True)))
        return Series((CONTEXT.add(self.terms[0], Decimal(other)), *self.terms[1:]))

    def __neg__(self) -> Series:
        return self * -1

    def __mul__(self, other: Series | Decimal | int) -> Series:
        if isinstance(other, Series):
            return Series(tuple(_convolution(self.terms, other.terms, k) for k in range(len(self.terms))))
        return Series(tuple(CONTEXT.multiply(a, Decimal(other)) for a in self.terms))

    def __truediv__(self, other: Series) -> Series:
        made: list[Decimal] = []
        for k, term in enumerate(self.terms):
            rest = CONTEXT.subtract(term, _convolution(made, other.terms, k))
            made.append(CONTEXT.divide(rest, other.terms[0]))
        return Series(tuple(made))

    def exp(self) -> Series:
        """Return the series of e^a, by its equation (e^a)' = a' e^a."""
        slopes = self.derivative().terms
        made = [CONTEXT.exp(self.terms[0])]
        for k in range(1, len(self.terms)):
            made.append(CONTEXT.divide(_convolution(slopes, made, k - 1), Decimal(k)))
        return Series(tuple(made))

    def derivative(self) -> Series:
        """Return the derivative of the series, whose last term is not known any more and becomes 0."""
        slopes = [CONTEXT.multiply(a, Decimal(k)) for k, a in enumerate(self.terms)]
        return Series((*slopes[1:], Decimal(0)))

    def integral(self, start: Decimal) -> Series:
        """Return the integral of the series: the series with the given first term whose derivative is this series."""
        return Series((start, *(CONTEXT.divide(a, Decimal(k)) for k, a in enumerate(self.terms[:-1], 1))))


def _convolution(a: Sequence[Decimal], b: Sequence[Decimal], k: int) -> Decimal:
    """Return coefficient k of the product of two series: the sum of a[i] * b[k - i] over the terms that both series
    have.
    """
    total, fma = Decimal(0), CONTEXT.fma
    first, end = max(0, k - len(b) + 1), min(k + 1, len(a))
    for x, y in zip(a[first:end], reversed(b[k - end + 1 : k - first + 1]), strict=True):
        if x and y:  # A polynomial has few terms.
            total = fma(x, y, total)
    return total

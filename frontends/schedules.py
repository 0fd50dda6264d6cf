"""Learning rates as functions of the step's number, in exact arithmetic, so that every verifier computes the same
rates.

A schedule is a function that takes t = 1, 2, ... and returns a fraction. The learning rate is an input of each step, so
schedules share one program and one verification key.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction

from circuitize.circuits.errors import CircuitizeError

from .formats import exact_rate

Schedule = Callable[[int], Fraction]

COSINE_BITS = 40
"""The number of fraction bits to which the cosine of a schedule is rounded."""

_CONTEXT = Context(prec=60)
_NEGLIGIBLE = Decimal("1e-40")
"""Terms of the cosine's series below this are left out: the next ones are smaller still."""
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")


def constant(rate: float) -> Schedule:
    """Return a schedule with the same learning rate at every step."""
    exact = exact_rate(rate)
    return lambda t: exact


def warm_up(schedule: Schedule, steps: int) -> Schedule:
    """Return a schedule that is the given one times t / steps in the first steps, and the given one from then on."""
    _expect_steps(steps)
    return lambda t: schedule(t) * min(Fraction(t, steps), Fraction(1))


def cosine(rate: float, steps: int, final: float = 0.0) -> Schedule:
    """Return a schedule from `rate` at t = 1 down to `final` at t = steps + 1 and after, along half a period of the
    cosine.

    The rate of a cosine schedule is final + (rate - final) * (1 + cos(pi * (t - 1) / steps)) / 2, with the cosine
    rounded once, to a multiple of 2^-40. `cosine` is from Loshchilov and Hutter, arXiv 1608.03983, equation 5, without
    restarts.
    """
    _expect_steps(steps)
    low, high = exact_rate(final), exact_rate(rate)
    return lambda t: low + (high - low) * (1 + rounded_cosine(Fraction(min(t - 1, steps), steps))) / 2


def rounded_cosine(half_turns: Fraction) -> Fraction:
    """Return cos(pi * x) for x from 0 to 1, to the nearest multiple of 2^-40, computed by its power series in 60
    decimal digits.
    """
    c = _CONTEXT
    square = c.power(c.multiply(_PI, c.divide(Decimal(half_turns.numerator), Decimal(half_turns.denominator))), 2)
    term = total = Decimal(1)
    for n in range(1, 50):
        term = c.divide(c.multiply(term, -square), Decimal((2 * n - 1) * 2 * n))
        total = c.add(total, term)
        if abs(term) < _NEGLIGIBLE:
            break
    return Fraction(round(Fraction(total) * 2**COSINE_BITS), 2**COSINE_BITS)


def _expect_steps(steps: int) -> None:
    if steps < 1:
        raise CircuitizeError(f"expected a schedule of at least 1 step, found {steps}; count the steps of training")

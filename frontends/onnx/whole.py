"""Arithmetic of whole numbers that are represented as reals: wrapping, truncating division and casts, which stay exact
in integers.
"""

from __future__ import annotations

import numpy as np

from circuitize.circuits.errors import TypingError
from circuitize.frontends.functions import absolute, floor, relu, sign
from circuitize.frontends.tensor import Tensor

from .elements import EXACT, Element

Interval = tuple[int, int]


def wrapped(x: Tensor, element: Element) -> Tensor:
    """Return x modulo 2^bits, in the element type's interval.

    The quotient of a reduction modulo 2^bits may be rounded up, by 1 at most: a remainder below 0 shows this, and is
    corrected.
    """
    period = float(element.high - element.low + 1)
    above = x - float(element.low)
    rest = above - floor(above * (1 / period)) * period
    return rest + (rest < 0.0) * period + float(element.low)


def quotient(x: Tensor, y: Tensor) -> Tensor:
    """Return x / y, truncated toward zero; it is undefined where y is 0. In a truncating division of whole numbers as
    reals, a quotient that was rounded up is corrected, as in `wrapped`.
    """
    above, below = absolute(x), absolute(y)
    found = floor(above / below)
    found = found - (above - found * below < 0.0)
    return found * sign(x) * sign(y)


def truncated(x: Tensor) -> Tensor:
    """Return x truncated toward zero to a whole number."""
    return floor(relu(x)) - floor(relu(-x))


def is_not_zero(x: Tensor) -> Tensor:
    """Return 1 for each element that is not 0, else 0."""
    return (x > 0.0) + (x < 0.0)


def product(x: Interval, y: Interval) -> Interval:
    """Return the interval of the products of two intervals."""
    corners = [a * b for a in x for b in y]
    return min(corners), max(corners)


def power(x: Interval, degree: int) -> Interval:
    """Return the interval of x^degree, where the degree is at least 1."""
    ends = [end**degree for end in x]
    return (0 if degree % 2 == 0 and x[0] < 0 < x[1] else min(ends)), max(ends)


def magnitude(*intervals: Interval) -> int:
    """Return the greatest absolute value of a number in the given intervals."""
    return max(max(abs(low), abs(high)) for low, high in intervals)


def exact(low: int, high: int) -> bool:
    """Return whether the executors' reals represent every whole number of the interval exactly."""
    return low >= -EXACT and high <= EXACT


def bounded(elements: int, most: int, what: str) -> int:
    """Return the number of elements of a tensor; raise TypingError, before anything is allocated, if the number is
    above `most`.
    """
    if not 0 <= elements <= most:
        raise TypingError(f"expected at most {most} elements in {what}, found {elements}; use smaller tensors")
    return elements


def numbers(count: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the numbers 0, 1, ..., count - 1."""
    return np.arange(count, dtype=np.float64)

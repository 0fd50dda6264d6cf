"""Arithmetic of whole numbers held as reals: wrapping, division that truncates, casts; exact in integers as well."""

from __future__ import annotations

import numpy as np

from circuitize.circuits.errors import TypingError
from circuitize.frontends.functions import absolute, floor, relu, sign
from circuitize.frontends.tensor import Tensor

from .elements import EXACT, Element

Interval = tuple[int, int]


def wrapped(x: Tensor, element: Element) -> Tensor:
    """Return x modulo 2^bits, in the element's interval.

    The quotient of a reduction modulo 2^bits may be rounded up, by 1 at most: a remainder below 0 shows this, and is
    corrected.
    """
    period = float(element.high - element.low + 1)
    above = x - float(element.low)
    rest = above - floor(above * (1 / period)) * period
    return rest + (rest < 0.0) * period + float(element.low)


def quotient(x: Tensor, y: Tensor) -> Tensor:
    """Return x / y, truncated toward zero; undefined where y is 0. In a truncating division, as in `wrapped`, a
    quotient that was rounded up is corrected.
    """
    above, below = absolute(x), absolute(y)
    found = floor(above / below)
    found = found - (above - found * below < 0.0)
    return found * sign(x) * sign(y)


def truncated(x: Tensor) -> Tensor:
    """Return x without its fraction, truncated toward zero."""
    return floor(relu(x)) - floor(relu(-x))


def is_not_zero(x: Tensor) -> Tensor:
    """Return 1 for each element that is not 0, else 0."""
    return (x > 0.0) + (x < 0.0)


def product(x: Interval, y: Interval) -> Interval:
    """The interval of the products of two intervals."""
    corners = [a * b for a in x for b in y]
    return min(corners), max(corners)


def power(x: Interval, degree: int) -> Interval:
    """The interval of x^degree, where the degree is at least 1."""
    ends = [end**degree for end in x]
    return (0 if degree % 2 == 0 and x[0] < 0 < x[1] else min(ends)), max(ends)


def magnitude(*intervals: Interval) -> int:
    """Return the greatest absolute value in these intervals."""
    return max(max(abs(low), abs(high)) for low, high in intervals)


def exact(low: int, high: int) -> bool:
    """Return whether reals hold every whole number of the interval exactly."""
    return low >= -EXACT and high <= EXACT


def bounded(elements: int, most: int, what: str) -> int:
    """The number of elements; raise TypingError, before anything is allocated, if it is above `most`."""
    if not 0 <= elements <= most:
        raise TypingError(f"expected at most {most} elements in {what}, found {elements}; use smaller tensors")
    return elements


def numbers(count: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return 0, 1, ..., count - 1."""
    return np.arange(count, dtype=np.float64)

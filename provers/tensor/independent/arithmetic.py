"""The extension field as pairs of Python integers: a + b X with X^2 = 7 modulo p = 2^64 - 2^32 + 1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

PRIME = 0xFFFFFFFF00000001
Element = tuple[int, int]
ZERO: Element = (0, 0)
ONE: Element = (1, 0)


def add(x: Element, y: Element) -> Element:
    return (x[0] + y[0]) % PRIME, (x[1] + y[1]) % PRIME


def subtract(x: Element, y: Element) -> Element:
    return (x[0] - y[0]) % PRIME, (x[1] - y[1]) % PRIME


def multiply(x: Element, y: Element) -> Element:
    return (x[0] * y[0] + 7 * x[1] * y[1]) % PRIME, (x[0] * y[1] + x[1] * y[0]) % PRIME


def scale(x: Element, number: int) -> Element:
    return x[0] * number % PRIME, x[1] * number % PRIME


def total(elements: Iterable[Element]) -> Element:
    a = b = 0
    for x, y in elements:
        a, b = a + x, b + y
    return a % PRIME, b % PRIME


def dot(x: Iterable[Element], y: Iterable[Element]) -> Element:
    return total(multiply(a, b) for a, b in zip(x, y, strict=True))


def product(elements: Iterable[Element]) -> Element:
    return reduce(multiply, elements, ONE)


def line(x: Element, y: Element, at: Element) -> Element:
    """The value at `at` of the line through (0, x) and (1, y)."""
    return add(x, multiply(subtract(y, x), at))


def interpolate(claim: Element, message: Sequence[Element], at: Element) -> Element:
    """h(at) for the polynomial with h(0), h(2), h(3), ... as in the message and h(0) + h(1) = claim."""
    values = [message[0], subtract(claim, message[0]), *message[1:]]
    result = ZERO
    for i, value in enumerate(values):
        below, term = 1, value
        for j in range(len(values)):
            if j != i:
                term = multiply(term, subtract(at, (j, 0)))
                below = below * (i - j) % PRIME
        result = add(result, scale(term, pow(below, -1, PRIME)))
    return result


def equality(point: Sequence[Element]) -> list[Element]:
    """eq(point, b) for every b, coordinate 0 belonging to the lowest bit."""
    table = [ONE]
    for r in point:
        other = subtract(ONE, r)
        table = [multiply(entry, other) for entry in table] + [multiply(entry, r) for entry in table]
    return table


def equality_at(point: Sequence[Element], place: int) -> Element:
    """eq(point, b) for the bits b of a place."""
    return product(r if place >> i & 1 else subtract(ONE, r) for i, r in enumerate(point))


def equality_of(x: Sequence[Element], y: Sequence[Element]) -> Element:
    """eq(x, y) = product of x y + (1 - x)(1 - y)."""
    return product(add(multiply(a, b), multiply(subtract(ONE, a), subtract(ONE, b))) for a, b in zip(x, y, strict=True))

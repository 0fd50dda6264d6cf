"""Bisection: the first of many places where two sides of a dispute differ, found with few comparisons."""

from __future__ import annotations

from collections.abc import Callable


def first_difference(length: int, same: Callable[[int], bool]) -> tuple[int | None, int]:
    """Return the first of the places 1 to `length` where two sides differ, or None if they differ nowhere; return also
    the number of places that were compared.

    The function `same` must return true up to some place and false from there on, as for hashes each of which covers
    all earlier ones; about log2(`length`) places are compared.
    """
    if not length or same(length):
        return None, min(length, 1)
    low, high, asked = 0, length, 1
    while high - low > 1:
        middle = (low + high) // 2
        asked += 1
        low, high = (middle, high) if same(middle) else (low, middle)
    return high, asked

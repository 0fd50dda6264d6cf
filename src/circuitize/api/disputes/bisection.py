"""The first of many places where two sides differ, found with few comparisons."""

from __future__ import annotations

from collections.abc import Callable


def first_difference(length: int, same: Callable[[int], bool]) -> tuple[int | None, int]:
    """The first of the places 1 to `length` where two sides differ, None if none does; and the number of places that
    were compared.

    The argument `same` must be true up to some place and false behind it, as for hashes each of which covers the one
    before; log2 of the length plus one places are compared.
    """
    if not length or same(length):
        return None, min(length, 1)
    low, high, asked = 0, length, 1
    while high - low > 1:
        middle = (low + high) // 2
        asked += 1
        low, high = (middle, high) if same(middle) else (low, middle)
    return high, asked

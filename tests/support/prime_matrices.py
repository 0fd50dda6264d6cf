"""Matrices over the Goldilocks field: ranks and solutions, by elimination on arrays of 64-bit words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

PRIME = np.uint64(0xFFFFFFFF00000001)
EPSILON = np.uint64(0xFFFFFFFF)
"""2^64 modulo the prime."""
HALF = np.uint64(32)


def difference(x: Words, y: Words) -> Words:
    """x - y, of numbers below the prime."""
    less: Words = x - y
    made: Words = np.where(x >= y, less, less + PRIME)
    return made


def product(x: Words, y: Words) -> Words:
    """x y: of its 128 bits, 2^64 counts 2^32 - 1 and 2^96 counts -1."""
    x0, x1, y0, y1 = x & EPSILON, x >> HALF, y & EPSILON, y >> HALF
    low = x0 * y0
    middle = x0 * y1 + (low >> HALF)
    other = x1 * y0 + (middle & EPSILON)
    low = (low & EPSILON) | (other << HALF)
    high = x1 * y1 + (middle >> HALF) + (other >> HALF)
    made = low - (high >> HALF)
    made = np.where(low < high >> HALF, made - EPSILON, made)
    added = made + (high & EPSILON) * EPSILON
    added = np.where(added < made, added + EPSILON, added)
    below: Words = np.where(added >= PRIME, added - PRIME, added)
    return below


def echelon(matrix: Words) -> tuple[Words, list[int]]:
    """The reduced row echelon form without rows of zeros, and the columns of its pivots."""
    rows, found = matrix.copy(), 0
    columns: list[int] = []
    for column in range(rows.shape[1]):
        filled = np.flatnonzero(rows[:, column])
        below = filled[filled >= found]
        if not below.size:
            continue
        rows[[found, below[0]]] = rows[[below[0], found]]
        inverse = np.array(pow(int(rows[found, column]), -1, int(PRIME)), np.uint64)
        place = column + np.flatnonzero(rows[found, column:])
        rows[found, place] = product(rows[found, place], inverse)
        changed = np.flatnonzero(rows[:, column])
        changed = changed[changed != found]
        own = product(rows[changed, column][:, None], rows[found, place][None, :])
        rows[np.ix_(changed, place)] = difference(rows[np.ix_(changed, place)], own)
        columns.append(column)
        found += 1
    return rows[:found], columns


def rank(matrix: Words) -> int:
    return len(echelon(matrix)[1])


def solution(matrix: Words, wanted: Words) -> Words | None:
    """Some x with matrix x = wanted, None where there is none."""
    rows, columns = echelon(np.column_stack([matrix, wanted]))
    found = np.zeros(matrix.shape[1], np.uint64)
    if matrix.shape[1] in columns:
        return None
    found[columns] = rows[:, -1]
    return found

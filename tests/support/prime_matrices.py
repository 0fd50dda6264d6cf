"""Matrices over the Goldilocks field: ranks and solutions, by elimination on arrays of 64-bit words."""

from __future__ import annotations

import numpy as np
from independent_verifier import goldilocks
from numpy.typing import NDArray

Words = NDArray[np.uint64]

PRIME = np.uint64(goldilocks.PRIME)
difference, product = goldilocks.minus, goldilocks.times


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

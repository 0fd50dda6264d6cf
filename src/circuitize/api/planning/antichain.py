"""Antichains: the minimal vectors of a set, if a vector is better the less it has in every coordinate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float64]


def minimal(vectors: Vectors) -> list[int]:
    """Return the indices of the minimal vectors in an array `vectors` of shape [count, coordinates]; of equal vectors
    only the first counts as minimal.

    The returned indices are ordered by the coordinates of their vectors, ascending, with the first coordinate compared
    first. Finding the minimal vectors takes time O(count log count + count * number of minimal vectors).
    """
    order = np.lexsort((np.arange(len(vectors)), *vectors.T[::-1]))
    kept = np.empty((0, vectors.shape[1]))
    places: list[int] = []
    for place in order.tolist():
        if not covered(vectors[place], kept):
            kept = np.vstack([kept, vectors[place]])
            places.append(place)
    return places


def covered(vector: Sequence[float] | Vectors, others: Vectors) -> bool:
    """Return whether an array of vectors, of shape [count, coordinates], has one that is at most a given vector in
    every coordinate.
    """
    return bool((others <= vector).all(axis=1).any())

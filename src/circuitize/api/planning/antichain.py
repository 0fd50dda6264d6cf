"""Antichains: the minimal elements of sets of vectors, where less is better in every coordinate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float64]


def minimal(vectors: Vectors) -> list[int]:
    """The indices of the minimal vectors among `vectors`, [count, coordinates]; of equal vectors the first counts.

    The indices of minimal vectors are in ascending order of the coordinates, the first coordinate first. Finding the
    minimal points takes time O(count log count + count * minimal ones).
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
    """Whether one of some other vectors, [count, coordinates], is at most a given vector in every coordinate."""
    return bool((others <= vector).all(axis=1).any())

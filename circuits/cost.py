"""The cost of a program for no particular target: the number of products of two numbers that its operations contain."""

from __future__ import annotations

import math

from .hypergraph import Arrow
from .integers import Contract, Multiply


def products(arrow: Arrow) -> int:
    """Return the number of products of two numbers in an integer arrow: those of each contraction and of each
    elementwise product of two arrays.

    The time to count products is linear in the number of operations, whatever their sizes.
    """
    total = 0
    for edge in arrow.edges():
        shapes = [arrow.type(wire).shape for wire in edge.sources]
        if isinstance(edge.operation, Contract):
            extents: dict[str, int] = {}
            for letters, shape in zip(edge.operation.letters, shapes, strict=False):
                extents |= dict(zip(letters, shape, strict=True))
            total += math.prod(extents.values())
        elif isinstance(edge.operation, Multiply):
            total += math.prod(shapes[0])
    return total

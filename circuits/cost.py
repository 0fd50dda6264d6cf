"""The cost of a program whatever the target: the number of products that its operations name."""

from __future__ import annotations

import math

from .hypergraph import Arrow
from .integers import Contract, Multiply


def products(arrow: Arrow) -> int:
    """The number of products in an integer arrow, written out: those of each contraction and of each product of two
    arrays.

    Counting is linear in the operations, whatever their sizes.
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

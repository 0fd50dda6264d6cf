"""The indicator of an integer in an R1CS circuit: a tree over the integer's bits, with about one row for each value
that the integer can have.
"""

from __future__ import annotations

import numpy as np

from circuitize.circuits.types import Fixed

from ...forms import LinearForms, stack, wires
from ...values import Indicators
from ..system import Order
from .assembly import Assembly, Handle, ones
from .lookup import index_bits, single_bit


def one_hot(assembly: Assembly, index: Handle, size: int) -> Handle:
    """Return forms, along a new last axis of `size`, that are 1 at place k if the index is k and 0 otherwise; the type
    of the index restricts it to [0, size).

    The tree of an indicator takes the bits of the index from the top: if e says whether the bits so far spell q, and b
    is the next bit, then e * b says whether they spell 2q + 1, and e - e * b says whether they spell 2q. A product in
    the tree of an indicator is left out if only 2q can still lead to numbers below `size`, and at the top, where e = 1.

    Soundness: every wire in the tree of an indicator is the third entry of a row of bits and earlier wires; the index
    has a single binary expansion, and its type excludes expansions at or above `size`, so that e itself is the
    indicator of 2q if only 2q is possible.
    """
    count = len(index.forms)
    width = (size - 1).bit_length()
    nodes = {0: ones(count)}
    bits = index_bits(assembly, index, 0, width) if width else None
    for place in reversed(range(width)):
        assert bits is not None
        bit = single_bit(assembly, bits, place, index.value, 0)
        split = [q for q in nodes if (2 * q + 1) << place < size]
        if place == width - 1:
            upper = {0: bit}
        else:
            children = tuple(2 * q + 1 for q in split)
            content = Indicators(index.value, place, children)
            first = assembly.wires(content, count * len(split), "one-hot", (count, len(split)))
            made = wires(first, count * len(split))
            parents = alternate([nodes[q] for q in split])
            repeated = bit.gather(np.repeat(np.arange(count), len(split)))
            assembly.rows(parents, repeated, made, "one-hot", Order(count, len(split)))
            upper = {q: made.gather(np.arange(count) * len(split) + i) for i, q in enumerate(split)}
        following = {}
        for q, node in nodes.items():
            following[2 * q] = node - upper[q] if q in upper else node
            if q in upper:
                following[2 * q + 1] = upper[q]
        nodes = following
    type = Fixed((*index.type.shape, size), 0, 0, 1)
    return Handle(alternate(list(nodes.values())), Indicators(index.value, 0, tuple(range(size))), type)


def alternate(parts: list[LinearForms]) -> LinearForms:
    """Return element 0 of every part, then element 1 of every part, and so on, in one list."""
    count = len(parts[0])
    return stack(parts).gather(np.arange(count * len(parts)).reshape(len(parts), count).T.reshape(-1))

"""Weights that no step changes: which groups they form, and how often the root of each may be opened."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from circuitize.circuits.port import Port
from circuitize.circuits.types import Fixed

from .blocks import blocks, padded

MOST = (1 << 26) - (1 << 20)
"""The most elements of a group of several tensors: more elements, with room for openings, would need challenges of a
degree above 2.
"""

OPENING = 1 << 12
"""The most random words that one opening of a frozen root uses up: one of 16 limbs for each of 256 queries, as many as
at rate 1/2.
"""

LEAST_OPENINGS = 4
MOST_OPENINGS = 1 << 16
LEAST_SIZE = 1 << 8

Ports = Sequence[Port[Fixed]]


def parts(ports: Ports) -> list[list[Port[Fixed]]]:
    """Frozen ports by group, in as few groups as possible: the largest tensors first, each into the group that is
    smallest so far.

    The names and shapes of frozen ports alone decide their groups, whatever the order of the ports. No group of several
    tensors has more than MOST elements.
    """
    ordered = sorted(ports, key=lambda port: (-size([port]), port.name))
    for groups in count(1):
        found: list[list[Port[Fixed]]] = [[] for _ in range(min(groups, len(ordered)))]
        sizes = [0] * len(found)
        for port in ordered:
            place = sizes.index(min(sizes))
            found[place].append(port)
            sizes[place] += size([port])
        if all(own <= MOST or len(group) == 1 for own, group in zip(sizes, found, strict=True)):
            return found
    raise AssertionError("a group for each port is enough")


def size(ports: Ports) -> int:
    """Return the number of elements of tensors in a table: blocks are padded, and since large ones come first there are
    no gaps between them.
    """
    return sum(sum(padded(block.shape) for block in blocks(port.format.shape)) for port in ports)


def openings(elements: int) -> int:
    """Return how often the root of a frozen group of `elements` elements may be opened: as often as its table has room
    for random words without growing.

    Privacy: each opening of a frozen root tells at most OPENING / 16 points of each of 16 limbs
    (docs/zero-knowledge.md).
    """
    table = max(LEAST_SIZE, 1 << (elements + LEAST_OPENINGS * OPENING - 1).bit_length())
    return min(MOST_OPENINGS, (table - elements) // OPENING)

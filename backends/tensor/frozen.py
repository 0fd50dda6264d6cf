"""The groups of frozen weights, which no step changes, and how often the root of each group may be opened."""

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
    """Return the frozen ports of each group, with as few groups as possible: the largest tensors come first, and each
    is put into the group that is smallest so far.

    The groups of frozen ports depend only on the ports' names and shapes, and not on their order. A group with several
    tensors has at most MOST elements.
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
    """Return the number of elements that tensors take in a table, with padded blocks; since large blocks come first,
    there are no gaps between them.
    """
    return sum(sum(padded(block.shape) for block in blocks(port.format.shape)) for port in ports)


def openings(elements: int) -> int:
    """Return how often the root of a frozen group with `elements` elements may be opened: as often as its table has
    room for random words without growing.

    Privacy: each opening of a frozen root discloses at most OPENING / 16 points of each of 16 limbs
    (docs/zero-knowledge.md).
    """
    table = max(LEAST_SIZE, 1 << (elements + LEAST_OPENINGS * OPENING - 1).bit_length())
    return min(MOST_OPENINGS, (table - elements) // OPENING)

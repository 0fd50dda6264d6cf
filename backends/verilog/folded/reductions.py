"""Reductions as tables: for each target element, the source elements that it is made of."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.integers import Contract, Sum
from circuitize.circuits.types import Fixed, Shape

Indices = NDArray[np.int64]


def contract_tables(operation: Contract, formats: list[Fixed], lead: int) -> list[tuple[Indices, Indices]]:
    """For each operand (rows, terms): target element q and term k read the flat source index rows[q] + terms[k].

    Terms are in the order in which the operand `lead` lies in memory, as far as it goes.
    """
    extents = operation.extents(*formats)
    target = operation.letters[2]
    places = operation.letters[lead]
    summed = sorted(operation.summed, key=places.find)
    return [
        (_flat(letters, target, extents), _flat(letters, "".join(summed), extents)) for letters in operation.letters[:2]
    ]


def _flat(letters: str, loops: str, extents: dict[str, int]) -> Indices:
    """What the loops, the last one fastest, add to the flat index of an array with these axes."""
    made = np.zeros(1, np.int64)
    for letter in loops:
        place = letters.find(letter)
        stride = math.prod(extents[other] for other in letters[place + 1 :]) if place >= 0 else 0
        made = (made[:, None] + stride * np.arange(extents[letter])).reshape(-1)
    return made


def sum_table(operation: Sum) -> tuple[Indices, bool]:
    """For each target element the source elements summed, -1 past the last, and whether each source element is in it.

    The second is true only where all rows are of one length.
    """
    view = operation.view
    read = view.indices().reshape(-1)
    count = math.prod(view.source_shape)
    inside = np.flatnonzero(read >= 0)
    order = inside[np.argsort(read[inside], kind="stable")]
    targets = read[order]
    lengths = np.bincount(targets, minlength=count)
    table = np.full((count, max(1, int(lengths.max()))), -1, np.int64)
    starts = np.cumsum(lengths) - lengths
    table[targets, np.arange(len(targets)) - starts[targets]] = order
    return table, len(inside) == len(read) and bool((table >= 0).all())


def argmax_table(shape: Shape, axis: int) -> Indices:
    """For each target element the flat source elements along the axis."""
    flat = np.arange(math.prod(shape), dtype=np.int64).reshape(shape)
    return np.moveaxis(flat, axis, -1).reshape(-1, shape[axis])

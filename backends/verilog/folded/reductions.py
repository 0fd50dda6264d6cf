"""Reductions as tables, which list for each target element the source elements that it is made of."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.integers import Contract, Sum
from circuitize.circuits.types import Fixed, Shape

Indices = NDArray[np.int64]


def contract_tables(operation: Contract, formats: list[Fixed], lead: int) -> list[tuple[Indices, Indices]]:
    """Return two tables (rows, terms) for each operand of a Contract: target element q and term k read the operand at
    flat index rows[q] + terms[k].

    Terms are, as far as possible, in the order in which the operand of number `lead` lies in memory.
    """
    extents = operation.extents(*formats)
    target = operation.letters[2]
    places = operation.letters[lead]
    summed = sorted(operation.summed, key=places.find)
    return [
        (_flat(letters, target, extents), _flat(letters, "".join(summed), extents)) for letters in operation.letters[:2]
    ]


def _flat(letters: str, loops: str, extents: dict[str, int]) -> Indices:
    """Return the flat indices that nested loops over the axes in `loops`, the last one fastest, read in an array with
    the axes in `letters`; an axis that the array lacks adds 0.
    """
    made = np.zeros(1, np.int64)
    for letter in loops:
        place = letters.find(letter)
        stride = math.prod(extents[other] for other in letters[place + 1 :]) if place >= 0 else 0
        made = (made[:, None] + stride * np.arange(extents[letter])).reshape(-1)
    return made


def sum_table(operation: Sum) -> tuple[Indices, bool]:
    """Return for each target element of a Sum a row of the source elements that it adds up, padded with -1, and whether
    all source elements are used and all rows have equal length.
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
    """Return for each target element of an ArgMax the flat indices of the source elements along the axis."""
    flat = np.arange(math.prod(shape), dtype=np.int64).reshape(shape)
    return np.moveaxis(flat, axis, -1).reshape(-1, shape[axis])

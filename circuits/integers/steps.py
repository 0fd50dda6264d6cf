"""The two kinds of step that a view is made of: regrouping axes, and affine maps of indices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.array_module import array_module
from circuitize.circuits.parts import part
from circuitize.circuits.types import Shape

Indices = NDArray[np.int64]


@part
@dataclass(frozen=True)
class Regroup:
    """A split or a merge of axes: the same elements in the same order, last axis fastest, in another shape."""

    shape: Shape


@part
@dataclass(frozen=True)
class Affine:
    """An affine step of a view: target index p reads the source element whose index is x_i = offsets[i] + sum over j of
    strides[i][j] * p_j.

    The `shape` of an affine step is its target's; each source axis has one offset and one row of strides. A target
    element whose source index lies outside the source reads 0.
    """

    shape: Shape
    offsets: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]

    def span(self, axis: int) -> tuple[int, int]:
        """Return the least and the greatest index x along a source axis."""
        moves = [stride * (extent - 1) for stride, extent in zip(self.strides[axis], self.shape, strict=True)]
        start = self.offsets[axis]
        return start + sum(move for move in moves if move < 0), start + sum(move for move in moves if move > 0)

    def is_inside(self, source: Shape) -> bool:
        """Return whether every target index reads inside the source."""
        spans = map(self.span, range(len(source)))
        return all(low >= 0 and high < extent for (low, high), extent in zip(spans, source, strict=True))

    def is_regroup(self, source: Shape) -> bool:
        """Return whether a step of a view only adds and removes axes of extent 1."""
        if any(self.offsets):
            return False
        columns = [axis for axis, extent in enumerate(self.shape) if extent > 1]
        if [extent for extent in source if extent > 1] != [self.shape[axis] for axis in columns]:
            return False
        own = iter(columns)
        moves = [next(own) if extent > 1 else None for extent in source]
        return all(
            row[axis] == (axis == move) for row, move in zip(self.strides, moves, strict=True) for axis in columns
        )

    def columns(self) -> list[list[int]]:
        """Return for each target axis those source axes whose index depends on the target axis."""
        return [[i for i, row in enumerate(self.strides) if row[j]] for j in range(len(self.shape))]


Step = Regroup | Affine


def locate(step: Affine, source: Shape, flat: Indices) -> Indices:
    """Return the flat source indices that flat target indices read, -1 for those outside the source."""
    module = array_module(flat)
    coordinates = module.unravel_index(flat, step.shape) if step.shape else ()
    found = module.zeros(flat.shape, np.int64)
    inside = module.ones(flat.shape, bool)
    for extent, offset, row in zip(source, step.offsets, step.strides, strict=True):
        moves = (stride * p for stride, p in zip(row, coordinates, strict=True) if stride)
        x = sum(moves, module.full(flat.shape, offset, np.int64))
        found = found * extent + x
        inside = inside & (x >= 0) & (x < extent)
    located: Indices = module.where(inside, found, -1)
    return located


@lru_cache(1 << 14)
def fibre_sizes(step: Affine, source: Shape) -> tuple[int, int, bool, bool] | None:
    """Return the least and the greatest number of target elements that read one source element, whether some target
    element reads outside the source, and whether some reads inside; None unless each target axis moves at most one
    source axis.
    """
    columns = step.columns()
    if any(len(moved) > 1 for moved in columns):
        return None
    least = greatest = reached = math.prod(n for n, moved in zip(step.shape, columns, strict=True) if not moved)
    for i, extent in enumerate(source):
        x = np.array(step.offsets[i], np.int64)
        for stride, n in zip(step.strides[i], step.shape, strict=True):
            if stride:
                x = x[..., np.newaxis] + stride * np.arange(n)
        inside = x[(x >= 0) & (x < extent)].reshape(-1)
        counts = np.bincount(inside, minlength=extent)
        least, greatest, reached = least * int(counts.min()), greatest * int(counts.max()), reached * len(inside)
    return least, greatest, reached < math.prod(step.shape), reached > 0

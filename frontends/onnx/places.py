"""Elements at known places, and padding, for operators that move elements and for those that slide windows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from circuitize.circuits import arrays
from circuitize.circuits.errors import TypingError
from circuitize.frontends.functions import gather
from circuitize.frontends.indexing import Index
from circuitize.frontends.tensor import Tensor

from .elements import Known
from .model import MOST
from .whole import bounded

PIECES = 64
"""The most progressions for which places are read as wiring."""
LARGEST_MATRIX = 1 << 22
"""The most elements of a known matrix that represents places."""


def pick(x: Tensor, axis: int, places: Known) -> Tensor:
    """Return the elements of an axis at known indices, whose axes replace that axis; negative indices count from the
    end.

    Known indices that form few arithmetic progressions become wiring; other known indices become sums with one term
    each.
    """
    extent = x.shape[axis]
    if places.size and not -extent <= int(places.min()) <= int(places.max()) < extent:
        found = f"{int(places.min())} to {int(places.max())}"
        raise TypingError(f"expected places from {-extent} to {extent - 1}, found {found}; correct the indices")
    places = np.where(places < 0, places + extent, places)
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    bounded(math.prod((*before, *places.shape, *after)), MOST, "the elements at some places")
    flat = places.reshape(-1).astype(np.int64)
    times = _times(flat)
    lone = flat[::times]
    if len(lone) > PIECES and progressions(lone) > PIECES:
        if len(lone) * extent > LARGEST_MATRIX:
            return gather(x, x.constant(places.astype(np.float64)), axis)
        return combined(x, axis, np.eye(extent)[flat]).reshape(*before, *places.shape, *after)
    index: list[Index] = [slice(None)] * x.ndim
    index[axis] = lone
    taken = x[tuple(index)]
    if times > 1:
        taken = taken.reshape(*before, len(lone), 1, *after).broadcast((*before, len(lone), times, *after))
    return taken.reshape(*before, *places.shape, *after)


def combined(x: Tensor, axis: int, matrix: Known) -> Tensor:
    """Return x with the elements of an axis replaced by sums of the old elements with known weights: `matrix` has a row
    for each new element.
    """
    last = x.ndim - 1
    turned = x if axis == last else x.transpose(*range(axis), *range(axis + 1, x.ndim), axis)
    made = turned @ np.ascontiguousarray(matrix.T)
    return made if axis == last else made.transpose(*range(axis), last, *range(axis, last))


def weighed(x: Tensor, axis: int, matrix: Known) -> Tensor:
    """Return what `combined` returns; if few elements have weights, and the places of these elements form few
    arithmetic progressions, the elements are picked and scaled.
    """
    order = np.argsort(matrix == 0.0, axis=1, kind="stable")
    most = int(np.count_nonzero(matrix, axis=1).max(initial=1))
    chosen = [order[:, tap] for tap in range(max(most, 1))]
    if sum(progressions(places[:: _times(places)]) for places in chosen) > PIECES:
        return combined(x, axis, matrix)
    shape = (-1, *[1] * (x.ndim - axis - 1))
    total = None
    for places in chosen:
        weights = matrix[np.arange(len(matrix)), places]
        part = pick(x, axis, places)
        part = part if (weights == 1.0).all() else part * weights.reshape(shape)
        total = part if total is None else total + part
    assert total is not None
    return total


def _times(places: Known) -> int:
    """Return the greatest number such that a list of places is a shorter list with each place repeated so often."""
    changes = np.flatnonzero(np.diff(places)) + 1
    times = int(np.gcd.reduce(changes, initial=len(places))) if len(places) else 1
    return max(times, 1)


def progressions(places: Known) -> int:
    """Return a bound on the number of arithmetic progressions into which places fall."""
    return 1 + int(np.count_nonzero(np.diff(places, 2)))


def pad(x: Tensor, before: Sequence[int], after: Sequence[int], value: float = 0.0) -> Tensor:
    """Return x padded with elements before and after each axis, all of one value; a negative number of elements cuts
    x.
    """
    starts = [max(-b, 0) for b in before]
    stops = [extent - max(-a, 0) for extent, a in zip(x.shape, after, strict=True)]
    if any(start >= stop for start, stop in zip(starts, stops, strict=True)):
        found = f"{list(before)} and {list(after)}"
        raise TypingError(f"expected pads that leave elements of {list(x.shape)}, found {found}; cut less")
    if (starts, stops) != ([0] * x.ndim, list(x.shape)):
        x = x.apply(arrays.Slice(tuple(starts), tuple(stops)))
    wide = arrays.Pad(tuple(max(b, 0) for b in before), tuple(max(a, 0) for a in after))
    if not any((*wide.before, *wide.after)):
        return x
    extents = [b + extent + a for b, extent, a in zip(wide.before, x.shape, wide.after, strict=True)]
    bounded(math.prod(extents), MOST, "a padded tensor")
    # Zeros, and the value added to where they are.
    padded = x.apply(wide)
    if not value:
        return padded
    inside = np.pad(np.zeros(x.shape), list(zip(wide.before, wide.after, strict=True)), constant_values=value)
    return padded + inside

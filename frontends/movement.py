"""Functions of traced tensors that move elements: flip, stack, split, tile, strided slices, elements at indices."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from circuitize.circuits import arrays
from circuitize.circuits.errors import TypingError

from .functions import concatenate, einsum
from .indexing import progression
from .tensor import Tensor, axis_of

LETTERS = "abcdefghijklmnop"


def flip(x: Tensor, *axes: int) -> Tensor:
    """Return the tensor with the given axes reversed."""
    return x.apply(arrays.Flip(tuple(axis_of(x, axis) for axis in axes)))


def stack(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Return tensors of one shape joined along a new axis."""
    at = axis % (tensors[0].ndim + 1)
    return concatenate([x.reshape(*x.shape[:at], 1, *x.shape[at:]) for x in tensors], at)


def split(x: Tensor, parts: int | Sequence[int], axis: int = 0) -> list[Tensor]:
    """Return consecutive pieces of an axis: `parts` pieces of equal extent, or pieces of the extents given, which must
    add up to the axis's.
    """
    at = axis_of(x, axis)
    extent = x.shape[at]
    if isinstance(parts, int):
        if parts < 1 or extent % parts:
            raise TypingError(f"expected a number of parts that divides {extent}, found {parts}; give their extents")
        parts = [extent // parts] * parts
    if sum(parts) != extent or min(parts) < 1:
        raise TypingError(f"expected positive extents that add up to {extent}, found {list(parts)}; correct them")
    ends = np.cumsum([0, *parts]).tolist()
    return [take(x, at, start, stop) for start, stop in pairwise(ends)]


def tile(x: Tensor, repeats: Sequence[int]) -> Tensor:
    """Return the whole array repeated along each axis, with one number of repeats per axis."""
    if len(repeats) != x.ndim or min(repeats, default=1) < 1:
        raise TypingError(f"expected a number of repeats per axis of {list(x.shape)}, found {list(repeats)}")
    spread = tuple(n for pair in zip(repeats, x.shape, strict=True) for n in pair)
    copied = x.apply(arrays.Broadcast(spread, tuple(range(0, 2 * x.ndim, 2))))
    return copied.reshape(*[n * extent for n, extent in zip(repeats, x.shape, strict=True)])


def take(x: Tensor, axis: int, start: int, stop: int, step: int = 1) -> Tensor:
    """Return the elements start, start + step, ... before stop of one axis: those of Python's slice, for any step but
    0.
    """
    at = axis_of(x, axis)
    places = range(*slice(start, stop, step).indices(x.shape[at]))
    if not places:
        raise TypingError(
            f"expected a slice with elements of axis {at} of {list(x.shape)}, found {start}:{stop}:{step}"
        )
    return progression(x, at, places)


def strided(x: Tensor, *slices: slice) -> Tensor:
    """Return the elements that numpy's basic slices, of any step, choose along the first axes."""
    for axis, one in enumerate(slices):
        places = range(*one.indices(x.shape[axis]))
        if not places:
            raise TypingError(f"expected a slice with elements of axis {axis} of {list(x.shape)}, found {one}")
        x = progression(x, axis, places)
    return x


def gather_elements(x: Tensor, indices: Tensor, axis: int = 0) -> Tensor:
    """Return the elements y[a, i, b] = x[a, indices[a, i, b], b], where each element is read at its own index along one
    axis.

    The indices of `gather_elements` have the extents of x along every axis but the given one. Indices are whole
    numbers; `gather_elements` is undefined for an index outside the axis.
    """
    at = axis_of(x, axis)
    letters = LETTERS[: x.ndim]
    hot = indices.apply(arrays.OneHot(x.shape[at]))
    source = letters.replace(letters[at], "z")
    return einsum(f"{letters}z,{source}->{letters}", hot, x)

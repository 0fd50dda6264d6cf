"""Views, and the sums that are their adjoints, by operations that XLA fuses: padding, slices, transposes,
broadcasts.
"""

from __future__ import annotations

import math
from operator import mul

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from circuitize.circuits.integers import Affine, Regroup, View
from circuitize.circuits.types import Shape

MOST_PARTS = 64
"""The most places of a window that are added one after the other; a longer window is scattered."""


def gather(view: View, array: jax.Array) -> jax.Array:
    """Return the elements that a view gathers: y[p] = x[f(p)], and 0 for each p whose f(p) is outside x."""
    if not all(map(_is_simple, *_steps(view))):
        return jnp.asarray(view.gather(array))  # type: ignore[arg-type]  # an array of another module
    for step in view.steps:
        array = array.reshape(step.shape) if isinstance(step, Regroup) else _gathered(step, array)
    return array


def scatter(view: View, array: jax.Array) -> jax.Array:
    """Return the adjoint of a view: the sums y[q] = sum of x[p] over the p with f(p) = q, in the width of the array."""
    steps, sources = _steps(view)
    if not all(map(_is_simple, steps, sources)) or not all(map(_is_short, steps)):
        return jnp.asarray(view.scatter(array))  # type: ignore[arg-type]  # an array of another module
    for step, source in zip(reversed(steps), reversed(sources), strict=True):
        array = array.reshape(source) if isinstance(step, Regroup) else _scattered(step, source, array)
    return array


def _steps(view: View) -> tuple[list[Affine | Regroup], list[Shape]]:
    shapes = [view.source_shape, *(step.shape for step in view.steps)]
    return list(view.steps), shapes[: len(view.steps)]


def _is_simple(step: Affine | Regroup, source: Shape) -> bool:
    """Return whether, in a step of a view, each target axis moves at most one source axis, and the box of indices that
    is read is not much larger than the source.
    """
    if isinstance(step, Regroup):
        return True
    reach = math.prod(high - low + 1 for low, high in map(step.span, range(len(source))))
    sparse = reach > 4 * max(math.prod(step.shape), math.prod(source)) + 4096
    return not sparse and all(len(moved) <= 1 for moved in step.columns())


def _is_short(step: Affine | Regroup) -> bool:
    if isinstance(step, Regroup):
        return True
    return all(math.prod(sorted(step.shape[j] for j in _movers(row))[:-1]) <= MOST_PARTS for row in step.strides)


def _movers(row: tuple[int, ...]) -> list[int]:
    """Return the target axes on which a source axis's index depends."""
    return [axis for axis, stride in enumerate(row) if stride]


def _gathered(step: Affine, array: jax.Array) -> jax.Array:
    """Return a step of a view applied to an array: the box of indices that is read is cut out, then each source axis
    becomes the target axes that move it.
    """
    source = array.shape
    spans = [step.span(axis) for axis in range(len(source))]
    edges = [(-low, high + 1 - extent, 0) for (low, high), extent in zip(spans, source, strict=True)]
    if any(low or high for low, high, _ in edges):
        array = lax.pad(array, array.dtype.type(0), edges)
    order: list[int] = []
    for (low, _), offset, row in zip(spans, step.offsets, step.strides, strict=True):
        movers, at = _movers(row), len(order)
        order += movers
        array = _moved(array, at, offset - low, [row[axis] for axis in movers], [step.shape[axis] for axis in movers])
    ranks = np.argsort(order)
    array = array.transpose(ranks.tolist())
    return lax.broadcast_in_dim(array, step.shape, sorted(order))


def _moved(array: jax.Array, at: int, first: int, strides: list[int], sizes: list[int]) -> jax.Array:
    """Return an array with one axis replaced by axes of the given strides and sizes, which begin at one place of that
    axis: the longest new axis is a slice, and the others take one slice for each place, or all are read by index if
    there are many places.
    """
    if not strides:
        return lax.squeeze(array, (at,))
    longest = max(range(len(sizes)), key=sizes.__getitem__)
    others = [1 if k == longest else size for k, size in enumerate(sizes)]
    if math.prod(others) > MOST_PARTS:
        along = np.ix_(*(stride * np.arange(size) for stride, size in zip(strides, sizes, strict=True)))
        return jnp.take(array, first + sum(along), axis=at, mode="clip")
    parts = [
        _slice(array, at, first + sum(map(mul, strides, places)), strides[longest], sizes[longest])
        for places in np.ndindex(*others)
    ]
    if len(parts) == 1:
        return parts[0].reshape((*array.shape[:at], *sizes, *array.shape[at + 1 :]))
    stacked = jnp.stack(parts, at).reshape((*array.shape[:at], *others, sizes[longest], *array.shape[at + 1 :]))
    return jnp.moveaxis(stacked, at + len(sizes), at + longest).squeeze(at + longest + 1)


def _slice(array: jax.Array, at: int, first: int, stride: int, size: int) -> jax.Array:
    """Return a slice of an array: the `size` places of an axis from `first` on."""
    last = first + stride * (size - 1)
    cut = lax.slice_in_dim(array, min(first, last), max(first, last) + 1, abs(stride), at)
    return lax.rev(cut, (at,)) if stride < 0 else cut


def _scattered(step: Affine, source: Shape, array: jax.Array) -> jax.Array:
    """Return the adjoint of a view's step: the axes that move no source axis are summed, and those that move a source
    axis are added into that axis.
    """
    moving = [_movers(row) for row in step.strides]
    order = [axis for movers in moving for axis in movers]
    free = tuple(axis for axis in range(len(step.shape)) if axis not in order)
    if free:
        array = array.sum(free, dtype=array.dtype)
    kept = [axis for axis in range(len(step.shape)) if axis in order]
    array = array.transpose([kept.index(axis) for axis in order])
    for at, (extent, offset, row, movers) in enumerate(zip(source, step.offsets, step.strides, moving, strict=True)):
        array = _into(array, at, extent, offset, [row[axis] for axis in movers])
    return array


def _into(array: jax.Array, at: int, extent: int, offset: int, strides: list[int]) -> jax.Array:
    """Return an array with one axis of `extent` in place of its axes from `at` on: place p goes to offset + strides .
    p.

    Of axes that are merged, the longest is spread at once; the places of the other axes are added one by one.
    """
    sizes = array.shape[at : at + len(strides)]
    longest = max(range(len(strides)), key=lambda k: sizes[k], default=None)
    if longest is None:
        return _spread(array[(slice(None),) * at + (None,)], at, extent, offset, 1)
    total = None
    for places in np.ndindex(*(1 if k == longest else size for k, size in enumerate(sizes))):
        index = tuple(slice(None) if k == longest else place for k, place in enumerate(places))
        moved = offset + sum(stride * place for stride, place in zip(strides, places, strict=True))
        part = _spread(array[(slice(None),) * at + index], at, extent, moved, strides[longest])
        total = part if total is None else total + part
    assert total is not None
    return total


def _spread(array: jax.Array, at: int, extent: int, offset: int, stride: int) -> jax.Array:
    """Return an array with place p of an axis put at offset + stride * p of an axis of `extent`, with zeros between;
    places outside that axis are lost.
    """
    if stride < 0:
        array, offset, stride = lax.rev(array, (at,)), offset + stride * (array.shape[at] - 1), -stride
    last = offset + stride * (array.shape[at] - 1)
    edges = [(0, 0, 0)] * array.ndim
    edges[at] = (offset, extent - 1 - last, stride - 1)
    return lax.pad(array, array.dtype.type(0), edges)

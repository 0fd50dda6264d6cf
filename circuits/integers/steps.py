"""The two kinds of step that a view is made of: regrouping axes, and affine maps of indices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from circuitize.circuits.array_module import add_at, array_module
from circuitize.circuits.types import Shape

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Regroup:
    """Axis splits and merges: the same elements in the same order, last axis fastest, in another shape."""

    shape: Shape


@dataclass(frozen=True)
class Affine:
    """Target index p reads source index x with x_i = offsets[i] + sum over j of strides[i][j] * p_j.

    `shape` is the target's; there is one offset and one row of strides per source axis. Outside the source reads 0.
    """

    shape: Shape
    offsets: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]

    def span(self, axis: int) -> tuple[int, int]:
        """The least and the greatest x along a source axis."""
        moves = [stride * (extent - 1) for stride, extent in zip(self.strides[axis], self.shape, strict=True)]
        start = self.offsets[axis]
        return start + sum(move for move in moves if move < 0), start + sum(move for move in moves if move > 0)

    def is_inside(self, source: Shape) -> bool:
        """Whether every target index reads inside the source."""
        spans = map(self.span, range(len(source)))
        return all(low >= 0 and high < extent for (low, high), extent in zip(spans, source, strict=True))

    def is_regroup(self, source: Shape) -> bool:
        """Whether this only adds and removes axes of extent 1."""
        if any(self.offsets):
            return False
        rows = [row for row, extent in zip(self.strides, source, strict=True) if extent > 1]
        columns = [axis for axis, extent in enumerate(self.shape) if extent > 1]
        return [extent for extent in source if extent > 1] == [self.shape[axis] for axis in columns] and all(
            row[axis] == (axis == own) for row, own in zip(rows, columns, strict=True) for axis in columns
        )

    def columns(self) -> list[list[int]]:
        """For each target axis, the source axes that it moves."""
        return [[i for i, row in enumerate(self.strides) if row[j]] for j in range(len(self.shape))]


Step = Regroup | Affine


def locate(step: Affine, source: Shape, flat: Indices) -> Indices:
    """Flat source indices of flat target indices, -1 outside."""
    module = array_module(flat)
    coordinates = module.unravel_index(flat, step.shape) if step.shape else ()
    found = module.zeros(flat.shape, np.int64)
    inside = module.ones(flat.shape, bool)
    for extent, offset, row in zip(source, step.offsets, step.strides, strict=True):
        x = module.full(flat.shape, offset, np.int64)
        for stride, p in zip(row, coordinates, strict=True):
            if stride:
                x += stride * p
        found = found * extent + x
        inside &= (x >= 0) & (x < extent)
    located: Indices = module.where(inside, found, -1)
    return located


def gather(step: Affine, array: NDArray[Any]) -> NDArray[Any]:
    """The step's target on a source array: a strided window onto it, zeros added around it first where needed."""
    module = array_module(array)
    spans = [step.span(axis) for axis in range(array.ndim)]
    origin = step.offsets
    if not step.is_inside(array.shape):
        reach = tuple(high - low + 1 for low, high in spans)
        if math.prod(reach) > 4 * max(math.prod(step.shape), array.size) + 4096:
            flat = locate(step, array.shape, module.arange(math.prod(step.shape)))
            taken: NDArray[Any] = array.reshape(-1)[module.maximum(flat, 0)]
            taken[flat < 0] = 0
            return taken.reshape(step.shape)
        around = module.zeros(reach, array.dtype)
        own = [(max(low, 0), min(high + 1, extent)) for (low, high), extent in zip(spans, array.shape, strict=True)]
        if all(start < stop for start, stop in own):
            place = tuple(slice(start - low, stop - low) for (start, stop), (low, _) in zip(own, spans, strict=True))
            around[_at(place)] = array[_at([slice(*ends) for ends in own])]
        array, origin = around, tuple(o - low for o, (low, _) in zip(origin, spans, strict=True))
    return _window(step, array, origin)


def scatter(step: Affine, source: Shape, array: NDArray[Any]) -> NDArray[Any]:
    """The adjoint of `gather`: each source element is the sum of the target elements that read it."""
    module = array_module(array)
    columns = step.columns()
    free = tuple(axis for axis, moved in enumerate(columns) if not moved)
    if free:
        array = module.asarray(array.sum(axis=free))
        step = Affine(
            tuple(n for j, n in enumerate(step.shape) if j not in free),
            step.offsets,
            tuple(tuple(s for j, s in enumerate(row) if j not in free) for row in step.strides),
        )
        columns = step.columns()
    made: NDArray[Any] = module.zeros(source, array.dtype)
    leading = _leading(step)
    minor = [axis for axis in range(len(step.shape)) if axis not in leading]
    repeats = math.prod(step.shape[axis] for axis in minor)
    if any(len(moved) > 1 for moved in columns) or repeats > 1024:
        flat = locate(step, source, module.arange(array.size))
        inside = flat >= 0
        add_at(made.reshape(-1), flat[inside], array.reshape(-1)[inside])
        return made
    for fixed in product(*(range(step.shape[axis]) for axis in minor)):
        chosen = dict(zip(minor, fixed, strict=True))
        part = array[tuple(chosen.get(axis, slice(None)) for axis in range(array.ndim))]
        offsets = tuple(
            o + sum(row[axis] * p for axis, p in chosen.items())
            for o, row in zip(step.offsets, step.strides, strict=True)
        )
        _add_into(made, part, offsets, step, leading)
    return made


def fibre_sizes(step: Affine, source: Shape) -> tuple[int, int, bool, bool] | None:
    """The least and greatest number of target elements that read one source element, whether some target element reads
    outside, and whether some reads inside; None unless each target axis moves at most one source axis.
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


def _window(step: Affine, array: NDArray[Any], origin: tuple[int, ...]) -> NDArray[Any]:
    base = array[_at([slice(start, None) for start in origin])]
    strides = tuple(
        sum(row[j] * step_bytes for row, step_bytes in zip(step.strides, array.strides, strict=True))
        for j in range(len(step.shape))
    )
    if isinstance(base, np.ndarray):
        return as_strided(base, step.shape, strides, writeable=False)
    window: NDArray[Any] = array_module(base).lib.stride_tricks.as_strided(base, step.shape, strides)
    return window


def _leading(step: Affine) -> list[int]:
    """For each source axis that moves, the longest target axis that moves it."""
    chosen = []
    for row in step.strides:
        movers = [axis for axis, stride in enumerate(row) if stride]
        if movers:
            chosen.append(max(movers, key=step.shape.__getitem__))
    return chosen


def _add_into(
    made: NDArray[Any], part: NDArray[Any], offsets: tuple[int, ...], step: Affine, leading: list[int]
) -> None:
    """Add one injective part: along each source axis at most one axis of the part moves."""
    order = sorted(set(leading))
    taken: list[slice] = [slice(None)] * len(order)
    place: list[slice | int] = []
    axes: list[int] = []
    for extent, offset, row in zip(made.shape, offsets, step.strides, strict=True):
        mover = next((axis for axis in order if row[axis]), None)
        if mover is None:
            if not 0 <= offset < extent:
                return
            place.append(offset)
            continue
        stride, n = row[mover], step.shape[mover]
        edge = (-offset, extent - 1 - offset) if stride > 0 else (extent - 1 - offset, -offset)
        first, last = max(-(-edge[0] // stride), 0), min(edge[1] // stride, n - 1)
        if first > last:
            return
        taken[order.index(mover)] = slice(first, last + 1)
        ends = (offset + first * stride, offset + last * stride)
        place.append(slice(ends[0], ends[1] + 1, stride) if stride > 0 else _down(ends[0], ends[1], stride))
        axes.append(order.index(mover))
    window = made[_at(place)]
    window += part[_at(taken)].transpose(axes)


def _at(index: Sequence[slice | int]) -> Any:
    """An index that gives an array, even where it is a single element."""
    return (*index, ...)


def _down(first: int, last: int, stride: int) -> slice:
    return slice(first, last - 1 if last else None, stride)

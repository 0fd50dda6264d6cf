"""Affine steps prepared for sources of one shape: strided windows on the sources, and the sums that are the windows'
adjoints.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.lib.stride_tricks import as_strided

from circuitize.circuits.array_module import Place, add_at, added, array_module, placed
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Shape

from .steps import Affine, locate


class Gather:
    """The target of a view's step on a source array: a strided window on the array, after zeros are added around it if
    needed.
    """

    def __init__(self, step: Affine, source: Shape) -> None:
        self.step = step
        self.source = source
        self._is_regroup = step.is_regroup(source)
        self._pad = None if step.is_inside(source) else _Pad(step, source)
        padded = self._pad.reach if self._pad else source
        origin = (
            tuple(o - low for o, low in zip(step.offsets, self._pad.lows, strict=True)) if self._pad else step.offsets
        )
        self._start = _at([slice(start, None) for start in origin])
        elements = [math.prod(padded[axis + 1 :]) for axis in range(len(padded))]
        self._offset = sum(start * size for start, size in zip(origin, elements, strict=True))
        self._strides = _products(step, elements)

    def __call__(self, array: Values) -> Values:
        step = self.step
        if self._is_regroup:
            return array.reshape(step.shape)
        if self._pad is not None:
            if self._pad.is_sparse:
                module = array_module(array)
                flat = locate(step, self.source, module.arange(math.prod(step.shape)))
                zero, inside = module.zeros((), array.dtype), array.reshape(-1)[module.maximum(flat, 0)]
                taken: Values = module.where(flat < 0, zero, inside)
                return taken.reshape(step.shape)
            array = self._pad(array)
        return self._window(array)

    def _window(self, array: Values) -> Values:
        """Return the window of a step, made by strides if the array module lays out its arrays in memory accordingly,
        and by indices otherwise.
        """
        shape = self.step.shape
        if type(array) is np.ndarray:
            if array.flags.c_contiguous and not array.dtype.hasobject:
                size = array.itemsize
                window = np.ndarray(
                    shape, array.dtype, array, self._offset * size, [stride * size for stride in self._strides]
                )
                window.flags.writeable = False
                return window
            return as_strided(array[self._start], shape, _products(self.step, array.strides), writeable=False)
        module = array_module(array)
        if not hasattr(module, "lib"):
            moves = (
                stride * places for stride, places in zip(self._strides, np.indices(shape, sparse=True), strict=True)
            )
            found: Values = array.reshape(-1)[sum(moves, np.full(shape, self._offset))]
            return found
        there: Values = module.lib.stride_tricks.as_strided(
            array[self._start], shape, _products(self.step, array.strides)
        )
        return there


class _Pad:
    """The part of the source's index space that a step reads, with zeros where the part is outside the source."""

    def __init__(self, step: Affine, source: Shape) -> None:
        spans = [step.span(axis) for axis in range(len(source))]
        self.lows = [low for low, _ in spans]
        self.reach = tuple(high - low + 1 for low, high in spans)
        self.is_sparse = math.prod(self.reach) > 4 * max(math.prod(step.shape), math.prod(source)) + 4096
        own = [(max(low, 0), min(high + 1, extent)) for (low, high), extent in zip(spans, source, strict=True)]
        self.meets = all(start < stop for start, stop in own)
        self.place = _at([slice(start - low, stop - low) for (start, stop), low in zip(own, self.lows, strict=True)])
        self.own = _at([slice(*ends) for ends in own])

    def __call__(self, array: Values) -> Values:
        if not self.meets:
            return array_module(array).zeros(self.reach, array.dtype)  # type: ignore[no-any-return]
        return placed(self.reach, self.place, array[self.own])


class Scatter:
    """The adjoint of a step's `Gather`: each source element is the sum of the target elements that read it."""

    def __init__(self, step: Affine, source: Shape) -> None:
        self.source = source
        columns = step.columns()
        self._free = tuple(axis for axis, moved in enumerate(columns) if not moved)
        kept = [axis for axis, moved in enumerate(columns) if moved]
        self.step = step = Affine(
            tuple(step.shape[axis] for axis in kept),
            step.offsets,
            tuple(tuple(row[axis] for axis in kept) for row in step.strides),
        )
        leading = _leading(step)
        minor = [axis for axis in range(len(kept)) if axis not in leading]
        self._parts: list[tuple[Place, Place, tuple[int, ...]]] | None = None
        """A step as several injective parts, each with the elements that it reads, the elements to which it adds, and
        its axes; None if there are too many parts.
        """
        if all(len(moved) <= 1 for moved in columns) and math.prod(step.shape[axis] for axis in minor) <= 1024:
            fixed = product(*(range(step.shape[axis]) for axis in minor))
            parts = (_part(step, source, leading, dict(zip(minor, places, strict=True))) for places in fixed)
            self._parts = [part for part in parts if part is not None]
        self._is_regroup = step.is_regroup(source)

    def __call__(self, array: Values) -> Values:
        module = array_module(array)
        if self._free:
            array = module.asarray(array.sum(axis=self._free))
        if self._is_regroup:
            return array.reshape(self.source)
        if self._parts is None:
            size = math.prod(self.source)
            flat = locate(self.step, self.source, module.arange(array.size))
            places = module.where(flat < 0, size, flat)  # what lies outside is added past the end
            return add_at(module.zeros(size + 1, array.dtype), places, array.reshape(-1))[:-1].reshape(self.source)
        made: Values = module.zeros(self.source, array.dtype)
        for taken, place, axes in self._parts:
            made = added(made, place, array[taken].transpose(axes))
        return made


def _products(step: Affine, sizes: Sequence[int]) -> list[int]:
    """Return the distance between neighbouring elements along each axis of the target, in a source whose elements have
    the given distances along its axes.
    """
    return [
        sum(row[axis] * size for row, size in zip(step.strides, sizes, strict=True)) for axis in range(len(step.shape))
    ]


def _leading(step: Affine) -> list[int]:
    """Return, for each source axis whose index varies, the longest target axis on which that index depends."""
    chosen = []
    for row in step.strides:
        movers = [axis for axis, stride in enumerate(row) if stride]
        if movers:
            chosen.append(max(movers, key=step.shape.__getitem__))
    return chosen


def _part(
    step: Affine, source: Shape, leading: list[int], chosen: dict[int, int]
) -> tuple[Place, Place, tuple[int, ...]] | None:
    """Return the injective part of a step at chosen places of the step's other axes; None if that part lies outside the
    source.

    An injective part of a step is a view in which at most one target axis moves along each source axis.
    """
    reads: list[tuple[int, slice | int]] = list(chosen.items())
    order = sorted(set(leading))
    place: list[slice | int] = []
    axes: list[int] = []
    for extent, start, row in zip(source, step.offsets, step.strides, strict=True):
        offset = start + sum(row[axis] * p for axis, p in chosen.items())
        mover = next((axis for axis in order if row[axis]), None)
        if mover is None:
            if not 0 <= offset < extent:
                return None
            place.append(offset)
            continue
        stride, n = row[mover], step.shape[mover]
        edge = (-offset, extent - 1 - offset) if stride > 0 else (extent - 1 - offset, -offset)
        first, last = max(-(-edge[0] // stride), 0), min(edge[1] // stride, n - 1)
        if first > last:
            return None
        reads.append((mover, slice(first, last + 1)))
        ends = (offset + first * stride, offset + last * stride)
        place.append(slice(ends[0], ends[1] + 1, stride) if stride > 0 else _down(ends[0], ends[1], stride))
        axes.append(order.index(mover))
    taken = dict(reads)
    return _at([taken.get(axis, slice(None)) for axis in range(len(step.shape))]), _at(place), tuple(axes)


def _at(index: Sequence[slice | int]) -> Place:
    return (*index, ...)


def _down(first: int, last: int, stride: int) -> slice:
    return slice(first, last - 1 if last else None, stride)

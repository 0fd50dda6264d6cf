"""Sliding windows, what convolution and pooling are made of, and their adjoint: overlap and add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from circuitize.circuits import integers
from circuitize.circuits.array_module import array_module
from circuitize.circuits.errors import TypingError
from circuitize.circuits.integers import Reindex, View
from circuitize.circuits.integers.term import Integer
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Array, Shape

from .. import expect
from ..language import LinearOperation
from ..term import Real


@dataclass(frozen=True)
class Window(LinearOperation):
    """Windows of so many elements along each of some axes, a step apart; none reaches over the end.

    Axis axes[k] becomes the window's position, of extent (n - d * (sizes[k] - 1) - 1) // steps[k] + 1 with d =
    dilations[k], by default 1; a last axis per k walks the window: y[.., p, .., w] = x[.., steps[k] * p + d * w, ..].
    Also known as im2col. Lowered exactly.
    """

    name = "real.window"

    axes: tuple[int, ...]
    sizes: tuple[int, ...]
    steps: tuple[int, ...]
    dilations: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "dilations", self.dilations or (1,) * len(self.axes))
        _expect_parameters(self.axes, self.sizes, self.steps, self.dilations)

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        expect.arrays(sources, 1)
        return (Array(windowed(sources[0].shape, self.axes, self.sizes, self.steps, self.dilations)),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        spans = [(size - 1) * dilation + 1 for size, dilation in zip(self.sizes, self.dilations, strict=True)]
        every = array_module(*values).lib.stride_tricks.sliding_window_view(values[0], spans, self.axes)
        walked = range(values[0].ndim, every.ndim)
        return (every[_stepped(every.ndim, (*self.axes, *walked), (*self.steps, *self.dilations))],)

    def adjoint(self, dz: Real, *sources: Array) -> Sequence[Real]:
        return [OverlapAdd(sources[0].shape, self.axes, self.sizes, self.steps, self.dilations)(dz)]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        (x,) = sources
        return Reindex(View.window(x.shape, self.axes, self.sizes, self.steps, self.dilations))(x)


@dataclass(frozen=True)
class OverlapAdd(LinearOperation):
    """Windows put back in their places in an array of the given shape and added where they overlap: Window's adjoint.

    Lowered exactly.
    """

    name = "real.overlap_add"

    shape: Shape
    axes: tuple[int, ...]
    sizes: tuple[int, ...]
    steps: tuple[int, ...]
    dilations: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "dilations", self.dilations or (1,) * len(self.axes))
        _expect_parameters(self.axes, self.sizes, self.steps, self.dilations)

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        expect.arrays(sources, 1)
        wanted = windowed(self.shape, self.axes, self.sizes, self.steps, self.dilations)
        if sources[0].shape != wanted:
            raise TypingError(
                f"expected windows of shape {list(wanted)}, found {list(sources[0].shape)}; give the windowed shape"
            )
        return (Array(self.shape),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        total = array_module(*values).zeros(self.shape)
        for place in np.ndindex(self.sizes):
            chosen: list[slice] = [slice(None)] * len(self.shape)
            for k, axis in enumerate(self.axes):
                step, first = self.steps[k], place[k] * self.dilations[k]
                chosen[axis] = slice(first, first + (values[0].shape[axis] - 1) * step + 1, step)
            total[tuple(chosen)] += values[0][(..., *place)]
        return (total,)

    def adjoint(self, dz: Real, *sources: Array) -> Sequence[Real]:
        return [Window(self.axes, self.sizes, self.steps, self.dilations)(dz)]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        return integers.Sum(View.window(self.shape, self.axes, self.sizes, self.steps, self.dilations))(*sources)


def windowed(
    shape: Shape, axes: Sequence[int], sizes: Sequence[int], steps: Sequence[int], dilations: Sequence[int]
) -> Shape:
    """The shape of an array's windows; raises TypingError where a window is longer than its axis."""
    expect.axes_within(axes, len(shape))
    extents = list(shape)
    for axis, size, step, dilation in zip(axes, sizes, steps, dilations, strict=True):
        span = (size - 1) * dilation + 1
        if span > shape[axis]:
            raise TypingError(f"expected a window of at most {shape[axis]} along axis {axis}, found {span}; pad first")
        extents[axis] = (shape[axis] - span) // step + 1
    return (*extents, *sizes)


def _stepped(rank: int, axes: Sequence[int], steps: Sequence[int]) -> tuple[slice, ...]:
    by_axis = dict(zip(axes, steps, strict=True))
    return tuple(slice(None, None, by_axis.get(axis)) for axis in range(rank))


def _expect_parameters(axes: Sequence[int], sizes: Sequence[int], steps: Sequence[int], gaps: Sequence[int]) -> None:
    expect.distinct(axes)
    if not len(axes) == len(sizes) == len(steps) == len(gaps) or min((*sizes, *steps, *gaps), default=1) < 1:
        raise TypingError(
            f"expected a size and a step of at least 1 per axis of {list(axes)}, found sizes {list(sizes)}, "
            f"steps {list(steps)} and dilations {list(gaps)}; give one of each per axis"
        )

"""Sliding windows, from which convolution and pooling are made, and overlap-add, the adjoint of windows."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from circuitize.circuits import integers
from circuitize.circuits.array_module import Place, added, array_module
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
    """Windows of `sizes` elements along some axes, `steps` apart; no window reaches over the end of an axis.

    Axis axes[k] of the source becomes the window's position in the target, of extent (n - d * (sizes[k] - 1) - 1) //
    steps[k] + 1 with d = dilations[k], by default 1; for each k the target has one more axis at its end, the place
    within the window: y[.., p, .., w] = x[.., steps[k] * p + d * w, ..]. The operation Window is also known as im2col.
    Window is lowered exactly.
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
        (x,) = values
        return (_view(self, x.shape).gather(x),)

    def adjoint(self, dz: Real, *sources: Array) -> Sequence[Real]:
        return [OverlapAdd(sources[0].shape, self.axes, self.sizes, self.steps, self.dilations)(dz)]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        (x,) = sources
        return Reindex(_view(self, x.shape))(x)


@dataclass(frozen=True)
class OverlapAdd(LinearOperation):
    """Windows put back in their places in an array of the given shape and added where they overlap: Window's adjoint.

    OverlapAdd is lowered exactly.
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
        (windows,) = values
        total: Values = array_module(windows).zeros(self.shape)
        for offsets in np.ndindex(self.sizes):
            total = added(total, self._reached(windows.shape, offsets), windows[(..., *offsets)])
        return (total,)

    def _reached(self, windows: Shape, offsets: Shape) -> Place:
        """Return the places in the array of those elements of all windows that stand at one place within their
        window.
        """
        firsts = dict(zip(self.axes, map(operator.mul, offsets, self.dilations), strict=True))
        steps = dict(zip(self.axes, self.steps, strict=True))
        every = range(len(self.shape))
        return *(
            slice(firsts[k], firsts[k] + (windows[k] - 1) * steps[k] + 1, steps[k]) if k in steps else slice(None)
            for k in every
        ), ...

    def adjoint(self, dz: Real, *sources: Array) -> Sequence[Real]:
        return [Window(self.axes, self.sizes, self.steps, self.dilations)(dz)]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        return integers.Sum(View.window(self.shape, self.axes, self.sizes, self.steps, self.dilations))(*sources)


def windowed(
    shape: Shape, axes: Sequence[int], sizes: Sequence[int], steps: Sequence[int], dilations: Sequence[int]
) -> Shape:
    """Return the shape of an array's windows; raise TypingError if a window is longer than its axis."""
    expect.axes_within(axes, len(shape))
    extents = list(shape)
    for axis, size, step, dilation in zip(axes, sizes, steps, dilations, strict=True):
        span = (size - 1) * dilation + 1
        if span > shape[axis]:
            raise TypingError(f"expected a window of at most {shape[axis]} along axis {axis}, found {span}; pad first")
        extents[axis] = (shape[axis] - span) // step + 1
    return (*extents, *sizes)


@lru_cache(maxsize=256)
def _view(window: Window, shape: Shape) -> View:
    """Return the view that reads the elements of the windows from an array of the given shape."""
    return View.window(shape, window.axes, window.sizes, window.steps, window.dilations)


def _expect_parameters(axes: Sequence[int], sizes: Sequence[int], steps: Sequence[int], gaps: Sequence[int]) -> None:
    expect.distinct(axes)
    if not len(axes) == len(sizes) == len(steps) == len(gaps) or min((*sizes, *steps, *gaps), default=1) < 1:
        raise TypingError(
            f"expected a size and a step of at least 1 per axis of {list(axes)}, found sizes {list(sizes)}, "
            f"steps {list(steps)} and dilations {list(gaps)}; give one of each per axis"
        )

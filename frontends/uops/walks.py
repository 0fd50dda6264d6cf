"""A walk: the elements of a tensor in another order, some more than once, in which windows are recognised from chains
of movements.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits import arrays
from circuitize.circuits.types import Shape
from circuitize.frontends.tensor import Tensor

from .graph import Node
from .known import Known, moved
from .products import Factor, Product, aligned

Step = tuple[Node, tuple[Known, ...]]


@dataclass(frozen=True)
class Walk:
    """The elements of a tensor in another order: `index` says for each element which element of the flattened `tensor`
    it is; `steps` are the movements of which the walk consists.
    """

    tensor: Tensor
    index: NDArray[np.int64]
    start: Product
    steps: tuple[Step, ...]
    scale: float = 1.0

    def moved(self, node: Node, rest: Sequence[Known]) -> Walk:
        """Return a walk over a tensor's elements, extended by one movement."""
        index = moved(node, self.index, rest)
        assert index is not None
        return Walk(self.tensor, index, self.start, (*self.steps, (node, tuple(rest))), self.scale)


def walk(product: Product) -> Walk:
    """Return the walk over the elements of a `Product` of one factor before any movement."""
    tensor, axes = product.factor.tensor, product.factor.axes
    index = np.arange(math.prod(tensor.shape)).reshape(tensor.shape).transpose(np.argsort(axes, kind="stable"))
    index = np.broadcast_to(
        index.reshape([extent if axis in axes else 1 for axis, extent in enumerate(product.shape)]), product.shape
    )
    return Walk(tensor, index, product, (), product.scale)


def settled(walk: Walk) -> Product | None:
    """Return a walk over a tensor's elements as windows of the tensor, or as slices of it; None if the walk is
    neither.
    """
    whole = walk.index
    # Along a stride of 0 all is repeated: one element of it is looked at.
    index = whole[tuple(slice(0, None if stride else 1) for stride in whole.strides)]
    start = int(index[(0,) * index.ndim])
    extents = index.shape
    strides = [int(index[_unit(axis, index.ndim)]) - start if extent > 1 else 0 for axis, extent in enumerate(extents)]
    straight = start + sum(
        (stride * np.arange(extent)).reshape([-1 if axis == place else 1 for place in range(index.ndim)])
        for axis, (stride, extent) in enumerate(zip(strides, extents, strict=True))
    )
    if min(strides, default=0) < 0 or not np.array_equal(index, np.broadcast_to(straight, extents)):
        return None
    return _windows(walk, start, strides)


def _unit(axis: int, rank: int) -> tuple[int, ...]:
    return tuple(int(place == axis) for place in range(rank))


def _windows(walk: Walk, start: int, strides: Sequence[int]) -> Product | None:
    tensor, shape = walk.tensor, walk.index.shape
    units = [math.prod(tensor.shape[axis + 1 :]) for axis in range(tensor.ndim)]
    walked: list[list[int]] = [[] for _ in units]
    for axis, stride in enumerate(strides):
        if stride:
            base = next((place for place, unit in enumerate(units) if unit <= stride), None)
            if base is None or stride % units[base]:
                return None
            walked[base].append(axis)
    starts = [int(at) for at in np.unravel_index(start, tensor.shape)] if tensor.ndim else []
    stops, sizes, steps, dilations, windows, places = [], [], [], [], [], []
    last: list[int] = []
    for base, axes in enumerate(walked):
        if len(axes) > 2:
            return None
        position, *tap = sorted(axes, key=lambda axis: shape[axis], reverse=True)[:2] or [-1]
        span = 1 + sum((shape[axis] - 1) * (strides[axis] // units[base]) for axis in axes)
        if starts[base] + span > tensor.shape[base]:
            return None
        stops.append(starts[base] + span)
        places.append(position)
        step = strides[position] // units[base] if axes else 1
        if tap or step > 1:
            windows.append(base)
            sizes.append(shape[tap[0]] if tap else 1)
            steps.append(step)
            dilations.append(strides[tap[0]] // units[base] if tap else 1)
            last.append(tap[0] if tap else -1)
    made = (
        tensor.apply(arrays.Slice(tuple(starts), tuple(stops)))
        if tuple(stops) != tensor.shape or any(starts)
        else tensor
    )
    if windows:
        made = made.apply(arrays.Window(tuple(windows), tuple(sizes), tuple(steps), tuple(dilations)))
    axes_of = [*places, *last]
    kept = [extent for extent, axis in zip(made.shape, axes_of, strict=True) if axis >= 0]
    factor = Factor(made.reshape(kept), tuple(axis for axis in axes_of if axis >= 0))
    return Product(shape, (factor,), walk.scale)


def replayed(walk: Walk) -> Tensor:
    """Return the movements of a walk over a tensor's elements, applied to the tensor one by one."""
    tensor = aligned(walk.start.factor, walk.start.axes, walk.start.shape)
    shape: Shape = walk.start.shape
    every = tuple(range(len(shape)))
    tensor = (
        aligned(Factor(tensor.reshape([shape[axis] for axis in walk.start.axes]), walk.start.axes), every, shape)
        if walk.start.axes != every
        else tensor
    )
    for node, rest in walk.steps:
        tensor = eager(node, tensor, rest)
    return tensor


def eager(node: Node, tensor: Tensor, rest: Sequence[Known]) -> Tensor:
    """Return the result of a single movement of elements, such as RESHAPE or PAD, applied to a whole tensor."""
    match node.name:
        case "RESHAPE":
            return tensor.reshape(node.shape)
        case "EXPAND":
            return tensor.broadcast(node.shape)
        case "PERMUTE":
            return tensor.transpose(*node.axes) if node.axes else tensor
        case "FLIP":
            axes = tuple(axis for axis, flipped in enumerate(node.axes) if flipped)
            return tensor.apply(arrays.Flip(axes)) if axes else tensor
        case "SHRINK":
            starts = tuple(int(at) for at in np.asarray(rest[0]).reshape(-1))
            stops = tuple(at + extent for at, extent in zip(starts, node.shape, strict=True))
            return tensor.apply(arrays.Slice(starts, stops))
        case _:
            before = tuple(int(at) for at in np.asarray(rest[0]).reshape(-1))
            after = tuple(w - at - e for w, at, e in zip(node.shape, before, tensor.shape, strict=True))
            return tensor.apply(arrays.Pad(before, after))

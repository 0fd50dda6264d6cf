"""ONNX operators that read at places given by tensors, or find them: gathers, extremes' places and their like."""

from __future__ import annotations

import numpy as np

from circuitize.frontends.functions import argmax_one_hot, concatenate, gather
from circuitize.frontends.movement import gather_elements
from circuitize.frontends.tensor import Tensor

from .node import FLOATS, NUMBERS, Made, Node, Result, operator
from .places import pick
from .reductions import least, without


@operator("Gather", moves=True)
def _gather(node: Node) -> Tensor:
    x, indices = node.ranked(node.tensor(0), 1), node.value(1).content
    axis = node.along(x, 0)
    if isinstance(indices, Tensor):
        # A negative index counts from the end.
        return gather(x, indices + (indices < 0.0) * float(x.shape[axis]), axis)
    return pick(x, axis, indices)


@operator("GatherElements", moves=True)
def _gather_elements(node: Node) -> Tensor:
    x, indices = node.ranked(node.tensor(0), 1), node.tensor(1)
    axis = node.along(x, 0)
    if indices.ndim != x.ndim or any(a != axis and n > x.shape[a] for a, n in enumerate(indices.shape)):
        raise node.fault(
            f"expected indices within {list(x.shape)} beside axis {axis}, found {list(indices.shape)}; reshape"
        )
    x = x[tuple(slice(None) if a == axis else slice(0, n) for a, n in enumerate(indices.shape))]
    return gather_elements(x, indices + (indices < 0.0) * float(x.shape[axis]), axis)


@operator("ArgMax", "ArgMin", kinds=NUMBERS)
def _place(node: Node) -> Result:
    """The place of the first extreme, or of the last, counted in a reversed axis."""
    x = node.ranked(node.tensor() if node.operator == "ArgMax" else -node.tensor(), 1)
    axis = node.along(x, 0)
    count = x.shape[axis]
    last = node.flag("select_last_index", 0)
    hot = argmax_one_hot(pick(x, axis, np.arange(count)[::-1]) if last else x, axis)
    numbers = np.arange(count)[::-1] if last else np.arange(count)
    place = (hot * numbers.reshape(-1, *[1] * (x.ndim - axis - 1)).astype(np.float64)).sum(axis, keepdims=True)
    return Made(place if node.flag("keepdims", 1) else without(place, (axis,)), None, (0, count - 1))


@operator("Hardmax", kinds=FLOATS)
def _hardmax(node: Node) -> Tensor:
    """Before opset 13 of all elements from the axis on together."""
    x = node.ranked(node.tensor(), 1)
    if node.version >= 13:
        return argmax_one_hot(x, node.along(x, -1))
    return argmax_one_hot(node.rows(x), 1).reshape(*x.shape)


@operator("TopK", kinds=NUMBERS, ignores=("sorted",))
def _top(node: Node) -> list[Result]:
    """The k greatest or least, in order; of equal ones the first comes first. k rounds of maximum and removal."""
    x = node.ranked(node.tensor(), 1)
    count = node.attributes["k"] if "k" in node.attributes else node.scalar(1, "k")
    axis = node.along(x, -1)
    if not 1 <= count <= x.shape[axis]:
        raise node.fault(f"expected k from 1 to {x.shape[axis]}, found {count}; correct it")
    sign = 1.0 if node.flag("largest", 1) else -1.0
    left, taken = x * sign, None
    numbers = np.arange(x.shape[axis], dtype=np.float64).reshape(-1, *[1] * (x.ndim - axis - 1))
    values, places = [], []
    for _ in range(count):
        # What was taken stands below everything that is left: no maximum of the rest, whatever its range.
        low = least(left, (axis,)) - 1.0
        hot = argmax_one_hot(left if taken is None else left + (low - left) * taken, axis)
        values.append((x * hot).sum(axis, keepdims=True))
        places.append((hot * numbers).sum(axis, keepdims=True))
        taken = hot if taken is None else taken + hot
    return [
        Made(_joined(values, axis), None, node.interval()),
        Made(_joined(places, axis), None, (0, x.shape[axis] - 1)),
    ]


def _joined(tensors: list[Tensor], axis: int) -> Tensor:
    return concatenate(tensors, axis) if len(tensors) > 1 else tensors[0]

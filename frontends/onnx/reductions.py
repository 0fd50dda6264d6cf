"""ONNX operators that take axes away: sums, means, norms, extremes and their places."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from circuitize.frontends.functions import (
    argmax_one_hot,
    concatenate,
    cumulative_sum,
    exp,
    log,
    maximum,
    product,
    square_root,
)
from circuitize.frontends.trace import Tensor

from .layout import pick
from .node import Node, operator

Reduction = Callable[[Tensor, tuple[int, ...]], Tensor]


def greatest(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The maximum over some axes, which stay with extent 1."""
    for axis in axes:
        x = x.max(axis, keepdims=True)
    return x


def _least(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    return -greatest(-x, axes)


def _product(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    for axis in axes:
        shape = [*x.shape[:axis], 1, *x.shape[axis + 1 :]]
        x = product(x, axis).reshape(*shape)
    return x


def _log_sum_exp(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    most = greatest(x, axes)
    return most + log(exp(x - most).sum(axes, keepdims=True))


REDUCTIONS: dict[str, Reduction] = {
    "ReduceSum": lambda x, axes: x.sum(axes, keepdims=True),
    "ReduceMean": lambda x, axes: x.mean(axes, keepdims=True),
    "ReduceL1": lambda x, axes: maximum(x, -x).sum(axes, keepdims=True),
    "ReduceL2": lambda x, axes: square_root((x * x).sum(axes, keepdims=True)),
    "ReduceSumSquare": lambda x, axes: (x * x).sum(axes, keepdims=True),
    "ReduceLogSum": lambda x, axes: log(x.sum(axes, keepdims=True)),
    "ReduceLogSumExp": _log_sum_exp,
    "ReduceMax": greatest,
    "ReduceMin": _least,
    "ReduceProd": _product,
}
"""Each leaves the axes with extent 1."""


@operator(*REDUCTIONS)
def _reduce(node: Node) -> Tensor:
    x = node.tensor()
    if not node.has(1) and "axes" not in node.attributes and node.attribute("noop_with_empty_axes", 0):
        axes: tuple[int, ...] = ()
    else:
        axes = node.axes(x.ndim, 1, range(x.ndim)) or tuple(range(x.ndim))
    if node.has(1) and not len(node.known(1, "the axes")) and node.attribute("noop_with_empty_axes", 0):
        axes = ()
    reduced = REDUCTIONS[node.operator](x, axes)
    return reduced if node.attribute("keepdims", 1) else _without(reduced, axes)


def _without(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    return x.reshape(*[extent for axis, extent in enumerate(x.shape) if axis not in axes])


@operator("ArgMax", "ArgMin")
def _place(node: Node) -> Tensor:
    """The place of the first extreme, or of the last, counted in a reversed axis."""
    x = node.tensor() if node.operator == "ArgMax" else -node.tensor()
    axis = node.attribute("axis", 0) % x.ndim
    count = x.shape[axis]
    last = bool(node.attribute("select_last_index", 0))
    hot = argmax_one_hot(pick(x, axis, np.arange(count)[::-1]) if last else x, axis)
    numbers = np.arange(count)[::-1] if last else np.arange(count)
    place = (hot * numbers.reshape(-1, *[1] * (x.ndim - axis - 1)).astype(np.float64)).sum(axis, keepdims=True)
    return place if node.attribute("keepdims", 1) else _without(place, (axis,))


@operator("CumSum")
def _cumulative(node: Node) -> Tensor:
    x, (axis,) = node.tensor(), node.integers(1, "the axis")
    return cumulative_sum(x, axis % x.ndim, bool(node.attribute("exclusive", 0)), bool(node.attribute("reverse", 0)))


@operator("Hardmax")
def _hardmax(node: Node) -> Tensor:
    x = node.tensor()
    return argmax_one_hot(x, node.attribute("axis", -1))


@operator("TopK")
def _top(node: Node) -> list[Tensor]:
    """The k greatest or least, in order; of equal ones the first comes first. k rounds of maximum and removal."""
    x, (count,) = node.tensor(), node.integers(1, "k")
    axis = node.attribute("axis", -1) % x.ndim
    sign = 1.0 if node.attribute("largest", 1) else -1.0
    left, taken = x * sign, None
    numbers = np.arange(x.shape[axis], dtype=np.float64).reshape(-1, *[1] * (x.ndim - axis - 1))
    values, places = [], []
    for _ in range(count):
        # What was taken stands below everything that is left: no maximum of the rest, whatever its range.
        low = _least(left, (axis,)) - 1.0
        hot = argmax_one_hot(left if taken is None else left + (low - left) * taken, axis)
        values.append((x * hot).sum(axis, keepdims=True))
        places.append((hot * numbers).sum(axis, keepdims=True))
        taken = hot if taken is None else taken + hot
    return [_joined(values, axis), _joined(places, axis)]


def _joined(tensors: list[Tensor], axis: int) -> Tensor:
    return concatenate(tensors, axis) if len(tensors) > 1 else tensors[0]

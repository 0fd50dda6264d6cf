"""ONNX operators that reduce axes: sums, means, norms and extremes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from circuitize.circuits import arrays
from circuitize.frontends.functions import absolute, concatenate, cumulative_sum, exp, log, product
from circuitize.frontends.tensor import Tensor

from .node import ANY, NUMBERS, Made, Node, Result, operator
from .whole import Interval, magnitude, quotient

Reduction = Callable[[Tensor, tuple[int, ...]], Tensor]


def greatest(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Return the maximum over some axes, which keep extent 1."""
    for axis in axes:
        x = x.max(axis, keepdims=True)
    return x


def least(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Return the minimum over some axes, which keep extent 1."""
    return -greatest(-x, axes)


def _norm(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Return the norm, computed as one root of the exact sum of squares."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    flat = x.transpose(*kept, *axes) if x.ndim else x
    flat = flat.reshape(*[x.shape[axis] for axis in kept], math.prod(x.shape[axis] for axis in axes))
    found = flat.apply(arrays.Norm(len(kept)))
    return found.reshape(*[1 if axis in axes else extent for axis, extent in enumerate(x.shape)])


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
    "ReduceMean": lambda x, axes: x.mean(axes, keepdims=True) if axes else x,
    "ReduceL1": lambda x, axes: absolute(x).sum(axes, keepdims=True),
    "ReduceL2": lambda x, axes: _norm(x, axes),
    "ReduceSumSquare": lambda x, axes: (x * x).sum(axes, keepdims=True),
    "ReduceLogSum": lambda x, axes: log(x.sum(axes, keepdims=True)),
    "ReduceLogSumExp": _log_sum_exp,
    "ReduceMax": greatest,
    "ReduceMin": least,
    "ReduceProd": _product,
}
"""The reductions, each of which leaves the axes with extent 1."""

BOUNDS: dict[str, Callable[[Interval, int], Interval]] = {
    "ReduceSum": lambda x, count: (x[0] * count, x[1] * count),
    "ReduceL1": lambda x, count: (0, magnitude(x) * count),
    "ReduceSumSquare": lambda x, count: (0, magnitude(x) ** 2 * count),
    "ReduceMax": lambda x, count: x,
    "ReduceMin": lambda x, count: x,
    "ReduceProd": lambda x, count: (-(magnitude(x) ** count), magnitude(x) ** count),
}
"""Reductions of whole numbers: the interval of the result from an operand's interval and the number of elements that
are reduced to one.
"""

LONGEST_PRODUCT = 64
LARGEST_DETERMINANT = 16


@operator("ReduceL2", "ReduceLogSum", "ReduceLogSumExp")
@operator("ReduceMax", "ReduceMin", kinds=ANY)
@operator("ReduceL1", "ReduceMean", "ReduceProd", "ReduceSum", "ReduceSumSquare", kinds=NUMBERS)
def _reduce(node: Node) -> Result:
    """Return an ONNX reduction of the first input: whole numbers allow only the reductions whose results are whole,
    without wrapping, and truth values only extremes.
    """
    x, name = node.tensor(), node.operator
    given = node.attributes.get("axes")
    if given is None and node.has(1):
        given = node.integers(1, "the axes")
    if not given:
        axes = () if node.flag("noop_with_empty_axes", 0) else tuple(range(x.ndim))
    else:
        axes = tuple(sorted(node.distinct(given, x.ndim)))
        node.flag("noop_with_empty_axes", 0)
    count = math.prod(x.shape[axis] for axis in axes)
    if node.whole and name == "ReduceMean":
        return _mean(node, x, axes, count)
    if node.whole and name == "ReduceProd" and count > LONGEST_PRODUCT:
        raise node.fault(f"expected products of at most {LONGEST_PRODUCT} whole numbers, found {count}; cast to floats")
    made = REDUCTIONS[name](x, axes)
    made = made if node.flag("keepdims", 1) else without(made, axes)
    return node.kept(made, BOUNDS[name](node.interval(), count), wraps=False) if node.whole else made


def _mean(node: Node, x: Tensor, axes: tuple[int, ...], count: int) -> Result:
    """Return the mean of whole numbers, truncated toward zero; their sum may not wrap."""
    low, high = node.interval()
    total = x.sum(axes, keepdims=True)
    made = quotient(total, total.constant(np.full(total.shape, float(count))))
    checked = node.kept(total, (low * count, high * count), wraps=False)
    assert isinstance(checked, Made)
    return checked._replace(content=made if node.flag("keepdims", 1) else without(made, axes))


def without(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Return x without some axes, which have extent 1."""
    return x.reshape(*[extent for axis, extent in enumerate(x.shape) if axis not in axes])


@operator("CumProd", kinds=NUMBERS)
def _cumulative_product(node: Node) -> Result:
    """Return the running products along an axis whose number is known, computed one multiplication after the other."""
    x = node.ranked(node.tensor(), 1)
    axis = node.axis(node.scalar(1, "the axis"), x.ndim)
    extent, exclusive = x.shape[axis], node.flag("exclusive", 0)
    parts = [x[(*[slice(None)] * axis, slice(place, place + 1))] for place in range(extent)]
    backward = node.flag("reverse", 0)
    parts = parts[::-1] if backward else parts
    made = [x.constant(np.ones(parts[0].shape)) if exclusive else parts[0]]
    for part in parts[:-1] if exclusive else parts[1:]:
        made.append(made[-1] * part)
    joined = concatenate(made[::-1] if backward else made, axis) if extent > 1 else made[0]
    most = magnitude(node.interval()) ** min(extent, LONGEST_PRODUCT)
    return node.kept(joined, (-max(most, 1), max(most, 1)), wraps=False)


@operator("Det")
def _determinant(node: Node) -> Tensor:
    """Return the determinants of square matrices, computed from the coefficients of their characteristic polynomials
    (the Faddeev-Leverrier algorithm).
    """
    x = node.ranked(node.tensor(), 2)
    size = x.shape[-1]
    if x.shape[-2] != size or size > LARGEST_DETERMINANT:
        wanted = f"square matrices of at most {LARGEST_DETERMINANT} rows"
        raise node.fault(f"expected {wanted}, found shape {list(x.shape)}; correct it")
    unit = np.eye(size)
    power = x
    for step in range(1, size):
        trace = (power * unit).sum((-2, -1), keepdims=True)
        power = x @ (power - trace * (1 / step) * unit)
    sign = 1.0 if size % 2 else -1.0
    return (power * unit).sum((-2, -1)) * (sign / size)


@operator("CumSum", kinds=NUMBERS)
def _cumulative(node: Node) -> Result:
    x = node.ranked(node.tensor(), 1)
    axis = node.axis(node.scalar(1, "the axis"), x.ndim)
    made = cumulative_sum(x, axis, node.flag("exclusive", 0), node.flag("reverse", 0))
    low, high = node.interval()
    return node.kept(made, (min(low * x.shape[axis], low, 0), max(high * x.shape[axis], high, 0)))

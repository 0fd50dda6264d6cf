"""JAX primitives that reduce axes: sums, extrema and their indices, cumulative sums, and the k greatest elements."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from circuitize.frontends import functions
from circuitize.frontends.movement import flip, take
from circuitize.frontends.tensor import Tensor

from .equation import Equation, Result, primitive


@primitive("reduce_sum", meaning="Sum")
def _sum(equation: Equation) -> Result:
    x, axes = equation.tensor(), equation["axes"]
    low, high = equation.inputs[0].interval
    count = math.prod(x.shape[axis] for axis in axes)
    return Result(
        x.sum(axes) if axes else x, None if equation.inputs[0].kind == "float" else (count * low, count * high)
    )


@primitive("reduce_max", "reduce_and", meaning="Max: the derivative goes to the first of several greatest", moves=True)
def _greatest(equation: Equation) -> Tensor:
    x = _joined(equation)
    if equation.name == "reduce_and":
        return 1.0 - (1.0 - x).max(x.ndim - 1)
    return x.max(x.ndim - 1)


@primitive("reduce_or", meaning="Max, of truths", moves=True)
def _any(equation: Equation) -> Tensor:
    x = _joined(equation)
    return x.max(x.ndim - 1)


@primitive("reduce_min", meaning="Min", moves=True)
def _least(equation: Equation) -> Tensor:
    return functions.least(_joined(equation))


@primitive("reduce_prod", meaning="Product")
def _product(equation: Equation) -> Tensor:
    return functions.product(_joined(equation))


def _joined(equation: Equation) -> Tensor:
    """Return the operand with all reduced axes merged into one last axis."""
    x, axes = equation.tensor(), tuple(equation["axes"])
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    return x.transpose(*kept, *axes).reshape(*[x.shape[axis] for axis in kept], -1) if x.ndim else x.reshape(1)


@primitive("argmax", "argmin", meaning="ArgMaxOneHot, and the place of its 1")
def _place(equation: Equation) -> Result:
    x, (axis,) = equation.tensor(), equation["axes"]
    hot = functions.argmax_one_hot(x if equation.name == "argmax" else -x, axis)
    numbers = np.arange(x.shape[axis]).reshape(-1, *[1] * (x.ndim - axis - 1))
    return Result((hot * numbers.astype(np.float64)).sum(axis), (0, x.shape[axis] - 1))


@primitive("cumsum", meaning="CumulativeSum")
def _so_far(equation: Equation) -> Result:
    x, axis = equation.tensor(), equation["axis"]
    low, high = equation.inputs[0].interval
    count = x.shape[axis]
    return Result(
        functions.cumulative_sum(x, axis, backward=equation["reverse"]),
        None if equation.inputs[0].kind == "float" else (min(low, count * low), max(high, count * high)),
    )


EXTREMES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {"cummax": functions.maximum, "cummin": functions.minimum}


@primitive("cummax", "cummin", "cumprod", meaning="Maximum, Minimum or Multiply, in log2 n rounds", moves=True)
def _running(equation: Equation) -> Result:
    """Return the running reductions along an axis: each element is combined with the element one before it, then with
    those two before, four before, and so on.
    """
    x, axis = equation.tensor(), equation["axis"]
    x = flip(x, axis) if equation["reverse"] else x
    extent, step = x.shape[axis], 1
    while step < extent:
        first, rest, before = (take(x, axis, *ends) for ends in ((0, step), (step, extent), (0, extent - step)))
        both = EXTREMES[equation.name](before, rest) if equation.name in EXTREMES else before * rest
        x = functions.concatenate([first, both], axis)
        step *= 2
    made = flip(x, axis) if equation["reverse"] else x
    low, high = equation.inputs[0].interval
    if equation.name != "cumprod" or equation.inputs[0].kind == "float":
        return Result(made)
    greatest = max(abs(low), abs(high), 1) ** extent
    return Result(made, (0 if low >= 0 else -greatest, greatest))


@primitive("top_k", meaning="TopKOneHot: of equal ones the first comes first")
def _top(equation: Equation) -> list[Result]:
    x = equation.tensor()
    axis = x.ndim - 1
    values, hot = functions.top_k(x, int(equation["k"]), axis)
    numbers = np.arange(x.shape[axis]).astype(np.float64)
    return [Result(values, equation.inputs[0].interval), Result((hot * numbers).sum(-1), (0, x.shape[axis] - 1))]

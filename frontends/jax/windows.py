"""JAX primitives on sliding windows, whose elements are summed or compared, and the reverse derivative of the windows'
maximum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits import arrays
from circuitize.circuits.builder import Builder
from circuitize.circuits.differentiate import reverse_derivative
from circuitize.frontends.functions import first_maximum
from circuitize.frontends.tensor import Tensor

from .equation import Equation, primitive
from .layout import padded

Sides = Sequence[tuple[int, int]]


def _dilations(equation: Equation, rank: int) -> tuple[int, ...]:
    """Return the dilations of the windows of a jaxpr's equation; raise an error if the operand is dilated."""
    if any(gap != 1 for gap in equation.parameters.get("base_dilation", ())):
        raise equation.fault("expected an operand that is not dilated, found base_dilation; pad it first")
    return tuple(equation.parameters.get("window_dilation", (1,) * rank))


def _windows(x: Tensor, sizes: Sequence[int], steps: Sequence[int], gaps: Sequence[int]) -> Tensor:
    """Return a tensor's windows, with the elements of each in one last axis."""
    axes = [axis for axis in range(x.ndim) if sizes[axis] > 1 or steps[axis] > 1]
    chosen = [tuple(column[axis] for axis in axes) for column in (sizes, steps, gaps)]
    made = x.apply(arrays.Window(tuple(axes), chosen[0], chosen[1], chosen[2])) if axes else x
    return made.reshape(*made.shape[: x.ndim], math.prod(chosen[0]))


@primitive("reduce_window_sum", meaning="Pad, Window, Sum")
def _sum(equation: Equation) -> Tensor:
    x = padded(equation.tensor(), [(a, b, 0) for a, b in equation["padding"]])
    gaps = _dilations(equation, x.ndim)
    return _windows(x, equation["window_dimensions"], equation["window_strides"], gaps).sum(-1)


@primitive("reduce_window_max", meaning="Window, ReLU: padding is never the greatest")
def _maximum(equation: Equation) -> Tensor:
    x = equation.tensor()
    sizes, steps = equation["window_dimensions"], equation["window_strides"]
    return _greatest(equation, x, sizes, steps, equation["padding"], _dilations(equation, x.ndim))


@primitive("reduce_window_min", meaning="Window, ReLU, of the negated")
def _minimum(equation: Equation) -> Tensor:
    x = equation.tensor()
    sizes, steps = equation["window_dimensions"], equation["window_strides"]
    return -_greatest(equation, -x, sizes, steps, equation["padding"], _dilations(equation, x.ndim))


@primitive("select_and_scatter_add", meaning="the reverse derivative of reduce_window_max: to the first of equals")
def _scattered(equation: Equation) -> Tensor:
    source, operand = equation.tensor(0), equation.tensor(1)
    if getattr(equation["select_prim"], "name", "") != "ge":
        raise equation.fault("expected the derivative of a maximum of windows, found that of another; use lax.max")
    sizes, steps = equation["window_dimensions"], equation["window_strides"]
    builder = Builder()
    x = Tensor(builder, builder.input(operand.builder.type(operand.wire)))
    made = _greatest(equation, x, sizes, steps, equation["padding"], (1,) * x.ndim)
    derivative = reverse_derivative(builder.build([made.wire]))
    (wire,) = operand.builder.splice(derivative, [operand.wire, source.wire])
    return Tensor(operand.builder, wire)


def _greatest(
    equation: Equation, x: Tensor, sizes: Sequence[int], steps: Sequence[int], sides: Sides, gaps: Sequence[int]
) -> Tensor:
    """Return the greatest element of each window. For the maximum of windows, each place of the padding repeats an
    element that is in every window which reaches that place.
    """
    for axis, side in enumerate(sides):
        if any(side):
            x = _repeated(equation, x, axis, side, sizes[axis], gaps[axis])
    return first_maximum(_windows(x, sizes, steps, gaps))


def _repeated(equation: Equation, x: Tensor, axis: int, side: tuple[int, int], size: int, gap: int) -> Tensor:
    if max(side) >= size or (max(side) and gap > 1) or min(side) < 0:
        raise equation.fault(
            f"expected padding from 0 to below the window's extent {size}, of windows that are not dilated, "
            f"found {side}; pad less"
        )
    extent = x.shape[axis]
    places = np.clip(np.arange(-side[0], extent + side[1]), 0, extent - 1)
    before: list[slice | NDArray[np.int64]] = [slice(None)] * axis
    return x[(*before, places)]

"""JAX primitives that contract: matrix products and convolutions."""

from __future__ import annotations

import math

from circuitize.circuits import arrays
from circuitize.frontends.convolution import convolution
from circuitize.frontends.functions import einsum
from circuitize.frontends.tensor import Tensor

from .equation import Equation, Result, primitive
from .layout import padded

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@primitive("dot_general", meaning="Einsum")
def _product(equation: Equation) -> Result:
    (of_x, of_y), (batch_x, batch_y) = equation["dimension_numbers"]
    x, y = equation.tensor(0), equation.tensor(1)
    letters = iter(LETTERS)
    left = [next(letters) for _ in range(x.ndim)]
    right = [""] * y.ndim
    for a, b in zip((*of_x, *batch_x), (*of_y, *batch_y), strict=True):
        right[b] = left[a]
    right = [letter or next(letters) for letter in right]
    shared = [left[axis] for axis in batch_x]
    free = [left[axis] for axis in range(x.ndim) if axis not in (*of_x, *batch_x)]
    free += [right[axis] for axis in range(y.ndim) if axis not in (*of_y, *batch_y)]
    made = einsum(f"{''.join(left)},{''.join(right)}->{''.join([*shared, *free])}", x, y)
    if equation.inputs[0].kind == "float":
        return Result(made)
    count = math.prod(x.shape[axis] for axis in of_x)
    (a, b), (c, d) = (value.interval for value in equation.inputs)
    ends = [count * p * q for p in (a, b) for q in (c, d)]
    return Result(made, (min(ends), max(ends)))


@primitive("conv_general_dilated", meaning="Pad, Window, Einsum; OverlapAdd where the operand is dilated")
def _convolution(equation: Equation) -> Tensor:
    numbers, steps = equation["dimension_numbers"], tuple(equation["window_strides"])
    x = equation.tensor(0).transpose(numbers.lhs_spec[0], *numbers.lhs_spec[2:], numbers.lhs_spec[1])
    kernel = equation.tensor(1).transpose(*numbers.rhs_spec[2:], numbers.rhs_spec[1], numbers.rhs_spec[0])
    groups, batches = equation["feature_group_count"], equation["batch_group_count"]
    if batches > 1:
        # Groups of examples are groups of channels: [g b, ..., c] -> [b, ..., g c].
        apart = x.reshape(batches, x.shape[0] // batches, *x.shape[1:])
        moved = apart.transpose(*range(1, apart.ndim - 1), 0, apart.ndim - 1)
        x, groups = moved.reshape(*moved.shape[:-2], batches * x.shape[-1]), batches
    sides, spread = list(equation["padding"]), tuple(equation["lhs_dilation"])
    gaps = tuple(equation["rhs_dilation"])
    if any(gap > 1 for gap in spread) and groups == 1 and all(step == 1 for step in steps):
        made = _spread(x, kernel, sides, spread, gaps)
    else:
        x = padded(x, [(0, 0, 0), *((a, b, d - 1) for (a, b), d in zip(sides, spread, strict=True)), (0, 0, 0)])
        made = convolution(x, kernel, 0, steps, gaps, groups)
    order = [0] * made.ndim
    for place, axis in enumerate((numbers.out_spec[0], *numbers.out_spec[2:], numbers.out_spec[1])):
        order[axis] = place
    return made.transpose(*order)


def _spread(
    x: Tensor,
    kernel: Tensor,
    sides: list[tuple[int, int]],
    spread: tuple[int, ...],
    gaps: tuple[int, ...],
) -> Tensor:
    """Return the convolution of a dilated operand: each element times the reversed kernel, added at the places that it
    reaches.
    """
    rank = x.ndim - 2
    sizes = kernel.shape[:rank]
    turned = kernel.apply(arrays.Flip(tuple(range(rank))))
    places, taps = "rstu"[:rank], "hijk"[:rank]
    parts = einsum(f"b{places}c,{taps}cd->b{places}d{taps}", x, turned)
    spans = [
        step * (extent - 1) + gap * (size - 1) + 1
        for extent, size, step, gap in zip(x.shape[1:-1], sizes, spread, gaps, strict=True)
    ]
    shape = (x.shape[0], *spans, kernel.shape[-1])
    whole = parts.apply(arrays.OverlapAdd(shape, tuple(range(1, rank + 1)), sizes, spread, gaps))
    reach = [gap * (size - 1) for size, gap in zip(sizes, gaps, strict=True)]
    return padded(whole, [(0, 0, 0), *((a - r, b - r, 0) for (a, b), r in zip(sides, reach, strict=True)), (0, 0, 0)])

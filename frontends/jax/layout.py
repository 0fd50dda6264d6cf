"""JAX primitives that move elements and compute nothing: shapes, slices, joins and padding."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from circuitize.circuits import arrays
from circuitize.circuits.types import Shape
from circuitize.frontends.functions import concatenate, where
from circuitize.frontends.movement import flip, stack, strided, take
from circuitize.frontends.tensor import Tensor

from .equation import Equation, Result, primitive
from .value import Value


@primitive("reshape", meaning="Reshape", moves=True)
def _reshape(equation: Equation) -> Tensor:
    x, order = equation.tensor(), equation.parameters.get("dimensions")
    return (x if order is None else x.transpose(*order)).reshape(*equation.shapes[0])


@primitive("squeeze", "expand_dims", meaning="Reshape", moves=True)
def _squeeze(equation: Equation) -> Tensor:
    return equation.tensor().reshape(*equation.shapes[0])


@primitive("transpose", meaning="Transpose", moves=True)
def _transpose(equation: Equation) -> Tensor:
    return equation.tensor().transpose(*equation["permutation"]) if equation["permutation"] else equation.tensor()


@primitive("broadcast_in_dim", meaning="Broadcast", moves=True)
def _broadcast(equation: Equation) -> Result:
    x, shape = equation.tensor(), equation.shapes[0]
    places = tuple(int(axis) for axis in equation["broadcast_dimensions"])
    wide = [1] * len(shape)
    for axis, place in enumerate(places):
        wide[place] = x.shape[axis]
    value = equation.inputs[0]
    spread = (value, places) if value.kind == "int" else None
    if spread is not None and value.spread is not None:
        # Repeated twice: of what the first time repeated, where the second time kept those axes.
        inner, within = value.spread
        if all(x.shape[axis] == 1 for axis in range(x.ndim) if axis not in within):
            spread = (inner, tuple(places[axis] for axis in within))
    if spread is not None:
        spread = _thin(spread, shape)
    return Result(x.reshape(*wide).broadcast(shape), value.interval, (), spread)


def _thin(spread: tuple[Value, tuple[int, ...]], shape: Shape) -> tuple[Value, tuple[int, ...]]:
    """Return the value without those repeated axes that have extent one, since these count as new axes."""
    value, places = spread
    kept = [axis for axis, place in enumerate(places) if value.shape[axis] == shape[place]]
    if len(kept) == len(places) or not isinstance(value.content, Tensor):
        return spread
    thin = value.content.reshape(*[value.shape[axis] for axis in kept])
    return Value(thin, value.dtype, value.low, value.high), tuple(places[axis] for axis in kept)


@primitive("rev", meaning="Flip", moves=True)
def _reverse(equation: Equation) -> Tensor:
    return flip(equation.tensor(), *equation["dimensions"])


@primitive("concatenate", meaning="Concatenate", moves=True)
def _concatenate(equation: Equation) -> Result:
    axis = equation["dimension"]
    # Of associative_scan, for one, some have no elements.
    chosen = [index for index, value in enumerate(equation.inputs) if value.shape[axis]]
    parts = [equation.tensor(index) for index in chosen]
    values = tuple(equation.inputs[index] for index in chosen)
    columns: tuple[Value, ...] = ()
    if axis == len(equation.shapes[0]) - 1 and all(v.kind == "int" and v.shape[-1] == 1 for v in values):
        columns = values
    low, high = min(v.interval[0] for v in values), max(v.interval[1] for v in values)
    whole = values[0].kind in ("int", "bool")
    return Result(concatenate(parts, axis) if len(parts) > 1 else parts[0], (low, high) if whole else None, columns)


@primitive("stack", meaning="Reshape, Concatenate", moves=True)
def _stack(equation: Equation) -> Tensor:
    return stack([equation.tensor(index) for index in range(len(equation.inputs))], equation["axis"])


@primitive("slice", meaning="Slice; Window for steps", moves=True)
def _slice(equation: Equation) -> Tensor:
    steps = equation["strides"] or (1,) * len(equation.shapes[0])
    ranges = zip(equation["start_indices"], equation["limit_indices"], steps, strict=True)
    return strided(equation.tensor(), *(slice(*entry) for entry in ranges))


@primitive("split", meaning="Slice", moves=True)
def _split(equation: Equation) -> list[Tensor]:
    ends = np.cumsum([0, *equation["sizes"]]).tolist()
    x, axis = equation.tensor(), equation["axis"]
    return [take(x, axis, start, stop) for start, stop in pairwise(ends)]


@primitive("tile", meaning="Broadcast", moves=True)
def _tile(equation: Equation) -> Tensor:
    x, repeats = equation.tensor(), equation["reps"]
    spread = tuple(n for pair in zip(repeats, x.shape, strict=True) for n in pair)
    return x.apply(arrays.Broadcast(spread, tuple(range(0, 2 * x.ndim, 2)))).reshape(*equation.shapes[0])


@primitive("pad", meaning="Pad; Slice where the padding is negative", moves=True)
def _pad(equation: Equation) -> Tensor:
    x, configuration = equation.tensor(), equation["padding_config"]
    made = padded(x, configuration)
    value = equation.inputs[1].uniform()
    if value == 0.0:
        return made
    inside = padded(equation.constant(np.ones(x.shape)), configuration)
    return where(inside, made, equation.operand(1) if value is None else equation.finite(value))


def padded(x: Tensor, configuration: Sequence[tuple[int, int, int]]) -> Tensor:
    """Return x padded with zeros before, after and between the elements of each axis; a negative number takes elements
    away.
    """
    for axis, (_, _, between) in enumerate(configuration):
        if between:
            x = spaced(x, axis, between + 1)
    before, after = [c[0] for c in configuration], [c[1] for c in configuration]
    if any(n > 0 for n in (*before, *after)):
        x = x.apply(arrays.Pad(tuple(max(n, 0) for n in before), tuple(max(n, 0) for n in after)))
    if any(n < 0 for n in (*before, *after)):
        starts = tuple(max(-n, 0) for n in before)
        x = x.apply(arrays.Slice(starts, tuple(e - max(-n, 0) for e, n in zip(x.shape, after, strict=True))))
    return x


def spaced(x: Tensor, axis: int, step: int) -> Tensor:
    """Return the elements of an axis at a distance of `step`, with zeros between them."""
    extent = x.shape[axis]
    wide = x.reshape(*x.shape[: axis + 1], 1, *x.shape[axis + 1 :])
    after = tuple(step - 1 if place == axis + 1 else 0 for place in range(wide.ndim))
    made = wide.apply(arrays.Pad((0,) * wide.ndim, after))
    made = made.reshape(*x.shape[:axis], extent * step, *x.shape[axis + 1 :])
    return take(made, axis, 0, extent * step - step + 1)

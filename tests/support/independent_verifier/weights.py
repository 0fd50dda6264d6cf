"""Weights on the elements of a tensor, and what they become along a view: linear functionals and their adjoints.

Weights are separable, a number times one vector per axis, for as long as each step of a view allows it by the rules
below; otherwise dense, one per element. Both sides of the protocol follow these rules, since a claim on a product with
dense weights takes one more sumcheck.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from circuitize.circuits.integers.steps import Affine, locate
from circuitize.circuits.integers.view import View

from .arithmetic import (
    Elements,
    Field,
    Integers,
    Numbers,
    add_at,
    equality,
    multiply,
    one,
    product,
    scale,
    stack,
    total,
)

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Separable:
    factor: Elements
    axes: tuple[Elements, ...]


@dataclass(frozen=True)
class Dense:
    weights: Elements


Weights = Separable | Dense


def zeros(count: int, degree: int) -> Elements:
    return Field.zeros((count, degree))


def ones(count: int, degree: int) -> Elements:
    return zeros(count, degree) + one(degree)


def at_point(shape: Shape, point: Elements) -> Separable:
    """eq(point, .) where axes are padded to powers of two, the last axis taking the first coordinates."""
    axes: list[Elements] = []
    start = 0
    for extent in reversed(shape):
        bits = (extent - 1).bit_length()
        axes.append(equality(point[start : start + bits])[:extent])
        start += bits
    return Separable(one(point.shape[-1]), tuple(reversed(axes)))


def outer(x: Elements, y: Elements) -> Elements:
    """All products, those of the first of x first."""
    return multiply(x[:, None], y[None]).reshape(-1, x.shape[-1])


def dense(weights: Weights) -> Elements:
    if isinstance(weights, Dense):
        return weights.weights
    made = weights.factor[None]
    for axis in weights.axes:
        made = outer(made, axis)
    return made


def apply(weights: Weights, values: Numbers) -> Elements:
    """The weighted sum of a tensor's elements, in row-major order."""
    if isinstance(weights, Dense) or not weights.axes:
        return total(scale(dense(weights), values))
    *others, last = weights.axes
    sums = total(scale(last[None], values.reshape(-1, len(last))), axis=1)
    for axis in reversed(others):
        sums = total(multiply(sums.reshape(-1, *axis.shape), axis[None]), axis=1)
    return multiply(weights.factor, sums[0])


def sum_of(weights: Weights) -> Elements:
    if isinstance(weights, Dense):
        return total(weights.weights)
    return product(stack([weights.factor, *(total(axis) for axis in weights.axes)]))


def extension(weights: Weights, at: Separable) -> Elements:
    """The multilinear extension of the weights at a point, given by that point's own weights."""
    if isinstance(weights, Dense):
        made = weights.weights
        for axis in reversed(at.axes):
            made = total(multiply(made.reshape(-1, *axis.shape), axis[None]), axis=1)
        return made[0]
    own = zip(weights.axes, at.axes, strict=True)
    return product(stack([weights.factor, *(total(multiply(x, y)) for x, y in own)]))


def along(weights: Weights, view: View, sums: bool) -> Weights:
    """Weights on a tensor seen through a view (or summed along it), as weights on what it is made from."""
    shapes = [view.source_shape, *(step.shape for step in view.steps)]
    pairs = list(zip(view.steps, shapes, strict=False))
    for step, source in pairs if sums else reversed(pairs):
        if not isinstance(step, Affine):
            weights = _regroup(weights, step.shape if sums else source)
        elif sums:
            weights = _push(weights, step, source)
        else:
            weights = _pull(weights, step, source)
    return weights


def onto_rows(weights: Weights, rows: Integers, extent: int) -> Weights:
    """Weights on rows of a tensor, as weights on the tensor of so many rows: those of a row add up.

    The numbers of rows have the first axes of what is weighed.
    """
    if isinstance(weights, Separable):
        parts, *more = weights.axes[: rows.ndim]
        for axis in more:
            parts = outer(parts, axis)
    else:
        parts = weights.weights
    degree = parts.shape[-1]
    parts = parts.reshape(rows.size, -1)
    made = Field.zeros((extent, parts.shape[1]))
    add_at(made, rows.reshape(-1), parts)
    flat = made.reshape(-1, degree)
    if isinstance(weights, Separable):
        return Separable(weights.factor, (flat, *weights.axes[rows.ndim :]))
    return Dense(flat)


def _regroup(weights: Weights, shape: Shape) -> Weights:
    """Separable if every new axis is a run of old ones, as where there is no new axis."""
    if isinstance(weights, Dense):
        return weights
    if not shape:
        return Separable(product(stack([weights.factor, *(axis[0] for axis in weights.axes)])), ())
    rest = list(weights.axes)
    made: list[Elements] = []
    for extent in shape:
        vector = ones(1, weights.factor.shape[-1])
        while len(vector) < extent and rest:
            vector = outer(vector, rest.pop(0))
        if len(vector) != extent:
            return Dense(dense(weights))
        made.append(vector)
    for axis in rest:
        made[-1] = multiply(made[-1], axis[0])
    return Separable(weights.factor, tuple(made))


def _movers(step: Affine) -> list[list[int]] | None:
    """The target axes that move each source axis; None if one moves two."""
    if any(len(moved) > 1 for moved in step.columns()):
        return None
    return [[j for j, stride in enumerate(row) if stride] for row in step.strides]


def _pull(weights: Weights, step: Affine, source: Shape) -> Weights:
    """The adjoint of reading through the step. Separable if no target axis moves two source axes."""
    movers = _movers(step)
    if isinstance(weights, Dense) or movers is None:
        return Dense(gathered(dense(weights), _places(step, source), math.prod(source)))
    moving = {j for own in movers for j in own}
    still = [total(axis) for j, axis in enumerate(weights.axes) if j not in moving]
    axes: list[Elements] = []
    for extent, offset, row, own in zip(source, step.offsets, step.strides, movers, strict=True):
        reached, vector = np.array([offset], np.int64), ones(1, weights.factor.shape[-1])
        for j in own:
            reached = (reached[:, None] + row[j] * np.arange(step.shape[j])[None, :]).reshape(-1)
            vector = outer(vector, weights.axes[j])
        axes.append(gathered(vector, np.where(reached < extent, reached, -1), extent))
    return Separable(product(stack([weights.factor, *still])), tuple(axes))


def gathered(weights: Elements, places: Integers, size: int) -> Elements:
    """Each weight added to its place, where that is none below 0."""
    made = zeros(size, weights.shape[-1])
    inside = places >= 0
    add_at(made, places[inside], weights[inside])
    return made


def _push(weights: Weights, step: Affine, source: Shape) -> Weights:
    """The adjoint of summing along the step. Separable if axes of source and target move each other one to one."""
    movers = _movers(step)
    if isinstance(weights, Dense) or movers is None or any(len(own) > 1 for own in movers):
        return Dense(_read(dense(weights), _places(step, source)))
    factor = weights.factor
    axes = [ones(extent, factor.shape[-1]) for extent in step.shape]
    for i, own in enumerate(movers):
        extent, axis = source[i], weights.axes[i]
        for j in own:
            reads = step.offsets[i] + step.strides[i][j] * np.arange(step.shape[j])
            axes[j] = _read(axis, np.where(reads < extent, reads, -1))
        if not own:
            x = step.offsets[i]
            factor = multiply(factor, _read(axis, np.array([x if x < extent else -1]))[0])
    return Separable(factor, tuple(axes))


def _read(weights: Elements, places: Integers) -> Elements:
    """The weight at each place, 0 for places below 0."""
    made = zeros(len(places), weights.shape[-1])
    inside = places >= 0
    made[inside] = weights[places[inside]]
    return made


def _places(step: Affine, source: Shape) -> Integers:
    return locate(step, source, np.arange(math.prod(step.shape), dtype=np.int64))

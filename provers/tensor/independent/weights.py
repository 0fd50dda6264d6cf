"""Weights on the elements of a tensor, and what they become along a view: linear functionals and their adjoints.

Weights are separable, a number times one vector per axis, for as long as each step of a view allows it by the rules
below; otherwise dense, one per element. Both sides of the protocol follow these rules, since a claim on a product with
dense weights takes one more sumcheck.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product as indices

import numpy as np

from circuitize.circuits.integers.steps import Affine, locate
from circuitize.circuits.integers.view import View

from .arithmetic import ONE, ZERO, Element, add, dot, equality, multiply, product, scale, total

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Separable:
    factor: Element
    axes: tuple[list[Element], ...]


@dataclass(frozen=True)
class Dense:
    weights: list[Element]


Weights = Separable | Dense


def at_point(shape: Shape, point: Sequence[Element]) -> Separable:
    """eq(point, .) where axes are padded to powers of two, the last axis taking the first coordinates."""
    axes: list[list[Element]] = []
    start = 0
    for extent in reversed(shape):
        bits = (extent - 1).bit_length()
        axes.append(equality(point[start : start + bits])[:extent])
        start += bits
    return Separable(ONE, tuple(reversed(axes)))


def dense(weights: Weights) -> list[Element]:
    if isinstance(weights, Dense):
        return weights.weights
    made = [weights.factor]
    for axis in weights.axes:
        made = [multiply(x, y) for x in made for y in axis]
    return made


def apply(weights: Weights, values: Sequence[int]) -> Element:
    """The weighted sum of a tensor's elements, in row-major order."""
    return total(scale(w, int(v)) for w, v in zip(dense(weights), values, strict=True))


def sum_of(weights: Weights) -> Element:
    if isinstance(weights, Dense):
        return total(weights.weights)
    return multiply(weights.factor, product(total(axis) for axis in weights.axes))


def extension(weights: Weights, shape: Shape, point: Sequence[Element]) -> Element:
    """The multilinear extension of the weights at a point."""
    at = at_point(shape, point)
    if isinstance(weights, Dense):
        return dot(weights.weights, dense(at))
    return multiply(weights.factor, product(dot(x, y) for x, y in zip(weights.axes, at.axes, strict=True)))


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


def _regroup(weights: Weights, shape: Shape) -> Weights:
    """Separable if every new axis is a run of old ones."""
    if isinstance(weights, Dense):
        return weights
    rest = list(weights.axes)
    made: list[list[Element]] = []
    for extent in shape:
        vector = [ONE]
        while len(vector) < extent and rest:
            vector = [multiply(x, y) for x in vector for y in rest[0]]
            del rest[0]
        if len(vector) != extent:
            return Dense(dense(weights))
        made.append(vector)
    if not shape and rest:
        return Dense(dense(weights))
    for axis in rest:
        made[-1] = [multiply(x, axis[0]) for x in made[-1]]
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
        made = [ZERO] * math.prod(source)
        for weight, place in zip(dense(weights), _places(step, source), strict=True):
            if place >= 0:
                made[place] = add(made[place], weight)
        return Dense(made)
    moving = {j for own in movers for j in own}
    factor = product([weights.factor, *(total(axis) for j, axis in enumerate(weights.axes) if j not in moving)])
    axes: list[list[Element]] = []
    for extent, offset, row, own in zip(source, step.offsets, step.strides, movers, strict=True):
        axis = [ZERO] * extent
        for places in indices(*(range(step.shape[j]) for j in own)):
            x = offset + sum(row[j] * p for j, p in zip(own, places, strict=True))
            if 0 <= x < extent:
                weight = product(weights.axes[j][p] for j, p in zip(own, places, strict=True))
                axis[x] = add(axis[x], weight)
        axes.append(axis)
    return Separable(factor, tuple(axes))


def _push(weights: Weights, step: Affine, source: Shape) -> Weights:
    """The adjoint of summing along the step. Separable if axes of source and target move each other one to one."""
    movers = _movers(step)
    if isinstance(weights, Dense) or movers is None or any(len(own) > 1 for own in movers):
        flat = dense(weights)
        return Dense([flat[place] if place >= 0 else ZERO for place in _places(step, source)])
    factor = weights.factor
    axes: list[list[Element]] = [[ONE] * extent for extent in step.shape]
    for i, own in enumerate(movers):
        extent, axis = source[i], weights.axes[i]
        for j in own:
            reads = [step.offsets[i] + step.strides[i][j] * p for p in range(step.shape[j])]
            axes[j] = [axis[x] if 0 <= x < extent else ZERO for x in reads]
        if not own:
            x = step.offsets[i]
            factor = multiply(factor, axis[x] if 0 <= x < extent else ZERO)
    return Separable(factor, tuple(axes))


def _places(step: Affine, source: Shape) -> list[int]:
    places: list[int] = locate(step, source, np.arange(math.prod(step.shape), dtype=np.int64)).tolist()
    return places

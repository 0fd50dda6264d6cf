"""Views of one of several blocks of an axis: where a view is the same for each block, it can be applied block by
block.
"""

from __future__ import annotations

import math
from dataclasses import replace

from circuitize.circuits.types import Shape

from .steps import Regroup, Step
from .view import View


def block(view: View, axis: int, count: int) -> tuple[View, int | None] | None:
    """Return the view of one of `count` equal blocks of a target axis, and the source axis that is cut into as many
    blocks, or None in its place if each block of the target reads the whole source.

    Target elements of block k read elements of block k of the source axis alone, or zeros, and at the same places in
    each block. Return None if the view is not so, or the extent of an axis is no multiple of `count`.
    """
    shapes = [view.source_shape, *(step.shape for step in view.steps)]
    if shapes[-1][axis] % count:
        return None
    steps: list[Step] = []
    cut: int | None = axis
    for step, source in zip(reversed(view.steps), reversed(shapes[:-1]), strict=True):
        if cut is None:
            steps.append(step)
            continue
        steps.append(replace(step, shape=first_block(step.shape, cut, count)))
        if isinstance(step, Regroup):
            before = math.prod(step.shape[:cut])
            cut = next(
                (k for k, n in enumerate(source) if math.prod(source[:k]) == before and n % count == 0 and n > 1), None
            )
            if cut is None:
                return None
            continue
        moved = [k for k, row in enumerate(step.strides) if row[cut]]
        if len(moved) > 1:
            return None
        if not moved:
            cut = None
            continue
        (own,) = moved
        low, high = replace(step, shape=steps[-1].shape).span(own)
        extent = source[own] // count
        if source[own] % count or step.strides[own][cut] * steps[-1].shape[cut] != extent or low < 0 or high >= extent:
            return None
        cut = own
    source_shape = view.source_shape if cut is None else first_block(view.source_shape, cut, count)
    return View(source_shape, tuple(reversed(steps))), cut


def first_block(shape: Shape, axis: int, count: int) -> Shape:
    """Return the shape of one of `count` equal blocks of an axis."""
    return (*shape[:axis], shape[axis] // count, *shape[axis + 1 :])

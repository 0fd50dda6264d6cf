"""Convolution and pooling over any number of axes: padded, stepped, dilated, in groups, and transposed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from circuitize.circuits import arrays
from circuitize.circuits.errors import TypingError

from .functions import concatenate, einsum, first_maximum
from .tensor import Tensor

Padding = int | Sequence[tuple[int, int]]
"""The number of zeros on every side, or before and after each axis of positions."""

SPACE, TAPS = "rstu", "hijk"
"""Letters of equations: for positions and for elements of windows; b, g, c, d are examples, groups, channels in and
out.
"""


def convolution(
    x: Tensor,
    kernel: Tensor,
    padding: Padding = 0,
    steps: int | Sequence[int] = 1,
    dilations: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor:
    """Return the convolution, of shape [B, *positions', D], of x [B, *positions, C] with a kernel [*sizes, C / groups,
    D].

    Group g of the input channels of a convolution gives group g of the output channels; positions' = (positions +
    padding - dilation * (size - 1) - 1) // step + 1. The kernel of a convolution is not flipped, as usual in machine
    learning.
    """
    rank = x.ndim - 2
    if groups < 1 or x.shape[-1] != kernel.shape[-2] * groups or kernel.shape[-1] % groups or kernel.ndim != x.ndim:
        raise TypingError(
            f"expected a kernel [.., channels in / groups, channels out] for {list(x.shape)} in {groups} groups, "
            f"found {list(kernel.shape)}; correct one of them"
        )
    windows = _windows(padded(x, padding), kernel.shape[:rank], steps, dilations)
    places, taps = SPACE[:rank], TAPS[:rank]
    if groups == 1:
        return einsum(f"b{places}c{taps},{taps}cd->b{places}d", windows, kernel)
    channels, made = kernel.shape[-2:]
    grouped = windows.reshape(*windows.shape[: rank + 1], groups, channels, *kernel.shape[:rank])
    of = kernel.reshape(*kernel.shape[:-1], groups, made // groups)
    result = einsum(f"b{places}gc{taps},{taps}cgd->b{places}gd", grouped, of)
    return result.reshape(*result.shape[:-2], made)


def transposed_convolution(
    x: Tensor,
    kernel: Tensor,
    padding: Padding = 0,
    steps: int | Sequence[int] = 1,
    dilations: int | Sequence[int] = 1,
    groups: int = 1,
    more: Sequence[int] = (),
) -> Tensor:
    """Return the adjoint of `convolution` with the given kernel: [B, *positions, D] to [B, *positions', C].

    The kernel of a transposed convolution is [*sizes, C / groups, D]; positions' = step * (positions - 1) + dilation *
    (size - 1) + 1 + more - padding, where `more`, by default 0, says which of the extents that the convolution maps to
    `positions` is meant.
    """
    rank = x.ndim - 2
    steps, dilations = _each(steps, rank), _each(dilations, rank)
    more = more or (0,) * rank
    if groups < 1 or x.shape[-1] % groups or kernel.shape[-1] != x.shape[-1] or kernel.ndim != x.ndim:
        raise TypingError(
            f"expected a kernel [.., channels out / groups, channels in] for {list(x.shape)} in {groups} groups, "
            f"found {list(kernel.shape)}; correct one of them"
        )
    sizes, channels, count = kernel.shape[:rank], kernel.shape[-2], x.shape[-1] // groups
    places, taps = SPACE[:rank], TAPS[:rank]
    grouped = x.reshape(*x.shape[:-1], groups, count)
    of = kernel.reshape(*kernel.shape[:-1], groups, count)
    parts = einsum(f"b{places}gd,{taps}cgd->b{places}gc{taps}", grouped, of)
    parts = parts.reshape(*x.shape[:-1], groups * channels, *sizes)
    spans = [
        step * (extent - 1) + dilation * (size - 1) + 1
        for extent, size, step, dilation in zip(x.shape[1:-1], sizes, steps, dilations, strict=True)
    ]
    axes = tuple(range(1, rank + 1))
    shape = (x.shape[0], *spans, groups * channels)
    added = parts.apply(arrays.OverlapAdd(shape, axes, sizes, steps, dilations))
    edges = _sides(padding, rank)
    after = [extra - edge[1] for extra, edge in zip(more, edges, strict=True)]
    wider = added.apply(arrays.Pad((0,) * (rank + 2), (0, *(max(extra, 0) for extra in after), 0)))
    starts = (0, *(edge[0] for edge in edges), 0)
    stops = (x.shape[0], *(span + extra for span, extra in zip(spans, after, strict=True)), groups * channels)
    return wider.apply(arrays.Slice(starts, stops))


def max_pool(
    x: Tensor,
    sizes: int | Sequence[int],
    steps: int | Sequence[int] | None = None,
    padding: Padding = 0,
    dilations: int | Sequence[int] = 1,
) -> Tensor:
    """Return the maximum of each window of [B, *positions, C]; an element of the padding is never the maximum.

    The derivative of max pooling goes to a window's first maximum, row by row. The padding of max pooling repeats the
    nearest element, which every window that reaches the padding also holds; the padding is therefore less than a
    window's size, and windows that are padded are not dilated.
    """
    rank = x.ndim - 2
    sizes, dilations = _each(sizes, rank), _each(dilations, rank)
    for axis, (side, size, dilation) in enumerate(zip(_sides(padding, rank), sizes, dilations, strict=True), 1):
        if max(side) >= size or (max(side) and dilation > 1):
            raise TypingError(
                f"expected padding below the size {size}, of windows that are not dilated, found {side} and dilation "
                f"{dilation}; pad less"
            )
        x = _repeated(x, axis, *side)
    windows = _windows(x, sizes, sizes if steps is None else steps, dilations)
    return first_maximum(windows.reshape(*windows.shape[: rank + 2], math.prod(sizes)))


def average_pool(
    x: Tensor,
    sizes: int | Sequence[int],
    steps: int | Sequence[int] | None = None,
    padding: Padding = 0,
    dilations: int | Sequence[int] = 1,
    padding_counts: bool = True,
) -> Tensor:
    """Return the mean of each window of [B, *positions, C]; the last argument says whether zeros of the padding
    count.
    """
    rank = x.ndim - 2
    sizes = _each(sizes, rank)
    steps = sizes if steps is None else steps
    windows = _windows(padded(x, padding), sizes, steps, dilations)
    total = windows.sum(axis=tuple(range(rank + 2, 2 * rank + 2)))
    if padding_counts or not any(map(any, _sides(padding, rank))):
        return total * (1.0 / math.prod(sizes))
    inside = np.pad(np.ones(x.shape[1:-1]), _sides(padding, rank))
    view = arrays.Window(tuple(range(rank)), sizes, _each(steps, rank), _each(dilations, rank))
    (counted,) = view.run(inside)
    shares = 1.0 / counted.sum(axis=tuple(range(rank, 2 * rank)))
    return total * np.asarray(shares, np.float64)[..., None]


def global_average(x: Tensor) -> Tensor:
    """Return the mean over all positions: [B, *positions, C] to [B, C]."""
    return x.mean(axis=tuple(range(1, x.ndim - 1)))


def global_maximum(x: Tensor) -> Tensor:
    """Return the maximum over all positions: [B, *positions, C] to [B, C]; its derivative goes to the first of several
    equal maxima.
    """
    return x.reshape(x.shape[0], -1, x.shape[-1]).max(1)


def padded(x: Tensor, padding: Padding) -> Tensor:
    """Return a batch [B, *positions, C] with zeros around the positions."""
    sides = _sides(padding, x.ndim - 2)
    if not any(map(any, sides)):
        return x
    return x.apply(arrays.Pad((0, *(side[0] for side in sides), 0), (0, *(side[1] for side in sides), 0)))


def _windows(x: Tensor, sizes: Sequence[int], steps: int | Sequence[int], dilations: int | Sequence[int]) -> Tensor:
    rank = x.ndim - 2
    axes = tuple(range(1, rank + 1))
    operation = arrays.Window(axes, tuple(sizes), _each(steps, rank), _each(dilations, rank))
    return x.apply(operation)


def _repeated(x: Tensor, axis: int, before: int, after: int) -> Tensor:
    """Return x with the first and the last element of an axis repeated `before` and `after` times."""
    index: list[slice] = [slice(None)] * x.ndim
    ends = []
    for place in (slice(0, 1), slice(x.shape[axis] - 1, x.shape[axis])):
        index[axis] = place
        ends.append(x[tuple(index)])
    return x if not before and not after else concatenate([ends[0]] * before + [x] + [ends[1]] * after, axis)


def _each(number: int | Sequence[int], rank: int) -> tuple[int, ...]:
    return (number,) * rank if isinstance(number, int) else tuple(number)


def _sides(padding: Padding, rank: int) -> tuple[tuple[int, int], ...]:
    if isinstance(padding, int):
        return ((padding, padding),) * rank
    return tuple((before, after) for before, after in padding)

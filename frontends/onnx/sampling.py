"""ONNX's GridSample: an image is read at positions that the program computes, as weighted sums along each axis."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from circuitize.frontends.functions import absolute, clip, einsum, floor, minimum, relu, round_half_even
from circuitize.frontends.tensor import Tensor

from .node import Node, operator
from .places import combined

CUBIC = -0.75
"""The parameter of the cubic convolution kernel."""
AXES = "uvwxyz"
MODES = {"bilinear": "linear", "bicubic": "cubic"}


@operator("GridSample")
def _sample(node: Node) -> Tensor:
    """Return the image [B, C, extents...] read at a grid [B, positions..., axes] of positions in [-1, 1], with
    coordinates for the last axis first.
    """
    x, grid = node.ranked(node.tensor(0), 3, 2 + len(AXES)), node.tensor(1)
    rank = x.ndim - 2
    if grid.ndim != x.ndim or (grid.shape[0], grid.shape[-1]) != (x.shape[0], rank):
        wanted = f"[{x.shape[0]}, ..., {rank}]"
        raise node.fault(f"expected a grid of shape {wanted}, found {list(grid.shape)}; correct it")
    mode = node.choice("mode", "linear", "nearest", "cubic", "bilinear", "bicubic")
    padding = node.choice("padding_mode", "zeros", "border", "reflection")
    corners = node.flag("align_corners", 0)
    count = math.prod(grid.shape[1:-1])
    flat, made = grid.reshape(grid.shape[0], count, rank), x
    node.bounded(x.size * count, "what the grid reads")
    letters, kept = AXES[:rank], AXES[:rank]
    for axis in reversed(range(rank)):
        weights = read_weights(flat[..., rank - 1 - axis], x.shape[2 + axis], MODES.get(mode, mode), padding, corners)
        positions = "" if axis == rank - 1 else "p"
        left = kept.replace(letters[axis], "")
        made = einsum(f"bc{positions}{kept},bp{letters[axis]}->bcp{left}", made, weights)
        kept = left
    return made.reshape(*x.shape[:2], *grid.shape[1:-1])


def read_weights(grid: Tensor, extent: int, mode: str, padding: str, corners: bool) -> Tensor:
    """Return, for positions [B, P] in [-1, 1], weights [B, P, extent]: how much each position reads of each element of
    an axis.
    """
    low, high = (0.0, extent - 1.0) if corners else (-0.5, extent - 0.5)
    at = (grid + 1.0) * ((high - low) / 2) + low
    if mode == "nearest":
        at = round_half_even(at)
    reach = 2 if mode == "cubic" else 1
    if padding == "border":
        at = clip(at, -1.0 - reach, extent + reach)
    elif padding == "reflection":
        at = _reflected(at, low, high)
    if padding == "zeros":
        return kernel(at, np.arange(extent), mode)
    # Elements beyond the ends are those at the ends, or those that they mirror.
    beyond = np.arange(-1 - reach, extent + 1 + reach)
    own = np.clip(beyond, 0, extent - 1) if padding == "border" else mirrored(beyond, extent, corners)
    return combined(kernel(at, beyond, mode), 2, np.eye(extent)[own].T)


def mirrored(places: NDArray[np.int64], extent: int, corners: bool) -> NDArray[np.int64]:
    """Return the element of an axis that is read at each place beyond the axis's ends: the axis is mirrored at its
    ends, or half a step beyond them.
    """
    if extent == 1:
        return np.zeros_like(places)
    period = 2 * (extent - 1) if corners else 2 * extent
    rest = places % period
    return np.where(rest < extent, rest, period - rest - (0 if corners else 1))


def _reflected(at: Tensor, low: float, high: float) -> Tensor:
    """Return a position reflected between two mirrors: as the position grows, its distance from the lower mirror goes
    up and down.
    """
    span = high - low
    if not span:
        return at * 0.0
    away = absolute(at - low)
    rest = away - floor(away * (1 / (2 * span))) * (2 * span)
    return (span - absolute(span - rest)) + low


def kernel(at: Tensor, places: NDArray[np.int64], mode: str) -> Tensor:
    """Return, for positions [..., P], weights [..., P, places]: how much the element at each place counts, by its
    distance from the position.
    """
    distance = absolute(at.reshape(*at.shape, 1) - places.astype(np.float64))
    if mode != "cubic":
        return relu(1.0 - distance)
    near, far = minimum(distance, 1.0), clip(distance, 1.0, 2.0)
    # Keys, 1981, equation 4; both cubics are 0 at distance 1, the second at 2 too.
    first = ((near * (CUBIC + 2) - (CUBIC + 3)) * near) * near + 1.0
    return first + ((far * CUBIC - 5 * CUBIC) * far + 8 * CUBIC) * far - 4 * CUBIC

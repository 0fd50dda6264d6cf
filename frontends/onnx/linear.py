"""ONNX operators that contract: matrix products, convolutions and their transposes."""

from __future__ import annotations

import math

import numpy as np

from circuitize.frontends.functions import einsum
from circuitize.frontends.trace import Tensor

from .layout import pad, pick
from .node import Node, operator
from .pooling import Spatial, spatial, windows


@operator("MatMul")
def _matmul(node: Node) -> Tensor:
    return node.tensor(0) @ node.tensor(1)


@operator("Gemm")
def _gemm(node: Node) -> Tensor:
    a, b = node.tensor(0), node.tensor(1)
    a, b = a.T if node.attribute("transA", 0) else a, b.T if node.attribute("transB", 0) else b
    product = (a @ b) * node.number("alpha", 1.0)
    return product + node.tensor(2) * node.number("beta", 1.0) if node.has(2) else product


@operator("Einsum")
def _einsum(node: Node) -> Tensor:
    return einsum(node.attribute("equation", ""), node.tensor(0), node.tensor(1))


@operator("Conv")
def _convolution(node: Node) -> Tensor:
    """[B, C, ...] with a kernel [D, C / groups, ...] to [B, D, ...]."""
    x, kernel = node.tensor(0), node.tensor(1)
    groups = node.attribute("group", 1)
    places = spatial(node, x.shape[2:], kernel.shape[2:])
    return _biased(node, _grouped(windows(x, places), kernel, groups))


def _grouped(taken: Tensor, kernel: Tensor, groups: int) -> Tensor:
    """Windows [B, C, P..., W...] and a kernel [D, C / groups, W...] to [B, D, P...]."""
    rank = kernel.ndim - 2
    batch, channels, *rest = taken.shape
    positions, size = rest[:rank], math.prod(rest[rank:])
    flat = taken.reshape(batch, groups, channels // groups, math.prod(positions), size)
    own = kernel.reshape(groups, kernel.shape[0] // groups, kernel.shape[1], size)
    made = einsum("bgcpw,gdcw->bgdp", flat, own)
    return made.reshape(batch, kernel.shape[0], *positions)


def _biased(node: Node, made: Tensor) -> Tensor:
    if not node.has(2):
        return made
    bias = node.tensor(2)
    return made + bias.reshape(bias.shape[0], *[1] * (made.ndim - 2))


@operator("ConvTranspose")
def _transposed(node: Node) -> Tensor:
    """[B, C, ...] with a kernel [C, D / groups, ...] to [B, D, ...]: zeros between, and the kernel turned round."""
    x, kernel = node.tensor(0), node.tensor(1)
    groups, rank = node.attribute("group", 1), x.ndim - 2
    steps = list(node.attribute("strides", [1] * rank))
    gaps = list(node.attribute("dilations", [1] * rank))
    extra = list(node.attribute("output_padding", [0] * rank))
    sizes = kernel.shape[2:]
    reach = [gap * (size - 1) + 1 for gap, size in zip(gaps, sizes, strict=True)]
    full = [(extent - 1) * s + r + e for extent, s, r, e in zip(x.shape[2:], steps, reach, extra, strict=True)]
    pads = list(node.attribute("pads", [0] * (2 * rank)))
    wanted = node.attribute("output_shape", None)
    automatic = node.attribute("auto_pad", "NOTSET")
    if wanted is None and automatic.startswith("SAME"):
        wanted = [extent * step for extent, step in zip(x.shape[2:], steps, strict=True)]
    if wanted is not None:
        over = [have - want for have, want in zip(full, list(wanted)[-rank:], strict=True)]
        lower = automatic == "SAME_UPPER"
        pads = [o // 2 if lower else o - o // 2 for o in over] + [o - o // 2 if lower else o // 2 for o in over]
    spread = x
    for axis, step in enumerate(steps, 2):
        spread = _spread(spread, axis, step)
    before = [0, 0, *(r - 1 - p for r, p in zip(reach, pads[:rank], strict=True))]
    after = [0, 0, *(r - 1 - p + e for r, p, e in zip(reach, pads[rank:], extra, strict=True))]
    turned = kernel.reshape(groups, kernel.shape[0] // groups, *kernel.shape[1:])
    turned = turned.transpose(0, 2, 1, *range(3, 3 + rank))
    turned = turned.reshape(groups * kernel.shape[1], kernel.shape[0] // groups, *sizes)
    for axis, size in enumerate(sizes, 2):
        turned = pick(turned, axis, np.arange(size)[::-1])
    padded = pad(spread, before, after)
    places = Spatial(tuple(sizes), (1,) * rank, tuple(gaps), (0,) * rank, (0,) * rank)
    return _biased(node, _grouped(windows(padded, places), turned, groups))


def _spread(x: Tensor, axis: int, step: int) -> Tensor:
    """step - 1 zeros between the elements of an axis."""
    if step == 1:
        return x
    shape = list(x.shape)
    columns = x.reshape(*shape[: axis + 1], 1, *shape[axis + 1 :])
    none = [0] * columns.ndim
    wide = pad(columns, none, [step - 1 if place == axis + 1 else 0 for place in range(columns.ndim)])
    flat = wide.reshape(*shape[:axis], shape[axis] * step, *shape[axis + 1 :])
    return flat[(*[slice(None)] * axis, slice(0, (shape[axis] - 1) * step + 1))]

"""ONNX operators that contract: matrix products, convolutions and their transposes."""

from __future__ import annotations

import math

from circuitize.frontends.convolution import convolution, transposed_convolution
from circuitize.frontends.tensor import Tensor

from .channels import channels_first, channels_last
from .node import NUMBERS, Node, Result, constant, operator
from .places import pad
from .pooling import paddings, positive, spatial
from .whole import Interval, magnitude, product

MOST_AXES = 4
"""The most axes of positions of a convolution."""


@operator("MatMul", kinds=NUMBERS)
def _matmul(node: Node) -> Result:
    a, b = node.tensor(0), node.tensor(1)
    if not a.ndim or not b.ndim:
        raise node.fault(
            f"expected at least one axis on both sides, found {list(a.shape)} and {list(b.shape)}; use Mul"
        )
    return node.kept(a @ b, *sums(node, a.shape[-1]))


def sums(node: Node, count: int) -> tuple[Interval, int]:
    """Return the interval of sums of `count` products of an ONNX node's first two inputs, and the greatest magnitude of
    a partial sum.
    """
    low, high = product(node.interval(0), node.interval(1))
    return (low * count, high * count), magnitude((low, high)) * count


@operator("Gemm", kinds=NUMBERS)
def _gemm(node: Node) -> Result:
    a, b = node.ranked(node.tensor(0), 2, 2), node.ranked(node.tensor(1), 2, 2)
    a, b = a.T if node.flag("transA", 0) else a, b.T if node.flag("transB", 0) else b
    alpha, beta = node.number("alpha", 1.0), node.number("beta", 1.0)
    if node.whole and (alpha, beta) != (1.0, 1.0):
        raise node.fault(f"expected alpha and beta of 1 for whole numbers, found {alpha} and {beta}; cast to floats")
    made, ((low, high), reach) = (a @ b) * alpha, sums(node, a.shape[1])
    if node.has(2):
        least, most = node.interval(2)
        made = made + (node.tensor(2) * beta).broadcast(made.shape)
        low, high, reach = low + least, high + most, reach + magnitude((least, most))
    return node.kept(made, (low, high), reach)


@operator("Conv")
def _convolution(node: Node) -> Tensor:
    """Return the convolution of [B, C, ...] with a kernel [D, C / groups, ...], of shape [B, D, ...]."""
    x, kernel = _operands(node)
    groups = node.attribute("group", 1)
    if x.shape[1] != groups * kernel.shape[1] or kernel.shape[0] % groups:
        raise node.fault(
            f"expected a kernel of [D, {x.shape[1]} / {groups}, ...], found {list(kernel.shape)}; correct it"
        )
    places = spatial(node, x.shape[2:], kernel.shape[2:])
    sides = list(zip(places.before, places.after, strict=True))
    made = convolution(channels_last(x), _turned(node, kernel), sides, places.steps, places.gaps, groups)
    return channels_first(_biased(node, made))


def _operands(node: Node) -> tuple[Tensor, Tensor]:
    """Return the image and the kernel of a convolution, after checking that both have the same rank, at least 3, and
    that the kernel has the extents that the ONNX node states.
    """
    x = node.ranked(node.tensor(0), 3)
    if x.ndim > 2 + MOST_AXES:
        raise node.fault(f"expected at most {MOST_AXES} axes of positions, found shape {list(x.shape)}; merge axes")
    kernel = node.ranked(node.tensor(1), x.ndim, x.ndim)
    sizes = list(kernel.shape[2:])
    if list(node.attribute("kernel_shape", sizes)) != sizes:
        raise node.fault(
            f"expected kernel_shape {sizes}, found {list(node.attribute('kernel_shape', sizes))}; correct it"
        )
    if node.attribute("group", 1) < 1:
        raise node.fault(f"expected at least 1 group, found {node.attribute('group', 1)}; correct it")
    return x, kernel


def _turned(node: Node, kernel: Tensor) -> Tensor:
    """Return a convolution's kernel with its axes in the order window, channels, channels."""
    axes, content = (*range(2, kernel.ndim), 1, 0), node.value(1).content
    return kernel.transpose(*axes) if isinstance(content, Tensor) else constant(node.builder, content.transpose(axes))


def _biased(node: Node, made: Tensor) -> Tensor:
    if not node.has(2):
        return made
    bias = node.tensor(2)
    if bias.shape != made.shape[-1:]:
        raise node.fault(f"expected a bias of {made.shape[-1]} numbers, found shape {list(bias.shape)}; correct it")
    return made + bias


@operator("ConvTranspose")
def _transposed(node: Node) -> Tensor:
    """Return the transposed convolution of [B, C, ...] with a kernel [C, D / groups, ...], of shape [B, D, ...]:
    weighted kernels, added where they overlap.
    """
    x, kernel = _operands(node)
    groups, rank = node.attribute("group", 1), x.ndim - 2
    if x.shape[1] != kernel.shape[0] or x.shape[1] % groups:
        raise node.fault(
            f"expected a kernel of [{x.shape[1]}, D / {groups}, ...], found {list(kernel.shape)}; correct it"
        )
    steps, gaps = positive(node, "strides", rank), positive(node, "dilations", rank)
    extra = node.several(node.attribute("output_padding", [0] * rank), rank, "output_padding")
    if any(not 0 <= e < max(s, g) for e, s, g in zip(extra, steps, gaps, strict=True)):
        raise node.fault(f"expected output_padding below strides or dilations, found {extra}; correct it")
    sizes = kernel.shape[2:]
    reach = [gap * (size - 1) + 1 for gap, size in zip(gaps, sizes, strict=True)]
    full = [(extent - 1) * s + r + e for extent, s, r, e in zip(x.shape[2:], steps, reach, extra, strict=True)]
    wanted = node.attribute("output_shape", None)
    automatic = node.choice("auto_pad", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
    pads = paddings(node, rank, automatic)
    if wanted is None and automatic.startswith("SAME"):
        wanted = [extent * step for extent, step in zip(x.shape[2:], steps, strict=True)]
    if wanted is not None:
        over = [
            have - want for have, want in zip(full, node.several(wanted, rank, "extents of output_shape"), strict=True)
        ]
        if min(over) < 0 and automatic.startswith("SAME"):
            raise node.fault("expected kernels of at least the strides beside auto_pad, found smaller ones; give pads")
        lower = automatic == "SAME_UPPER"
        pads = [o // 2 if lower else o - o // 2 for o in over] + [o - o // 2 if lower else o // 2 for o in over]
    made = groups * kernel.shape[1]
    node.bounded(x.size // x.shape[1] * made * math.prod(sizes), "the windows")
    added = transposed_convolution(channels_last(x), _turned(node, kernel), 0, steps, gaps, groups)
    before = [-pads[axis] for axis in range(rank)]
    after = [more - pads[rank + axis] for axis, more in enumerate(extra)]
    return channels_first(_biased(node, pad(added, [0, *before, 0], [0, *after, 0])))

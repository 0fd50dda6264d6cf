"""Random nodes of ONNX operators that read or write at places: scatters, gathers of several axes, samples, sizes."""

from __future__ import annotations

import math

import numpy as np
from onnx_draw import Draw, Recipe

from circuitize.frontends.onnx.elements import NAMED

KNOWN = 0.5
"""How often places are known."""


def reduction(draw: Draw) -> bool:
    """The attribute, where the opset has it; whether updates of one place are added up."""
    return draw.maybe("reduction", draw.one(["none", "add", "mul", "max", "min"])) not in (None, "none")


def scatter_elements(draw: Draw) -> None:
    shape = draw.shape(1, 3)
    axis = draw.axis(len(shape))
    draw.give(shape, "small")
    axis = axis if draw.maybe("axis", axis, 0.7) is not None else 0
    at = axis % len(shape) if -len(shape) <= axis < len(shape) else 0
    many = reduction(draw)
    extent = shape[at]
    wanted = tuple(draw.whole(1, n) if n else 0 for n in shape)
    places = draw.random.integers(-extent if draw.opset >= 11 else 0, max(extent, 1), wanted)
    if not many and extent:
        # Each place once: along the axis a permutation, moved to either side of 0.
        each = np.argsort(draw.random.normal(size=(*wanted[:at], extent, *wanted[at + 1 :])), at)
        places = np.take(each, range(wanted[at]), at) - extent * (draw.opset >= 11 and draw.chance(0.3))
    draw.fixed(places, KNOWN)
    draw.give(wanted, "small")


def scatter_nd(draw: Draw) -> None:
    shape = draw.shape(1, 3)
    depth = draw.whole(1, len(shape))
    draw.give(shape, "small")
    many = reduction(draw)
    extent = math.prod(shape[:depth])
    count = draw.whole(1, 3) if many else draw.whole(1, max(min(extent, 4), 1))
    flat = draw.random.integers(0, max(extent, 1), count) if many else draw.random.permutation(extent)[:count]
    places = np.stack(np.unravel_index(flat, shape[:depth]), -1) if extent else np.zeros((count, depth), np.int64)
    draw.fixed(places - np.array(shape[:depth]) * draw.chance(0.2), KNOWN)
    draw.give((len(flat), *shape[depth:]), "small")


def gather_nd(draw: Draw) -> None:
    shape = draw.shape(1, 4, 3)
    common = draw.whole(0, min(len(shape) - 1, 2)) if "batch_dims" in draw.signature.attributes else 0
    depth = draw.whole(1, len(shape) - common)
    draw.give(shape)
    if common:
        draw.attributes["batch_dims"] = common
    extents = np.array(shape[common : common + depth])
    wanted = (*shape[:common], *draw.shape(0, 2, 3), depth)
    draw.fixed(draw.random.integers(-extents, np.maximum(extents, 1), wanted), KNOWN)


def hot(draw: Draw) -> None:
    depth, shape = draw.whole(1, 5), draw.shape(1, 3)
    low = -depth if draw.opset >= 11 else 0
    # Runtimes have few of the types that ONNX allows.
    draw.bound |= {"T1": NAMED["tensor(int64)"], "T2": NAMED["tensor(int64)"]}
    draw.bound["T3"] = NAMED[draw.one(["tensor(float)", "tensor(int64)"])]
    draw.fixed(draw.random.integers(low, depth + draw.chance(0.1), shape), 0.2)
    draw.fixed(np.array(depth) if draw.chance(0.7) else np.array([depth]))
    draw.give((2,))
    draw.maybe("axis", draw.whole(-len(shape) - 1, len(shape)))


def cache(draw: Draw) -> None:
    shape = (draw.whole(1, 3), *(draw.whole(1, 4) for _ in range(draw.whole(1, 3))))
    axis = draw.whole(1, len(shape) - 1)
    draw.give(shape)
    draw.attributes["axis"] = axis - len(shape) if draw.chance(0.5) else axis
    count = draw.whole(1, shape[axis])
    draw.give(tuple(count if a == axis else n for a, n in enumerate(shape)))
    circular = draw.maybe("mode", draw.one(["linear", "circular"])) == "circular"
    if draw.chance(0.8):
        draw.fixed(draw.random.integers(0, shape[axis] if circular else shape[axis] - count + 1, shape[:1]), KNOWN)


def unpool(draw: Draw) -> None:
    rank = draw.one([1, 2])
    shape, step = (draw.whole(1, 2), draw.whole(1, 2), *(draw.whole(1, 3) for _ in range(rank))), draw.whole(1, 3)
    draw.give(shape)
    extent = math.prod(shape) * step**rank
    draw.fixed(draw.random.permutation(extent)[: math.prod(shape)].reshape(shape), KNOWN)
    draw.attributes |= {"kernel_shape": [step] * rank, "strides": [step] * rank}


def image(draw: Draw) -> None:
    rank = draw.one([1, 2, 2, 3])
    extents, sizes = [draw.whole(2, 5) for _ in range(rank)], [draw.whole(1, 2) for _ in range(rank)]
    steps = draw.maybe("strides", [draw.whole(1, 2) for _ in range(rank)]) or [1] * rank
    pads = draw.maybe("pads", [draw.whole(0, 1) for _ in range(2 * rank)]) or [0] * (2 * rank)
    counts = [
        (n + pads[a] + pads[rank + a] - size) // steps[a] + 1
        for a, (n, size) in enumerate(zip(extents, sizes, strict=True))
    ]
    draw.give((draw.whole(1, 2), draw.whole(1, 2) * math.prod(sizes), math.prod(counts)), "small")
    draw.fixed(np.array(extents))
    draw.fixed(np.array(sizes))


def compress(draw: Draw) -> None:
    shape = draw.shape(1, 3)
    draw.give(shape)
    axis = draw.maybe("axis", draw.axis(len(shape)))
    fits = axis is not None and -len(shape) <= axis < len(shape)
    extent = shape[axis] if fits else math.prod(shape)
    draw.fixed(draw.random.integers(0, 2, draw.whole(1, max(extent, 1))), 0.9)


def reverse(draw: Draw) -> None:
    shape = (draw.whole(1, 4), draw.whole(1, 4), *draw.shape(0, 1))
    draw.give(shape)
    if draw.chance(0.5):
        draw.attributes |= {"batch_axis": 0, "time_axis": 1}
    batch = draw.attributes.get("batch_axis", 1)
    draw.fixed(draw.random.integers(1, shape[1 - batch] + 1, (shape[batch],)), KNOWN)


def sample(draw: Draw) -> None:
    rank = draw.one([2, 2, 3]) if draw.opset >= 20 else 2
    batch = draw.whole(1, 2)
    draw.give((batch, draw.whole(1, 2), *(draw.whole(1, 4) for _ in range(rank))), "small", 0.1)
    old = draw.opset < 20
    draw.maybe("mode", draw.one(["bilinear", "bicubic"] if old else ["linear", "cubic"][: 4 - rank]))
    draw.maybe("padding_mode", draw.one(["zeros", "border", "reflection"]))
    draw.maybe("align_corners", draw.whole(0, 1))
    draw.give((batch, *(draw.whole(1, 3) for _ in range(rank)), rank), "inside one", 0.1)


def resize(draw: Draw) -> None:
    """Numbers by which results do not jump: scales of a fraction that a float holds."""
    old = draw.operator == "Upsample" or draw.opset < 11
    if old:
        draw.bound["T"] = NAMED["tensor(float)"]
    shape = (1, draw.whole(1, 2), draw.whole(1, 4), draw.whole(1, 4))
    scales = [1.0, 1.0, *(draw.one([1.0, 2.0, 3.0, 1.5, 2.5]) for _ in range(2))]
    draw.give(shape, "small")
    mode = draw.maybe("mode", draw.one(["nearest", "linear"] if old else ["nearest", "linear", "cubic"]), 0.8)
    if draw.operator == "Upsample" and draw.opset < 9:
        draw.attributes["scales"] = scales
        return
    if old:
        draw.fixed(np.array(scales), 1.0)
        return
    exact = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]
    draw.maybe("coordinate_transformation_mode", draw.one(exact[:2] if mode in (None, "nearest") else exact))
    draw.maybe("nearest_mode", draw.one(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]))
    draw.maybe("exclude_outside", draw.whole(0, 1) if mode == "cubic" else 0, 0.3)
    draw.maybe("cubic_coeff_a", -0.5, 0.3)
    draw.skip() if draw.opset >= 13 else draw.fixed(np.zeros(0), 1.0)
    # Beside align_corners runtimes read scales that give no whole extent in two ways.
    whole = draw.attributes.get("coordinate_transformation_mode") != "align_corners"
    if draw.chance(0.5) and whole:
        draw.fixed(np.array(scales), 1.0)
        return
    draw.skip() if draw.opset >= 13 else draw.fixed(np.zeros(0), 1.0)
    draw.fixed(np.array([math.floor(n * s) for n, s in zip(shape, scales, strict=True)]), 1.0)


PLACES: dict[str, Recipe] = {
    **dict.fromkeys(("ScatterElements", "Scatter"), scatter_elements),
    "ScatterND": scatter_nd,
    "GatherND": gather_nd,
    "OneHot": hot,
    "TensorScatter": cache,
    "MaxUnpool": unpool,
    "Col2Im": image,
    "Compress": compress,
    "ReverseSequence": reverse,
    "GridSample": sample,
    **dict.fromkeys(("Resize", "Upsample"), resize),
}

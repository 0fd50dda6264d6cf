"""Random nodes of ONNX operators that move elements or speak of shapes."""

from __future__ import annotations

import math

import numpy as np
from onnx_draw import Draw, Recipe


def reshape(draw: Draw) -> None:
    shape = draw.shape()
    draw.give(shape)
    wanted = [int(extent) for extent in draw.random.permutation(shape)] if shape else []
    while draw.chance(0.5) and wanted:
        place = draw.whole(0, len(wanted) - 1)
        wanted[place : place + 2] = [math.prod(wanted[place : place + 2])]
    if draw.chance(0.3):
        wanted.append(1)
    if wanted and draw.chance(0.3):
        wanted[draw.whole(0, len(wanted) - 1)] = -1
    if wanted and draw.chance(0.05):
        wanted[0] = draw.one([0, -1, 7, 1 << 40])
    draw.fixed(np.array(wanted, np.int64))
    draw.maybe("allowzero", draw.whole(0, 1), 0.2)


def flatten(draw: Draw) -> None:
    shape = draw.shape(0)
    draw.give(shape)
    draw.maybe("axis", draw.one([*range(len(shape) + 1), draw.axis(len(shape))]))


def squeeze(draw: Draw) -> None:
    shape = tuple(1 if draw.chance(0.5) else extent for extent in draw.shape(1))
    draw.give(shape)
    ones = [a - len(shape) * (draw.opset >= 11 and draw.chance(0.3)) for a, extent in enumerate(shape) if extent == 1]
    if draw.chance(0.05):
        ones.append(draw.axis(len(shape)))
    if ones and draw.chance(0.7):
        if draw.opset < 13:
            draw.attributes["axes"] = ones
        else:
            draw.fixed(np.array(ones))


def unsqueeze(draw: Draw) -> None:
    shape, count = draw.shape(0, 3), draw.whole(1, 2)
    draw.give(shape)
    rank = len(shape) + count
    axes = [int(a) - rank * (draw.opset >= 11 and draw.chance(0.3)) for a in draw.random.permutation(rank)[:count]]
    if draw.opset < 13:
        draw.attributes["axes"] = axes
    else:
        draw.fixed(np.array(axes))


def transpose(draw: Draw) -> None:
    shape = draw.shape()
    draw.give(shape)
    if shape:
        draw.maybe("perm", [int(axis) for axis in draw.random.permutation(len(shape))], 0.7)


def expand(draw: Draw) -> None:
    full = draw.shape(1)
    kept = full[draw.whole(0, len(full)) :]
    draw.give(tuple(1 if draw.chance(0.5) else extent for extent in kept))
    wanted = [1 if draw.chance(0.1) else extent for extent in full]
    if draw.chance(0.03):
        wanted[0] = draw.one([0, -1, 1 << 40, 5])
    draw.fixed(np.array(wanted))


def tile(draw: Draw) -> None:
    shape = draw.shape(1, 3)
    draw.give(shape)
    repeats = [draw.whole(1, 3) for _ in shape]
    if draw.chance(0.03):
        repeats[0] = draw.one([0, -1, 1 << 40])
    draw.fixed(np.array(repeats))


def concatenate(draw: Draw) -> None:
    shape = list(draw.shape(1))
    axis = draw.axis(len(shape))
    for _ in range(draw.whole(1, 3)):
        if -len(shape) <= axis < len(shape):
            shape[axis] = draw.whole(1, 3)
        draw.give(tuple(shape))
    draw.attributes["axis"] = axis


def split(draw: Draw) -> None:
    shape = list(draw.shape(1, 3))
    axis = draw.axis(len(shape))
    inside = axis if -len(shape) <= axis < len(shape) else 0
    draw.outputs = draw.whole(1, 3)
    sizes = [draw.whole(1, 2) for _ in range(draw.outputs)]
    equal = draw.chance(0.5)
    shape[inside] = draw.outputs * draw.whole(1, 2) if equal else sum(sizes)
    draw.give(tuple(shape))
    draw.attributes["axis"] = axis
    if not equal and draw.opset < 13:
        draw.attributes["split"] = sizes
    elif not equal:
        draw.fixed(np.array(sizes))
    elif draw.opset >= 18:
        draw.attributes["num_outputs"] = draw.outputs


def slices(draw: Draw) -> None:
    shape = draw.shape(1, 3, 5)
    draw.give(shape)
    axes = draw.axes(len(shape)) or [0]
    far = [-(1 << 63), (1 << 63) - 1, 1 << 31]
    starts = [draw.one(far) if draw.chance(0.05) else draw.whole(-5, 5) for _ in axes]
    stops = [draw.one(far) if draw.chance(0.2) else draw.whole(-6, 6) for _ in axes]
    if draw.opset < 10:
        draw.attributes |= {"starts": starts, "ends": stops, "axes": axes}
        return
    for given in (starts, stops, axes, [draw.one([1, 1, 2, -1, -2, 3]) for _ in axes]):
        draw.fixed(np.array(given, np.int64))


def padding(draw: Draw) -> None:
    shape = draw.shape(1, 3)
    draw.give(shape)
    mode = draw.maybe("mode", draw.one(["constant", "constant", "edge", "reflect", *(["wrap"] * (draw.opset >= 19))]))
    most = 3 if mode in (None, "constant", "edge") else max(min(shape, default=1) - 1, 0)
    pads = [
        draw.whole(-1 if draw.chance(0.2) and mode in (None, "constant") else 0, most) for _ in range(2 * len(shape))
    ]
    if draw.chance(0.02):
        pads[0] = draw.one([1 << 40, -9, 7])
    if draw.opset < 11:
        draw.attributes["pads"] = pads
        draw.maybe("value", 1.5)
        return
    draw.fixed(np.array(pads))
    if draw.chance(0.5):
        draw.give((), "small", 0.9)


def depth(draw: Draw) -> None:
    size = draw.whole(1, 3)
    b, c, h, w = draw.shape(4, 4, 2) or (1, 1, 1, 1)
    down = draw.operator == "DepthToSpace"
    draw.give((b, c * size**2, h, w) if down else (b, c, h * size, w * size))
    draw.attributes["blocksize"] = size
    draw.maybe("mode", draw.one(["DCR", "CRD"]))


def centre(draw: Draw) -> None:
    shape = draw.shape(1, 3)
    draw.give(shape)
    draw.fixed(np.array([draw.whole(1, 5) for _ in shape]))


def gather(draw: Draw) -> None:
    shape = draw.shape(1, 3)
    draw.give(shape)
    axis = draw.axis(len(shape))
    draw.maybe("axis", axis)
    extent = shape[draw.attributes.get("axis", 0)] if -len(shape) <= axis < len(shape) else 1
    low = -extent if draw.opset >= 11 else 0
    wanted = draw.shape(0, 2, 3) if draw.operator == "Gather" else tuple(draw.whole(1, n) if n else 0 for n in shape)
    if draw.operator != "Gather" and wanted:
        wanted = (
            tuple(
                draw.whole(1, 4) if a == draw.attributes.get("axis", 0) % len(shape) else n
                for a, n in enumerate(wanted)
            )
            if -len(shape) <= axis < len(shape)
            else wanted
        )
    draw.fixed(draw.random.integers(low, max(extent, low + 1), wanted), 0.4)


def triangle(draw: Draw) -> None:
    draw.give(draw.shape(2, 4))
    if draw.chance(0.7):
        draw.fixed(np.array(draw.one([0, 1, -1, 2, -5, 1 << 40])))
    draw.maybe("upper", draw.whole(0, 1))


def shape_of(draw: Draw) -> None:
    draw.give(draw.shape())
    draw.maybe("start", draw.whole(-5, 5), 0.3)
    draw.maybe("end", draw.whole(-5, 5), 0.3)


def eye(draw: Draw) -> None:
    draw.give(draw.shape(2, 2))
    draw.maybe("k", draw.one([0, 1, -1, 9, -(1 << 40)]))
    draw.maybe("dtype", draw.one([1, 6, 7, 9, 10, 11]))


def span(draw: Draw) -> None:
    if not draw.chance(0.02):
        for value in (draw.whole(-5, 5), draw.whole(-5, 9), draw.one([1, 2, 3, -1, -2])):
            draw.fixed(np.array(value))
    else:
        for value in (0, draw.one([1 << 14, 5]), draw.one([0, 1])):
            draw.fixed(np.array(value))


def constant_of_shape(draw: Draw) -> None:
    shape = list(draw.shape(0, 3))
    if draw.chance(0.03) and shape:
        shape[0] = draw.one([1 << 40, -1])
    draw.fixed(np.array(shape, np.int64))


LAYOUT: dict[str, Recipe] = {
    "Reshape": reshape,
    "Flatten": flatten,
    "Squeeze": squeeze,
    "Unsqueeze": unsqueeze,
    "Transpose": transpose,
    "Expand": expand,
    "Tile": tile,
    "Concat": concatenate,
    "Split": split,
    "Slice": slices,
    "Pad": padding,
    "DepthToSpace": depth,
    "SpaceToDepth": depth,
    "CenterCropPad": centre,
    "Gather": gather,
    "GatherElements": gather,
    "Trilu": triangle,
    **dict.fromkeys(("Shape", "Size"), shape_of),
    "EyeLike": eye,
    "Range": span,
    "ConstantOfShape": constant_of_shape,
}

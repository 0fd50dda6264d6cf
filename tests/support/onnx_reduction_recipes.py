"""Random nodes of ONNX operators that work along axes: sums, extremes, orders, shares."""

from __future__ import annotations

import numpy as np
from onnx_draw import Draw, Recipe


def reduction(domain: str = "any") -> Recipe:
    def recipe(draw: Draw) -> None:
        shape = draw.shape(0 if draw.opset >= 13 else 1, 4, 3)
        draw.give(shape, domain)
        axes = draw.axes(len(shape))
        if draw.chance(0.02):
            axes.append(draw.axis(len(shape)))
        if "axes" in draw.signature.attributes:
            if axes:
                draw.maybe("axes", axes, 0.7)
        elif draw.chance(0.7):
            draw.fixed(np.array(axes, np.int64))
        draw.maybe("keepdims", draw.whole(0, 1))
        draw.maybe("noop_with_empty_axes", draw.whole(0, 1), 0.3)

    return recipe


def along(draw: Draw) -> None:
    shape = draw.shape(1, 4)
    draw.give(shape)
    for name, share in (("axis", 0.7), ("keepdims", 0.5), ("select_last_index", 0.5)):
        draw.maybe(name, draw.axis(len(shape)) if name == "axis" else draw.whole(0, 1), share)
    draw.maybe("p", draw.one([1, 2, 2]))


def cumulative(draw: Draw) -> None:
    shape = draw.shape(1, 3)
    draw.give(shape, "small")
    draw.fixed(np.array(draw.axis(len(shape))) if draw.chance(0.9) else np.array([draw.whole(0, len(shape) - 1)]))
    draw.maybe("exclusive", draw.whole(0, 1))
    draw.maybe("reverse", draw.whole(0, 1))


def top(draw: Draw) -> None:
    shape = draw.shape(1, 3)
    axis = draw.axis(len(shape))
    array = draw.give(shape)
    extent = shape[axis] if -len(shape) <= axis < len(shape) else 1
    draw.maybe("axis", axis, 0.7)
    extent = extent if "axis" in draw.attributes else shape[-1]
    count = draw.whole(1, max(extent, 1)) if draw.chance(0.97) else extent + 1
    if draw.opset < 10:
        draw.attributes["k"] = count
    else:
        draw.fixed(np.array([count]))
    draw.maybe("largest", draw.whole(0, 1))
    draw.outputs = 2
    del array


def softmax(draw: Draw) -> None:
    shape = draw.shape(1)
    draw.give(shape)
    draw.maybe("axis", draw.axis(len(shape)), 0.7)


REDUCTIONS: dict[str, Recipe] = {
    **dict.fromkeys(
        (
            "ReduceSum",
            "ReduceMean",
            "ReduceL1",
            "ReduceL2",
            "ReduceSumSquare",
            "ReduceMax",
            "ReduceMin",
            "ReduceProd",
            "ReduceLogSumExp",
        ),
        reduction(),
    ),
    "ReduceLogSum": reduction("positive"),
    **dict.fromkeys(("ArgMax", "ArgMin", "LpNormalization"), along),
    "CumSum": cumulative,
    "TopK": top,
    **dict.fromkeys(("Softmax", "LogSoftmax", "Hardmax"), softmax),
}

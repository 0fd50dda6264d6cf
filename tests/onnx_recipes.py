"""Random inputs and attributes for every ONNX operator that is read: what `onnx_graphs` makes nodes of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from onnx_draw import Draw
from onnx_layout_recipes import (
    centre,
    concatenate,
    constant_of_shape,
    depth,
    expand,
    eye,
    flatten,
    gather,
    padding,
    reshape,
    shape_of,
    slices,
    span,
    split,
    squeeze,
    tile,
    transpose,
    triangle,
    unsqueeze,
)

from circuitize.frontends.onnx.elements import NAMED


def broadcast(draw: Draw, count: int, domain: str = "any", last: str | None = None) -> None:
    """Inputs whose shapes broadcast."""
    full = draw.shape()
    for index in range(count):
        kept = full[draw.whole(0, len(full)) if draw.chance(0.3) and index else 0 :]
        shape = tuple(1 if draw.chance(0.15) else extent for extent in kept)
        draw.give(shape, domain if index < count - 1 or last is None else last)


def unary(domain: str = "any") -> Callable[[Draw], None]:
    def recipe(draw: Draw) -> None:
        draw.give(draw.shape(), domain)
        for name in ("alpha", "beta", "gamma", "lambd", "bias"):
            draw.maybe(name, float(np.float32(draw.random.normal(0.5, 0.7))))
        draw.maybe("approximate", draw.one(["none", "tanh"]))

    return recipe


def variadic(draw: Draw) -> None:
    broadcast(draw, draw.whole(1, 4))


def divide(draw: Draw) -> None:
    broadcast(draw, 2, "any", "nonzero" if draw.chance(0.97) else "any")


def power(draw: Draw) -> None:
    base = draw.shape()
    draw.give(base, "small")
    shape = base[draw.whole(0, len(base)) :]
    exponents = draw.random.integers(0 if draw.chance(0.5) else -1, 4, shape)
    draw.fixed(exponents + (0.5 if draw.chance(0.05) else 0), 0.9)


def clip(draw: Draw) -> None:
    draw.give(draw.shape())
    if draw.opset < 11:
        draw.maybe("min", float(draw.whole(-3, 1)))
        draw.maybe("max", float(draw.whole(-1, 4)))
        return
    for _ in range(draw.whole(0, 2)):
        draw.skip() if draw.chance(0.2) else draw.give((), "small", 0.6)


def cast(draw: Draw) -> None:
    draw.give(draw.shape(), "small" if draw.chance(0.3) else "any")
    draw.attributes["to"] = draw.one([1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13])


def cast_like(draw: Draw) -> None:
    draw.give(draw.shape(), "small" if draw.chance(0.3) else "any")
    draw.give(draw.shape())


def dropout(draw: Draw) -> None:
    draw.give(draw.shape())
    draw.outputs = draw.whole(1, 2)
    draw.maybe("ratio", 0.3)


def parametric(draw: Draw) -> None:
    shape = draw.shape(1)
    draw.give(shape)
    draw.give(tuple(1 if draw.chance(0.3) else extent for extent in shape[draw.whole(0, len(shape)) :]))


def reduction(domain: str = "any") -> Callable[[Draw], None]:
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


def where(draw: Draw) -> None:
    broadcast(draw, 3)


def contraction(draw: Draw) -> None:
    inner = draw.whole(1, 4)
    batch = draw.shape(0, 2, 3)
    left, right = (*batch, draw.whole(1, 3), inner), (*batch, inner, draw.whole(1, 3))
    if draw.chance(0.3):
        left = left[len(batch) :]
    if draw.chance(0.2):
        left = left[-1:]
    if draw.chance(0.2):
        right = right[-2:-1]
    draw.give(left, "small")
    draw.give(right, "small")


def gemm(draw: Draw) -> None:
    m, k, n = (draw.whole(1, 4) for _ in range(3))
    a, b = draw.maybe("transA", draw.whole(0, 1)), draw.maybe("transB", draw.whole(0, 1))
    draw.give((k, m) if a else (m, k), "small")
    draw.give((n, k) if b else (k, n), "small")
    if draw.opset < 11 or draw.chance(0.7):
        draw.give(draw.one([(m, n), (n,), (1, n), (m, 1), (1,), ()]), "small")
    draw.maybe("alpha", draw.one([1.0, 0.5, 2.0]), 0.3)
    draw.maybe("beta", draw.one([1.0, 0.5, 0.0]), 0.3)


def einsum(draw: Draw) -> None:
    equation = draw.one(
        [
            "ij,jk->ik",
            "bij,bjk->bik",
            "i,j->ij",
            "ij,ij->",
            "ij,ij->i",
            "ij,j->",
            "ij->ji",
            "ij,jk",
            "bi,bi->b",
            "ii,i->i",
        ]
    )
    extents = {letter: draw.whole(1, 3) for letter in "bijk"}
    for letters in equation.partition("->")[0].split(","):
        draw.give(tuple(extents[letter] for letter in letters), "small")
    draw.attributes["equation"] = equation


def window(draw: Draw, rank: int, sizes: Sequence[int]) -> None:
    draw.maybe("strides", [draw.whole(1, 3) for _ in range(rank)])
    draw.maybe("dilations", [draw.whole(1, 2) for _ in range(rank)], 0.3)
    automatic = draw.maybe("auto_pad", draw.one(["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]), 0.4)
    if automatic in (None, "NOTSET"):
        draw.maybe("pads", [draw.whole(0, max(size - 1, 0)) for size in (*sizes, *sizes)])
    if draw.chance(0.01):
        draw.attributes["strides"] = draw.one([[0] * rank, [1 << 40] * rank, [-1] * rank, [1] * (rank + 1)])


def convolution(draw: Draw) -> None:
    rank, groups = draw.one([1, 1, 2, 2, 3]), draw.whole(1, 2)
    channels, made = groups * draw.whole(1, 2), groups * draw.whole(1, 2)
    sizes = [draw.whole(1, 3) for _ in range(rank)]
    draw.give((draw.whole(1, 2), channels, *(draw.whole(3, 5) for _ in range(rank))), "small")
    turned = draw.operator == "ConvTranspose"
    draw.give((channels, made // groups, *sizes) if turned else (made, channels // groups, *sizes), "small", 0.6)
    if draw.chance(0.5):
        draw.give((made,), "small", 0.6)
    draw.attributes["group"] = groups
    draw.maybe("kernel_shape", sizes)
    window(draw, rank, sizes)
    if turned and draw.chance(0.3):
        draw.attributes["output_padding"] = [
            draw.whole(0, max(s - 1, 0)) for s in draw.attributes.get("strides", [1] * rank)
        ]


def pool(draw: Draw) -> None:
    rank = draw.one([1, 2, 2, 3])
    sizes = [draw.whole(1, 3) for _ in range(rank)]
    draw.give((draw.whole(1, 2), draw.whole(1, 2), *(draw.whole(3, 6) for _ in range(rank))))
    draw.attributes["kernel_shape"] = sizes
    window(draw, rank, sizes)
    draw.maybe("ceil_mode", draw.whole(0, 1), 0.4)
    draw.maybe("count_include_pad", draw.whole(0, 1))
    draw.maybe("p", draw.one([1, 2, 3]))
    draw.maybe("storage_order", draw.whole(0, 1), 0.1)


def everywhere(draw: Draw) -> None:
    draw.give(draw.shape(3, 5, 3))
    draw.maybe("p", draw.one([1, 2, 3]))


def softmax(draw: Draw) -> None:
    shape = draw.shape(1)
    draw.give(shape)
    draw.maybe("axis", draw.axis(len(shape)), 0.7)


def channels(count: int) -> Callable[[Draw], None]:
    def recipe(draw: Draw) -> None:
        groups = draw.whole(1, 2)
        size = draw.whole(1, 3) * groups
        draw.give((draw.whole(1, 2), size, *draw.shape(1, 2, 3)), "small")
        for index in range(count):
            draw.give((size,), "positive" if index == count - 1 else "small")
        draw.maybe("epsilon", float(np.float32(draw.one([1e-5, 1e-3, 0.1]))))
        if draw.operator == "GroupNormalization":
            draw.attributes["num_groups"] = groups
        draw.maybe("momentum", 0.8, 0.1)

    return recipe


def layer(draw: Draw) -> None:
    shape = draw.shape(1, 3)
    axis = draw.axis(len(shape))
    draw.give(shape, "small")
    draw.maybe("axis", axis, 0.7)
    used = draw.attributes.get("axis", -1)
    rest = shape[used:] if -len(shape) <= used < len(shape) else shape
    draw.give(rest, "small")
    if draw.operator == "LayerNormalization" and draw.chance(0.5):
        draw.give(rest, "small")
        draw.outputs = draw.whole(1, 3)
    draw.maybe("epsilon", float(np.float32(draw.one([1e-5, 1e-3, 0.1]))))


def moments(draw: Draw) -> None:
    shape = draw.shape(4, 4, 3)
    draw.give(shape, "small")
    draw.maybe("axes", draw.axes(4) or [0])


def response(draw: Draw) -> None:
    draw.give(draw.shape(4, 4, 4), "small")
    draw.attributes["size"] = draw.whole(1, 5)
    for name, value in (("alpha", 0.3), ("beta", 0.5), ("bias", 2.0)):
        draw.maybe(name, value)


def loss(draw: Draw) -> None:
    batch, classes, rest = draw.whole(1, 3), draw.whole(2, 4), draw.shape(0, 2, 3)
    draw.give((batch, classes, *rest), "small")
    draw.fixed(draw.random.integers(0, classes, (batch, *rest)), 0.3)
    if draw.chance(0.4):
        draw.give((classes,), "positive")
    draw.maybe("reduction", draw.one(["none", "mean", "sum"]))
    draw.maybe("ignore_index", draw.one([0, 1, -1]), 0.3)
    if draw.operator == "SoftmaxCrossEntropyLoss":
        draw.outputs = draw.whole(1, 2)


def optimiser(draw: Draw) -> None:
    states = {"Adagrad": 3, "Momentum": 3, "Adam": 4}[draw.operator]
    draw.bound["T1"] = NAMED["tensor(float)"]
    draw.give(())
    draw.fixed(np.array(draw.whole(0, 3)))
    shape = draw.shape(0, 2)
    for index in range(states):
        draw.give(shape, "positive" if index == states - 1 else "small")
    draw.outputs = states - 1
    if draw.operator == "Momentum":
        draw.attributes |= {
            "alpha": 0.9,
            "beta": 0.5,
            "norm_coefficient": 0.1,
            "mode": draw.one(["standard", "nesterov"]),
        }


def gated(draw: Draw) -> None:
    shape = draw.shape()
    draw.give(shape)
    draw.give(shape)


RECIPES: dict[str, Callable[[Draw], None]] = {
    **dict.fromkeys(
        ("Add", "Sub", "Mul", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal", "And", "Or", "Xor"),
        lambda draw: broadcast(draw, 2),
    ),
    **dict.fromkeys(("Sum", "Max", "Min", "Mean"), variadic),
    "Div": divide,
    "Pow": power,
    "Clip": clip,
    "Cast": cast,
    "CastLike": cast_like,
    "Dropout": dropout,
    "PRelu": parametric,
    "Where": where,
    "SwiGLU": gated,
    **dict.fromkeys(("Log", "Sqrt"), unary("positive")),
    "Reciprocal": unary("nonzero"),
    "Acosh": unary("above one"),
    "Atanh": unary("inside one"),
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
    "MatMul": contraction,
    "Gemm": gemm,
    "Einsum": einsum,
    "Conv": convolution,
    "ConvTranspose": convolution,
    **dict.fromkeys(("MaxPool", "AveragePool", "LpPool"), pool),
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"), everywhere),
    **dict.fromkeys(("Softmax", "LogSoftmax", "Hardmax"), softmax),
    "BatchNormalization": channels(4),
    **dict.fromkeys(("InstanceNormalization", "GroupNormalization"), channels(2)),
    **dict.fromkeys(("LayerNormalization", "RMSNormalization"), layer),
    "MeanVarianceNormalization": moments,
    "LRN": response,
    "Trilu": triangle,
    **dict.fromkeys(("Shape", "Size"), shape_of),
    "EyeLike": eye,
    "Range": span,
    "ConstantOfShape": constant_of_shape,
    **dict.fromkeys(("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"), loss),
    **dict.fromkeys(("Adagrad", "Adam", "Momentum"), optimiser),
}
"""The others are functions of one tensor."""

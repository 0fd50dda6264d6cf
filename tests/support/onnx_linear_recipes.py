"""Random nodes of ONNX operators that contract axes or move a window: products, convolutions, pools."""

from __future__ import annotations

from collections.abc import Sequence

from onnx_draw import Draw, Recipe


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


LINEAR: dict[str, Recipe] = {
    "MatMul": contraction,
    "Gemm": gemm,
    "Einsum": einsum,
    "Conv": convolution,
    "ConvTranspose": convolution,
    **dict.fromkeys(("MaxPool", "AveragePool", "LpPool"), pool),
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"), everywhere),
}

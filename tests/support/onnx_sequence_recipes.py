"""Random nodes of ONNX operators on sequences and on whole numbers: recurrent layers, transforms, bits, products."""

from __future__ import annotations

import numpy as np
from onnx_draw import Draw, Recipe
from onnx_element_recipes import broadcast, unary

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
LENGTH, BATCH, WIDTH, HIDDEN = 3, 2, 2, 2


def recurrent(draw: Draw) -> None:
    gates, name = GATES[draw.operator], draw.operator
    direction = draw.maybe("direction", draw.one(["forward", "reverse", "bidirectional"]))
    count = 2 if direction == "bidirectional" else 1
    steps, batch, width, hidden = (draw.whole(1, most) for most in (LENGTH, BATCH, WIDTH, HIDDEN))
    draw.attributes["hidden_size"] = hidden
    draw.give((steps, batch, width), "small", 0.1)
    draw.give((count, gates * hidden, width), "small", 0.5)
    draw.give((count, gates * hidden, hidden), "small", 0.5)
    draw.maybe("linear_before_reset", draw.whole(0, 1))
    states = [(count, batch, hidden)] * (2 if name == "LSTM" else 1)
    optional = [(count, 2 * gates * hidden), (batch,), *states, *[(count, 3 * hidden)] * (name == "LSTM")]
    for shape in optional[: draw.whole(0, len(optional))]:
        if draw.chance(0.3):
            draw.skip()
        elif shape == (batch,):
            draw.fixed(draw.random.integers(1, steps + 1, shape), 0.5)
        else:
            draw.give(shape, "small", 0.5)
    draw.outputs = draw.whole(1, 3 if name == "LSTM" else 2)


def transform(draw: Draw) -> None:
    shape = (draw.whole(1, 2), draw.whole(2, 5), draw.one([1, 1, 2]))
    draw.give(shape, "small")
    if draw.chance(0.3):
        draw.fixed(np.array(draw.whole(1, 6)))
    draw.maybe("inverse", draw.whole(0, 1) if draw.chance(0.5) else 0)
    if shape[-1] == 1 and not draw.attributes.get("inverse"):
        draw.maybe("onesided", draw.whole(0, 1))


def frames(draw: Draw) -> None:
    length = draw.whole(1, 4)
    draw.give((draw.whole(1, 2), draw.whole(4, 8), 1), "small")
    draw.fixed(np.array(draw.whole(1, 3)), 1.0)
    draw.give((length,), "small", 0.5)
    draw.fixed(np.array(length), 1.0)
    draw.maybe("onesided", draw.whole(0, 1))


def shift(draw: Draw) -> None:
    shape = draw.shape(0, 3, 3)
    draw.give(shape)
    draw.fixed(draw.random.integers(0, 7, shape), 0.5)
    draw.attributes["direction"] = draw.one(["LEFT", "RIGHT"])


def remainder(draw: Draw) -> None:
    broadcast(draw, 2, "any", "nonzero")
    floats = draw.inputs[0] is not None and draw.inputs[0][1].kind == "float"
    draw.attributes["fmod"] = 1 if floats else draw.whole(0, 1)


def products(draw: Draw) -> None:
    shape = draw.shape(1, 3, 3)
    draw.give(shape, "small")
    draw.fixed(np.array(draw.axis(len(shape))))
    draw.maybe("exclusive", draw.whole(0, 1))
    draw.maybe("reverse", draw.whole(0, 1))


def squares(draw: Draw) -> None:
    size = draw.whole(1, 4)
    draw.give((*draw.shape(0, 1, 3), size, size), "small")


def found(draw: Draw) -> None:
    draw.give(draw.shape(1, 3), "small", 0.8)


def boxes(draw: Draw) -> None:
    count = draw.whole(1, 4)
    corners = np.sort(draw.random.uniform(0, 1, (1, count, 2, 2)), 2).reshape(1, count, 4)
    draw.fixed(corners, 1.0)
    draw.fixed(draw.random.uniform(0, 1, (1, 1, count)), 1.0)
    draw.fixed(np.array([3]), 1.0)
    draw.fixed(np.array([0.5]), 1.0)


def mel(draw: Draw) -> None:
    for value in (4, 16, 8000, 100.0, 3000.0):
        draw.fixed(np.array(value), 1.0)


SEQUENCES: dict[str, Recipe] = {
    **dict.fromkeys(GATES, recurrent),
    "DFT": transform,
    "STFT": frames,
    "BitShift": shift,
    **dict.fromkeys(("BitwiseAnd", "BitwiseOr", "BitwiseXor"), lambda draw: broadcast(draw, 2)),
    "Mod": remainder,
    "CumProd": products,
    "Det": squares,
    **dict.fromkeys(("NonZero", "Unique"), found),
    "NonMaxSuppression": boxes,
    "MelWeightMatrix": mel,
    **dict.fromkeys(("Asin", "Acos"), unary("inside one")),
}

"""Random nodes of ONNX operators that work element by element."""

from __future__ import annotations

import numpy as np
from onnx_draw import Draw, Recipe


def broadcast(draw: Draw, count: int, domain: str = "any", last: str | None = None) -> None:
    """Inputs whose shapes broadcast."""
    full = draw.shape()
    for index in range(count):
        kept = full[draw.whole(0, len(full)) if draw.chance(0.3) and index else 0 :]
        shape = tuple(1 if draw.chance(0.15) else extent for extent in kept)
        draw.give(shape, domain if index < count - 1 or last is None else last)


def unary(domain: str = "any") -> Recipe:
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


def where(draw: Draw) -> None:
    broadcast(draw, 3)


def gated(draw: Draw) -> None:
    shape = draw.shape()
    draw.give(shape)
    draw.give(shape)


ELEMENTS: dict[str, Recipe] = {
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
}

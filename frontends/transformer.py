"""Transformers: blocks of attention and of dense layers, each beside what skips it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.hypergraph import Arrow, compose, identity, permute, tensor
from circuitize.circuits.types import Array, Shape

from .attention import Attention, lecun_normal, multi_head_attention, softmax_attention
from .formats import WEIGHTS, Format
from .layers import Model, Parameter, dense, gelu, sequential, traced
from .normalization import layer_norm
from .trace import trace


def residual(model: Model, kind: str = "residual") -> Model:
    """x + model(x): what the model makes of x is added to x. He et al., arXiv 1512.03385."""
    kept = [p.type for p in (*model.parameters, *model.state)]

    def beside(inner: Arrow, batch: Array) -> Arrow:
        renewed = inner.target[1:]
        types, x = [*kept, batch], len(kept)
        return compose(
            permute(types, [*range(len(types)), x]),
            tensor(inner, identity(batch)),
            permute([*inner.target, batch], [0, 1 + len(renewed), *range(1, 1 + len(renewed))]),
            tensor(trace(lambda y, x: x + y, inner.target[0], batch), identity(*renewed)),
        )

    def arrow(batch: Array) -> Arrow:
        return beside(model.arrow(batch), batch)

    inference = model.inference
    other = None if inference is None else lambda batch: beside(inference(batch), batch)
    return Model(model.parameters, arrow, kind, model.inputs, model.state, other)


def transformer_block(
    width: int,
    heads: int,
    hidden: int | None = None,
    attention: Attention = softmax_attention,
    causally: bool = False,
    epsilon: float = 2.0**-10,
    format: Format = WEIGHTS,
) -> Model:
    """x + attention(norm(x)), then y + dense(gelu(dense(norm(y)))): [B, x, width] -> [B, x, width].

    Layer norms come first, and GELU has its hyperbolic tangent, as in GPT-2; `hidden`, the width between the dense
    layers, is 4 * width by default.
    """
    hidden = hidden or 4 * width
    attend = multi_head_attention(width, heads, attention, causally, format)
    first = dense(width, hidden, format=format)
    second = dense(hidden, width, format=format, initializer=lecun_normal)
    block = sequential(
        residual(sequential(layer_norm(width, epsilon, format), attend), "attention"),
        residual(sequential(layer_norm(width, epsilon, format), first, gelu(approximate=True), second), "dense"),
    )
    return Model(block.parameters, block.arrow, "block")


def tokens(count: int, width: int) -> Model:
    """Cuts an example into `count` consecutive pieces: [B, count * width] -> [B, count, width]."""
    return traced(lambda x: x.reshape(x.shape[0], count, width), inputs=(count * width,), kind="tokens")


def positions(count: int, width: int, format: Format = WEIGHTS) -> Model:
    """Adds a trained vector to each position of a sequence: parameter table [count, width], from near 0."""

    def small(generator: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
        return generator.normal(0.0, 0.1, shape)

    return traced(lambda table, x: x + table, [Parameter("table", (count, width), small, format)], kind="positions")


def average() -> Model:
    """The mean over the positions of a sequence: [B, x, width] -> [B, width]."""
    return traced(lambda x: x.mean(axis=1), kind="average")

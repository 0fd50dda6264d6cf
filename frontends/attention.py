"""Attention: every position of a sequence reads all positions, weighted by how well queries and keys agree."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits import arrays
from circuitize.circuits.errors import TypingError
from circuitize.circuits.types import Shape

from .formats import WEIGHTS, Format
from .functions import einsum, softmax, where
from .layers import Model, Parameter, traced, zeros
from .tensor import Tensor

MASKED = -64.0
"""The score that a masked position gets: e^-64 is 0 at any precision."""


def softmax_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Return softmax attention, softmax(query key^T / sqrt(d)) value: [..., q, d], [..., x, d] and [..., x, e] to [...,
    q, e].

    `softmax_attention` is from Vaswani et al., arXiv 1706.03762, equation 1. The `mask` of an attention, of 0 and 1,
    broadcasts to [..., q, x]: where the mask is 0, the score is taken to be -64. If the mask of a row of scores is 0
    everywhere, every position has the same weight.
    """
    rows, columns, batch = _letters(query, key)
    scaled = query * (1 / math.sqrt(query.shape[-1]))
    scores = einsum(f"{batch}{rows}d,{batch}{columns}d->{batch}{rows}{columns}", scaled, key)
    if mask is not None:
        scores = where(mask.broadcast(scores.shape), scores, MASKED)
    return einsum(f"{batch}{rows}{columns},{batch}{columns}d->{batch}{rows}d", softmax(scores), value)


def spherical_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, floor: float = 2.0**-6, tile: int = 0
) -> Tensor:
    """Return spherical attention, (s / |s|) value with scores s = query key^T and their norm |s|, which takes the place
    of the softmax.

    The shapes and the mask of spherical attention are those of `softmax_attention`; a masked score is 0. The scores of
    spherical attention need no scaling, and may be negative. In spherical attention a norm below `floor` counts as the
    floor, so that a row of zero scores gives 0. The argument `tile` is how many positions spherical attention adds up
    at a time, which does not change the resulting integers.
    """
    rows, columns, batch = _letters(query, key)
    scores = einsum(f"{batch}{rows}d,{batch}{columns}d->{batch}{rows}{columns}", query, key)
    if mask is not None:
        scores = where(mask.broadcast(scores.shape), scores, 0.0)
    return scores.apply(arrays.SphericalAttention(floor, tile), value)


Attention = Callable[[Tensor, Tensor, Tensor, Tensor | None], Tensor]
"""A kind of attention: a function of a query, a key, a value and perhaps a mask."""


def causal(scores: int) -> NDArray[np.float64]:
    """Return the mask of a sequence in which each position reads itself and those before it: [q, x], 1 where x <= q."""
    return np.tril(np.ones((scores, scores)))


def lecun_normal(generator: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
    """Draw normal values with variance 1 / fan-in, where the fan-in is the first extent."""
    return generator.normal(0.0, shape[0] ** -0.5, shape)


def multi_head_attention(
    width: int,
    heads: int,
    attention: Attention = softmax_attention,
    causally: bool = False,
    format: Format = WEIGHTS,
) -> Model:
    """Return self-attention with several heads: [B, x, width] -> [B, x, width].

    Queries, keys and values of multi-head attention are x @ in_weight + in_bias, cut into three; each head has width /
    heads columns of each of the three. The result of multi-head attention is the heads' results, side by side, times
    out_weight plus out_bias. With `causally`, a position in multi-head attention reads only itself and those before it.
    `multi_head_attention` is from Vaswani et al., arXiv 1706.03762, section 3.2.2.
    """
    if width % heads:
        raise TypingError(f"expected a width that is a multiple of {heads} heads, found {width}; change one of them")
    parameters = [
        Parameter("in_weight", (width, 3 * width), lecun_normal, format),
        Parameter("in_bias", (3 * width,), zeros, format),
        Parameter("out_weight", (width, width), lecun_normal, format),
        Parameter("out_bias", (width,), zeros, format),
    ]

    def attend(in_weight: Tensor, in_bias: Tensor, out_weight: Tensor, out_bias: Tensor, x: Tensor) -> Tensor:
        batch, length = x.shape[:2]
        made = (x @ in_weight + in_bias).reshape(batch, length, 3, heads, width // heads)
        query, key, value = (made[:, :, i].transpose(0, 2, 1, 3) for i in range(3))
        mask = x.constant(causal(length)) if causally else None
        read = attention(query, key, value, mask)
        return read.transpose(0, 2, 1, 3).reshape(batch, length, width) @ out_weight + out_bias

    return traced(attend, parameters, kind="multi_head_attention")


def _letters(query: Tensor, key: Tensor) -> tuple[str, str, str]:
    """Return letters of an einsum's equation for the rows, the columns and the leading axes of scores."""
    return "q", "x", "abcefgh"[: query.ndim - 2]

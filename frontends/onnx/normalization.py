"""ONNX operators that normalise: by mean and variance, by a norm, to sum 1; and attention."""

from __future__ import annotations

import math
from collections.abc import Sequence

from circuitize.frontends.functions import exp, log, log_softmax, maximum, reciprocal_square_root, softmax, square_root
from circuitize.frontends.trace import Tensor

from .layout import pad
from .node import Node, Value, operator


def _standard(x: Tensor, axes: Sequence[int], epsilon: float) -> tuple[Tensor, Tensor, Tensor]:
    """(x - mean) / sqrt(variance + epsilon), the mean and the reciprocal root."""
    mean = x.mean(axes, keepdims=True)
    centred = x - mean
    inverse = reciprocal_square_root((centred * centred).mean(axes, keepdims=True) + epsilon)
    return centred * inverse, mean, inverse


@operator("Softmax", "LogSoftmax")
def _softmax(node: Node) -> Tensor:
    x = node.tensor()
    chosen = softmax if node.operator == "Softmax" else log_softmax
    if node.version >= 13:
        return chosen(x, node.attribute("axis", -1))
    axis = node.attribute("axis", 1) % x.ndim
    return chosen(x.reshape(math.prod(x.shape[:axis]), -1), 1).reshape(*x.shape)


@operator("LayerNormalization")
def _layer(node: Node) -> list[Value]:
    x = node.tensor()
    axes = range(node.attribute("axis", -1) % x.ndim, x.ndim)
    scaled, mean, inverse = _standard(x, axes, node.number("epsilon", 1e-5))
    scaled = scaled * node.tensor(1)
    made: list[Value] = [scaled + node.tensor(2) if node.has(2) else scaled, mean, inverse]
    return made[: node.outputs]


@operator("RMSNormalization")
def _root_mean_square(node: Node) -> Tensor:
    x = node.tensor()
    axes = range(node.attribute("axis", -1) % x.ndim, x.ndim)
    mean = (x * x).mean(tuple(axes), keepdims=True)
    return x * reciprocal_square_root(mean + node.number("epsilon", 1e-5)) * node.tensor(1)


@operator("InstanceNormalization")
def _instance(node: Node) -> Tensor:
    x = node.tensor()
    scaled, _, _ = _standard(x, range(2, x.ndim), node.number("epsilon", 1e-5))
    return _by_channel(scaled, node.tensor(1), node.tensor(2))


@operator("GroupNormalization")
def _group(node: Node) -> Tensor:
    x, groups = node.tensor(), node.attributes["num_groups"]
    parts = x.reshape(x.shape[0], groups, -1)
    scaled, _, _ = _standard(parts, (2,), node.number("epsilon", 1e-5))
    return _by_channel(scaled.reshape(*x.shape), node.tensor(1), node.tensor(2))


@operator("BatchNormalization")
def _batch(node: Node) -> Tensor:
    if node.attribute("training_mode", 0) or node.outputs > 1:
        raise node.fault("expected inference, found training mode; use batch_norm of circuitize to train")
    x, mean, variance = node.tensor(), node.tensor(3), node.tensor(4)
    inverse = reciprocal_square_root(variance + node.number("epsilon", 1e-5))
    ones = [1] * (x.ndim - 2)
    centred = x - mean.reshape(*mean.shape, *ones)
    return _by_channel(centred, node.tensor(1) * inverse, node.tensor(2))


def _by_channel(x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    ones = [1] * (x.ndim - 2)
    return x * scale.reshape(*scale.shape, *ones) + bias.reshape(*bias.shape, *ones)


@operator("MeanVarianceNormalization")
def _mean_variance(node: Node) -> Tensor:
    x = node.tensor()
    scaled, _, _ = _standard(x, node.attribute("axes", (0, 2, 3)), 1e-9)
    return scaled


@operator("LpNormalization")
def _norm(node: Node) -> Tensor:
    x, axis = node.tensor(), node.attribute("axis", -1)
    norm = maximum(x, -x) if node.attribute("p", 2) == 1 else x * x
    total = norm.sum(axis, keepdims=True)
    if node.attribute("p", 2) != 1:
        total = square_root(total)
    # Zeros stay zeros: their norm is taken for 1.
    return x / (total + 1.0 - (total > 0.0))


@operator("LRN")
def _local_response(node: Node) -> Tensor:
    """x / (bias + alpha / size * the sum of squares of neighbouring channels) ^ beta."""
    x, size, beta = node.tensor(), node.attributes["size"], node.number("beta", 0.75)
    before, channels = (size - 1) // 2, x.shape[1]
    none = [0] * (x.ndim - 2)
    wide = pad(x * x, [0, before, *none], [0, size - 1 - before, *none])
    total = wide[:, :channels]
    for shift in range(1, size):
        total = total + wide[:, shift : shift + channels]
    inner = total * (node.number("alpha", 1e-4) / size) + node.number("bias", 1.0)
    return x * exp(log(inner) * -beta)

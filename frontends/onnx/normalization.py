"""ONNX operators that normalise (by mean and variance, by a norm, or to sum 1), and attention."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from circuitize.frontends.functions import (
    exp,
    log,
    log_softmax,
    maximum,
    reciprocal_square_root,
    softmax,
    square_root,
    standard_deviation,
)
from circuitize.frontends.tensor import Tensor

from .channels import channels_first, channels_last
from .elements import ELEMENTS
from .node import Made, Node, Result, operator
from .places import pad


def _standard(x: Tensor, axes: Sequence[int], epsilon: float) -> tuple[Tensor, Tensor, Tensor]:
    """Return the results of LayerNormalization: (x - mean) / sqrt(variance + epsilon), followed by the mean and the
    reciprocal root.
    """
    mean = x.mean(axes, keepdims=True)
    centred = x - mean
    inverse = reciprocal_square_root((centred * centred).mean(axes, keepdims=True) + epsilon)
    return centred * inverse, mean, inverse


@operator("Softmax", "LogSoftmax")
def _softmax(node: Node) -> Tensor:
    x = node.ranked(node.tensor(), 1)
    chosen = softmax if node.operator == "Softmax" else log_softmax
    if node.version >= 13:
        return chosen(x, node.along(x, -1))
    return chosen(node.rows(x), 1).reshape(*x.shape)


@operator("LayerNormalization")
def _layer(node: Node) -> list[Result]:
    x = node.ranked(node.tensor(), 1)
    axes = range(node.along(x, -1), x.ndim)
    scaled, mean, inverse = _standard(x, axes, node.number("epsilon", 1e-5))
    scaled = scaled * node.tensor(1).broadcast(x.shape)
    kind = ELEMENTS.get(node.attribute("stash_type", 1))
    made = scaled + node.tensor(2).broadcast(x.shape) if node.has(2) else scaled
    return [made, Made(mean, kind), Made(inverse, kind)]


@operator("RMSNormalization", ignores=("stash_type",))
def _root_mean_square(node: Node) -> Tensor:
    x = node.ranked(node.tensor(), 1)
    axes = range(node.along(x, -1), x.ndim)
    mean = (x * x).mean(tuple(axes), keepdims=True)
    inverse = reciprocal_square_root(mean + node.number("epsilon", 1e-5))
    return x * inverse * node.tensor(1).broadcast(x.shape)


@operator("InstanceNormalization")
def _instance(node: Node) -> Tensor:
    x = node.ranked(node.tensor(), 3)
    scaled, _, _ = _standard(x, range(2, x.ndim), node.number("epsilon", 1e-5))
    return _by_channel(node, scaled, node.tensor(1), node.tensor(2))


@operator("GroupNormalization", ignores=("stash_type",))
def _group(node: Node) -> Tensor:
    """Return the result of GroupNormalization, whose scale and bias have one number for each channel, or before opset
    21 for each group.
    """
    x, groups = node.ranked(node.tensor(), 3), node.attributes["num_groups"]
    if groups < 1 or x.shape[1] % groups:
        raise node.fault(f"expected groups that divide {x.shape[1]} channels, found {groups}; correct num_groups")
    parts = x.reshape(x.shape[0], groups, -1)
    scaled, _, _ = _standard(parts, (2,), node.number("epsilon", 1e-5))
    if node.version < 21:
        return _by_channel(node, scaled, node.tensor(1), node.tensor(2)).reshape(*x.shape)
    return _by_channel(node, scaled.reshape(*x.shape), node.tensor(1), node.tensor(2))


@operator("BatchNormalization", ignores=("momentum",))
def _batch(node: Node) -> list[Tensor]:
    """Return the result of ONNX's batch norm, which uses the given statistics; in training it uses those of the batch,
    and also returns the given statistics updated with these.
    """
    training = node.flag("training_mode", 0)
    if (training or node.outputs > 1) and node.version < 14:
        raise node.fault("expected inference, found training mode before opset 14; export with a newer opset")
    if node.outputs > 1 and not training:
        raise node.fault("expected one output beside training_mode 0, found more; leave them out")
    if not node.flag("spatial", 1):
        raise node.fault("expected statistics of channels, found spatial = 0; export with a newer opset")
    x, mean, variance = node.ranked(node.tensor(), 2), node.tensor(3), node.tensor(4)
    if training:
        axes, shape = (0, *range(2, x.ndim)), (x.shape[1],)
        scaled, own, _ = _standard(x, axes, node.number("epsilon", 1e-5))
        centred = x - own
        spread = (centred * centred).mean(axes)
        kept = node.number("momentum", 0.9)
        moved = [old * kept + new.reshape(*shape) * (1 - kept) for old, new in ((mean, own), (variance, spread))]
        return [_by_channel(node, scaled, node.tensor(1), node.tensor(2)), *moved]
    last, epsilon = channels_last(x), node.number("epsilon", 1e-5)
    told = [node.value(index).content for index in (1, 2, 3, 4)]
    if any(content.shape != (x.shape[1],) for content in told):
        raise node.fault(f"expected {x.shape[1]} numbers, one for each channel, in every statistic; correct them")
    known = [content for content in told if not isinstance(content, Tensor)]
    if len(known) == len(told):
        scale, bias, centre, width = known
        if not (width + epsilon > 0.0).all():
            raise node.fault("expected variances from 0 on, found others; correct them")
        factor = scale / np.sqrt(width + epsilon)
        return [channels_first(last * factor + (bias - centre * factor))]
    inverse = reciprocal_square_root(variance + epsilon)
    return [channels_first((last - mean) * (node.tensor(1) * inverse) + node.tensor(2))]


def _channels(node: Node, x: Tensor, given: Tensor) -> Tensor:
    """Return a vector with one number for each channel, reshaped so that it broadcasts to x."""
    if given.shape != (x.shape[1],):
        raise node.fault(
            f"expected {x.shape[1]} numbers, one for each channel, found shape {list(given.shape)}; reshape"
        )
    return given.reshape(x.shape[1], *[1] * (x.ndim - 2))


def _by_channel(node: Node, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    return x * _channels(node, x, scale) + _channels(node, x, bias)


@operator("MeanVarianceNormalization")
def _mean_variance(node: Node) -> Tensor:
    x = node.tensor()
    axes = node.axes(x.ndim, 1, (0, 2, 3))
    return (x - x.mean(axes, keepdims=True)) / (standard_deviation(x, axes, keepdims=True) + 1e-9)


@operator("LpNormalization")
def _norm(node: Node) -> Tensor:
    x = node.ranked(node.tensor(), 1)
    axis = node.along(x, -1)
    if node.attribute("p", 2) not in (1, 2):
        raise node.fault(f"expected p of 1 or 2, found {node.attribute('p', 2)}; correct it")
    norm = maximum(x, -x) if node.attribute("p", 2) == 1 else x * x
    total = norm.sum(axis, keepdims=True)
    if node.attribute("p", 2) != 1:
        total = square_root(total)
    # Zeros stay zeros: their norm is taken for 1.
    return x / (total + 1.0 - (total > 0.0))


@operator("LRN")
def _local_response(node: Node) -> Tensor:
    """Return the result of LRN: x / (bias + alpha / size * the sum of squares of neighbouring channels) ^ beta."""
    x, size, beta = node.ranked(node.tensor(), 4, 4), node.attributes["size"], node.number("beta", 0.75)
    if size < 1 or size % 2 == 0:
        raise node.fault(f"expected an odd size, found {size}; correct it")
    channels = x.shape[1]
    before = min(size // 2, channels - 1)
    none = [0] * (x.ndim - 2)
    wide = pad(x * x, [0, before, *none], [0, before, *none])
    total = wide[:, :channels]
    for shift in range(1, 2 * before + 1):
        total = total + wide[:, shift : shift + channels]
    inner = total * (node.number("alpha", 1e-4) / size) + node.number("bias", 1.0)
    return x * exp(log(inner) * -beta)

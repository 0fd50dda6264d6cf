"""Normalisation: layers that bring their inputs to mean 0 and variance 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import TypingError
from circuitize.circuits.types import Shape

from .formats import WEIGHTS, Format
from .functions import normalize, root_mean_square_normalize, square_root
from .layers import Model, Parameter, traced, zeros
from .tensor import Tensor

STATISTICS = Format.signed(26, 16)
"""Running means and variances: 26 bits, 16 of them fraction, so [-512, 512)."""


def ones(generator: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
    """Return ones, as starting values instead of random ones."""
    return np.ones(shape)


def batch_norm(
    features: int,
    momentum: float = 0.125,
    epsilon: float = 2.0**-8,
    format: Format = WEIGHTS,
    statistics: Format = STATISTICS,
) -> Model:
    """Return a batch norm layer: (x - mean) / sqrt(variance + epsilon) * weight + bias over all axes but the last,
    which has `features` elements.

    `batch_norm` is from Ioffe and Szegedy, arXiv 1502.03167, algorithms 1 and 2. In training, batch norm uses mean and
    variance (divided by n) of the batch, and replaces the running statistics by running + momentum * (batch's -
    running), where the batch's variance is divided by n - 1. Outside training, batch norm uses the running statistics.
    The parameters of batch norm are weight, which starts at 1, and bias, which starts at 0; the state is mean, which
    starts at 0, and variance, which starts at 1; all have the shape [features].
    """
    parameters = [Parameter("weight", (features,), ones, format), Parameter("bias", (features,), zeros, format)]
    state = [Parameter("mean", (features,), zeros, statistics), Parameter("variance", (features,), ones, statistics)]

    def normalized(weight: Tensor, bias: Tensor, centred: Tensor, variance: Tensor) -> Tensor:
        return centred / square_root(variance + epsilon) * weight + bias

    def training(weight: Tensor, bias: Tensor, mean: Tensor, variance: Tensor, x: Tensor) -> tuple[Tensor, ...]:
        axes = tuple(range(x.ndim - 1))
        count = x.size // features
        average = x.sum(axis=axes) * (1.0 / count)
        centred = x - average
        spread = (centred * centred).sum(axis=axes) * (1.0 / count)
        unbiased = spread * (count / max(count - 1, 1))
        return (
            normalized(weight, bias, centred, spread),
            mean + (average - mean) * momentum,
            variance + (unbiased - variance) * momentum,
        )

    def inference(weight: Tensor, bias: Tensor, mean: Tensor, variance: Tensor, x: Tensor) -> Tensor:
        return normalized(weight, bias, x - mean, variance)

    return traced(training, parameters, None, "batch_norm", state, inference)


def layer_norm(features: int, epsilon: float = 1e-5, format: Format = WEIGHTS) -> Model:
    """Return a layer norm layer: (x - mean) / sqrt(variance + epsilon) * weight + bias over the last axis, which has
    `features` elements.

    `layer_norm` is from Ba et al., arXiv 1607.06450. The parameters of layer norm are weight, which starts at 1, and
    bias, which starts at 0; both have the shape [features]. In integers the variance of layer norm has the fraction
    bits calibrated for it: if variance + epsilon is then 0, as in a constant row, the step is undefined. A greater
    epsilon, such as 2^-10, keeps layer norm from being undefined.
    """
    parameters = [Parameter("weight", (features,), ones, format), Parameter("bias", (features,), zeros, format)]

    def normalized(weight: Tensor, bias: Tensor, x: Tensor) -> Tensor:
        return normalize(x, -1, epsilon) * weight + bias

    return traced(normalized, parameters, None, "layer_norm")


def rms_norm(features: int, epsilon: float = 1e-5, format: Format = WEIGHTS) -> Model:
    """Return an RMS norm layer: x / sqrt(mean of x^2 + epsilon) * weight over the last axis, which has `features`
    elements.

    `rms_norm` is from Zhang and Sennrich, arXiv 1910.07467. The parameter of RMS norm is weight [features], which
    starts at 1.
    """

    def normalized(weight: Tensor, x: Tensor) -> Tensor:
        return root_mean_square_normalize(x, -1, epsilon) * weight

    return traced(normalized, [Parameter("weight", (features,), ones, format)], None, "rms_norm")


def group_norm(features: int, groups: int, epsilon: float = 1e-5, format: Format = WEIGHTS) -> Model:
    """Return a group norm layer: each example's features in `groups` groups of neighbours, each group brought to mean 0
    and variance 1.

    `group_norm` is from Wu and He, arXiv 1803.08494. Group norm takes x [B, ..., features], and the mean and variance
    of each group are over all axes but the first. The parameters of group norm are those of `layer_norm`.
    """
    if groups < 1 or features % groups:
        raise TypingError(f"expected groups that divide {features} features, found {groups}; choose a divisor")
    parameters = [Parameter("weight", (features,), ones, format), Parameter("bias", (features,), zeros, format)]

    def normalized(weight: Tensor, bias: Tensor, x: Tensor) -> Tensor:
        grouped = x.reshape(*x.shape[:-1], groups, features // groups)
        axes = (*range(1, grouped.ndim - 2), grouped.ndim - 1)
        return normalize(grouped, axes, epsilon).reshape(*x.shape) * weight + bias

    return traced(normalized, parameters, None, "group_norm")

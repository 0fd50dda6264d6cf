"""Translation rules for ATen's normalisations; images have their channels in axis 1."""

from __future__ import annotations

import math
from collections.abc import Sequence

from circuitize.circuits.errors import CircuitizeError
from circuitize.frontends.functions import normalize, root_mean_square_normalize, square_root
from circuitize.frontends.tensor import Tensor

from .node import operator


def _along_channels(x: Tensor, parameter: Tensor) -> Tensor:
    return parameter.reshape(parameter.size, *[1] * (x.ndim - 2))


def _affine(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    x = x if weight is None else x * weight
    return x if bias is None else x + bias


@operator("native_layer_norm")
def native_layer_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, bias: Tensor | None, eps: float
) -> list[Tensor]:
    """Return the normalised values of layer norm; mean and deviation are not computed."""
    return [layer_norm(input, normalized_shape, weight, bias, eps)]


@operator("layer_norm")
def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Tensor:
    """Return the input brought to mean 0 and variance 1 over its last axes, then times a weight and plus a bias if
    these are given.
    """
    return _affine(normalize(input, tuple(range(-len(normalized_shape), 0)), eps), weight, bias)


@operator("rms_norm", "_fused_rms_norm")
def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """Return RMS norm; without an epsilon torch uses the epsilon of float32."""
    chosen = 2.0**-23 if eps is None else eps
    return _affine(root_mean_square_normalize(input, tuple(range(-len(normalized_shape), 0)), chosen), weight, None)


@operator("native_group_norm")
def native_group_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, group: int, eps: float, **extents: int
) -> list[Tensor]:
    """Return the normalised values of group norm; mean and deviation are not computed. The extents that
    native_group_norm takes as arguments are those of its input.
    """
    return [group_norm(input, group, weight, bias, eps)]


@operator("group_norm")
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Tensor:
    """Return the input brought to mean 0 and variance 1 over each group of channels, then scaled and shifted by
    channel.
    """
    grouped = input.reshape(input.shape[0], num_groups, math.prod(input.shape[1:]) // num_groups)
    x = normalize(grouped, -1, eps).reshape(*input.shape)
    weight, bias = (None if one is None else _along_channels(x, one) for one in (weight, bias))
    return _affine(x, weight, bias)


@operator("_native_batch_norm_legit_no_training")
def batch_norm_no_training(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> list[Tensor]:
    """Return the normalised values of batch norm; mean and deviation are not computed."""
    return [batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)]


@operator("batch_norm")
def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Tensor:
    """Return the input normalised by running statistics, then scaled and shifted by channel; refuse batch norm in
    training mode.
    """
    if training or running_mean is None or running_var is None:
        raise CircuitizeError("expected batch norm by running statistics, found it in training; export module.eval()")
    deviation = square_root(running_var + eps)
    x = (input - _along_channels(input, running_mean)) / _along_channels(input, deviation)
    weight, bias = (None if one is None else _along_channels(input, one) for one in (weight, bias))
    return _affine(x, weight, bias)

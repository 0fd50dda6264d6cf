"""Layers for images: convolution and pooling. The axes of a batch of images are example, row, column, channel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import TypingError
from circuitize.circuits.types import Shape

from . import convolution, functions
from .formats import WEIGHTS, Format
from .layers import Model, Parameter, traced, zeros
from .tensor import Tensor


def he_normal_kernel(generator: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
    """Draw normal values with variance 2 / fan-in for a kernel [rows, columns, channels in, channels out]."""
    return generator.normal(0.0, np.sqrt(2.0 / np.prod(shape[:-1])), shape)


def he_normal_transposed(generator: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
    """Draw normal values with variance 2 / fan-in for a kernel [rows, columns, channels out, channels in]."""
    return generator.normal(0.0, np.sqrt(2.0 / (np.prod(shape[:-2]) * shape[-1])), shape)


def conv1d(
    inputs: int,
    outputs: int,
    size: int,
    padding: int = 0,
    step: int = 1,
    dilation: int = 1,
    groups: int = 1,
    format: Format = WEIGHTS,
) -> Model:
    """Return a convolution layer like `conv2d`, along one axis: [B, X, inputs] -> [B, X', outputs]."""
    return _convolving("conv1d", (size,), inputs, outputs, padding, step, dilation, groups, format)


def conv2d(
    inputs: int,
    outputs: int,
    size: int,
    padding: int = 0,
    step: int = 1,
    dilation: int = 1,
    groups: int = 1,
    format: Format = WEIGHTS,
) -> Model:
    """Return a layer that is a cross-correlation with `outputs` square kernels, each of which has a bias that starts at
    zero.

    A convolution layer maps [B, H, W, inputs] -> [B, H', W', outputs], where H' = (H + 2 * padding - dilation * (size -
    1) - 1) // step + 1. The parameters of a convolution layer are weight [size, size, inputs / groups, outputs] and
    bias [outputs]; both numbers of channels are multiples of `groups`, and each group reads only its own inputs.
    """
    return _convolving("conv2d", (size, size), inputs, outputs, padding, step, dilation, groups, format)


def transposed_conv2d(
    inputs: int, outputs: int, size: int, padding: int = 0, step: int = 1, format: Format = WEIGHTS
) -> Model:
    """Return a layer that is the adjoint of a convolution with square kernels, plus a bias: images become `step` times
    as large.

    A transposed convolution layer maps [B, H, W, inputs] -> [B, H', W', outputs], where H' = step * (H - 1) + size - 2
    * padding. The parameters of a transposed convolution layer are weight [size, size, outputs, inputs] and bias
    [outputs].
    """
    parameters = [
        Parameter("weight", (size, size, outputs, inputs), he_normal_transposed, format),
        Parameter("bias", (outputs,), zeros, format),
    ]

    def spread(weight: Tensor, bias: Tensor, x: Tensor) -> Tensor:
        return convolution.transposed_convolution(x, weight, padding, step) + bias

    return traced(spread, parameters, kind="transposed_conv2d")


def _convolving(
    kind: str,
    sizes: Shape,
    inputs: int,
    outputs: int,
    padding: int,
    step: int,
    dilation: int,
    groups: int,
    format: Format,
) -> Model:
    if groups < 1 or inputs % groups or outputs % groups:
        raise TypingError(
            f"expected groups that divide {inputs} channels in and {outputs} out, found {groups}; choose a divisor"
        )
    parameters = [
        Parameter("weight", (*sizes, inputs // groups, outputs), he_normal_kernel, format),
        Parameter("bias", (outputs,), zeros, format),
    ]

    def convolve(weight: Tensor, bias: Tensor, x: Tensor) -> Tensor:
        return convolution.convolution(x, weight, padding, step, dilation, groups) + bias

    return traced(convolve, parameters, kind=kind)


def max_pool2d(size: int, step: int | None = None) -> Model:
    """Return a layer that gives the maximum of each square window, with windows `step` (by default `size`) apart; at
    ties the derivative goes to the first maximum, row by row.
    """
    return traced(lambda x: functions.max_pool2d(x, size, step), kind="max_pool2d")


def average_pool2d(size: int, step: int | None = None) -> Model:
    """Return a layer that gives the mean of each square window, with windows `step` (by default `size`) apart."""
    return traced(lambda x: functions.average_pool2d(x, size, step), kind="average_pool2d")


def global_average_pool() -> Model:
    """Return a layer that gives the mean over all positions: [B, H, W, C] -> [B, C]."""
    return traced(convolution.global_average, kind="global_average_pool")


def global_max_pool() -> Model:
    """Return a layer that gives the maximum over all positions: [B, H, W, C] -> [B, C]; at ties the derivative goes to
    the first maximum, row by row.
    """
    return traced(convolution.global_maximum, kind="global_max_pool")


def image(rows: int, columns: int, channels: int = 1) -> Model:
    """Return a layer from rows of pixels, channels fastest, to images: [B, rows * columns * channels] -> [B, rows,
    columns, channels].
    """

    def unflatten(x: Tensor) -> Tensor:
        return x.reshape(x.shape[0], rows, columns, channels)

    return traced(unflatten, inputs=(rows * columns * channels,), kind="image")


def flatten() -> Model:
    """Return a layer that merges all axes but the first into one."""
    return traced(lambda x: x.reshape(x.shape[0], -1), kind="flatten")

"""Layers for images: convolution and pooling. A batch of images has the axes example, row, column, channel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.types import Shape

from . import functions
from .formats import WEIGHTS, Format
from .layers import Model, Parameter, traced, zeros
from .trace import Tensor


def he_normal_kernel(generator: np.random.Generator, shape: Shape) -> NDArray[np.float64]:
    """Normal with variance 2 / fan-in for a kernel [rows, columns, channels in, channels out]."""
    return generator.normal(0.0, np.sqrt(2.0 / np.prod(shape[:-1])), shape)


def conv2d(inputs: int, outputs: int, size: int, padding: int = 0, step: int = 1, format: Format = WEIGHTS) -> Model:
    """A cross-correlation with `outputs` square kernels, plus a bias per kernel that starts at zero.

    [B, H, W, inputs] -> [B, H', W', outputs], H' = (H + 2 * padding - size) // step + 1. Parameters: weight
    [size, size, inputs, outputs] and bias [outputs].
    """
    parameters = [
        Parameter("weight", (size, size, inputs, outputs), he_normal_kernel, format),
        Parameter("bias", (outputs,), zeros, format),
    ]

    def convolve(weight: Tensor, bias: Tensor, x: Tensor) -> Tensor:
        return functions.conv2d(x, weight, padding, step) + bias

    return traced(convolve, parameters, kind="conv2d")


def max_pool2d(size: int, step: int | None = None) -> Model:
    """The maximum of each square window, windows `step` (by default `size`) apart; ties go to the first, row by row."""
    return traced(lambda x: functions.max_pool2d(x, size, step), kind="max_pool2d")


def average_pool2d(size: int, step: int | None = None) -> Model:
    """The mean of each square window, windows `step` (by default `size`) apart."""
    return traced(lambda x: functions.average_pool2d(x, size, step), kind="average_pool2d")


def image(rows: int, columns: int, channels: int = 1) -> Model:
    """Rows of pixels, channels fastest, to images: [B, rows * columns * channels] -> [B, rows, columns, channels]."""

    def unflatten(x: Tensor) -> Tensor:
        return x.reshape(x.shape[0], rows, columns, channels)

    return traced(unflatten, inputs=(rows * columns * channels,), kind="image")


def flatten() -> Model:
    """All axes but the first become one."""
    return traced(lambda x: x.reshape(x.shape[0], -1), kind="flatten")

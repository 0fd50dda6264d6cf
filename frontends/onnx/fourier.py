"""ONNX's Fourier transforms: products with known matrices of cosines and sines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits import arrays
from circuitize.frontends.functions import concatenate
from circuitize.frontends.tensor import Tensor

from .node import Node, operator
from .places import pad

LARGEST_TRANSFORM = 1 << 12


def _angles(node: Node, made: int, length: int) -> NDArray[np.float64]:
    """Return the angles of a Fourier transform, [made, length], each reduced to one turn before it is multiplied."""
    if not 1 <= length <= LARGEST_TRANSFORM:
        raise node.fault(f"expected transforms of 1 to {LARGEST_TRANSFORM} elements, found {length}; shorten them")
    turns = np.outer(np.arange(made), np.arange(length)) % length
    return np.asarray(turns * (2 * np.pi / length), np.float64)


@operator("DFT")
def _transform(node: Node) -> Tensor:
    """Return the Fourier transform along one axis of [..., 1 or 2], whose last axis is the real and the imaginary part;
    `inverse` divides by the length.

    With `onesided`, a Fourier transform gives only the first half of its result; with `inverse` too, it takes such a
    first half and gives real numbers.
    """
    x = node.ranked(node.tensor(0), 2)
    given = node.attribute("axis", 1) if node.version < 20 else node.scalar(2, "the axis") if node.has(2) else -2
    axis, inverse, onesided = node.axis(int(given), x.ndim), node.flag("inverse", 0), node.flag("onesided", 0)
    parts = x.shape[-1]
    if axis == x.ndim - 1 or parts not in (1, 2) or (onesided and not inverse and parts != 1):
        raise node.fault(
            f"expected [..., 1 or 2], 1 beside onesided, and an axis before, found {list(x.shape)}; reshape"
        )
    back = inverse and onesided
    length = 2 * (x.shape[axis] - 1) if back else x.shape[axis]
    if node.has(1):
        length = int(node.scalar(1, "the length"))
    read = length // 2 + 1 if back else length
    angles = _angles(node, length // 2 + 1 if onesided and not inverse else length, length)
    turned = x.transpose(*(a for a in range(x.ndim) if a != axis), axis)
    real = _fitted(turned[..., 0, :], read)
    imaginary = _fitted(turned[..., 1, :], read) if parts == 2 else None
    order = list(range(x.ndim - 2))
    back_to = [*order[:axis], x.ndim - 2, *order[axis:], x.ndim - 1]
    if back:
        # Each element but the first, and the middle one, stands for its mirror too.
        times = np.where((np.arange(read) == 0) | (2 * np.arange(read) == length), 1.0, 2.0) / length
        made = real @ (np.cos(angles[:, :read]) * times).T
        if imaginary is not None:
            made = made - imaginary @ (np.sin(angles[:, :read]) * times).T
        return _placed([made], back_to)
    scale = 1 / length if inverse else 1.0
    cosines, sines = np.cos(angles).T * scale, np.sin(angles).T * (scale if inverse else -scale)
    first, second = real @ cosines, real @ sines
    if imaginary is not None:
        first, second = first - imaginary @ sines, second + imaginary @ cosines
    return _placed([first, second], back_to)


def _fitted(x: Tensor, length: int) -> Tensor:
    """Return x with the last axis cut, or filled up with zeros, to a length."""
    return pad(x, [0] * x.ndim, [*[0] * (x.ndim - 1), length - x.shape[-1]])


def _placed(parts: list[Tensor], order: list[int]) -> Tensor:
    """Return the real and the imaginary part of a Fourier transform joined along a new last axis, with the other axes
    put in the given order.
    """
    wide = [part.reshape(*part.shape, 1) for part in parts]
    whole = concatenate(wide, -1) if len(wide) > 1 else wide[0]
    return whole.transpose(*order)


@operator("STFT")
def _frames(node: Node) -> Tensor:
    """Return the Fourier transforms of frames that are a known step apart, each frame times a window."""
    x = node.ranked(node.tensor(0), 2, 3)
    x = x.reshape(*x.shape, 1) if x.ndim == 2 else x
    step, onesided = int(node.scalar(1, "the step")), node.flag("onesided", 1)
    window = node.ranked(node.tensor(2), 1, 1) if node.has(2) else None
    length = int(node.scalar(3, "the length of frames")) if node.has(3) else window.size if window is not None else 0
    if step < 1 or not 1 <= length <= x.shape[1] or (window is not None and window.size != length):
        raise node.fault(
            f"expected frames within {x.shape[1]} elements, found length {length} and step {step}; correct them"
        )
    if x.shape[2] not in (1, 2) or (onesided and x.shape[2] == 2):
        raise node.fault(f"expected one real part beside onesided, found shape {list(x.shape)}; leave onesided out")
    frames = x.transpose(0, 2, 1).apply(arrays.Window((2,), (length,), (step,)))
    frames = frames if window is None else frames * window
    angles = _angles(node, length // 2 + 1 if onesided else length, length)
    cosines, sines = np.cos(angles).T, -np.sin(angles).T
    first, second = frames[:, 0] @ cosines, frames[:, 0] @ sines
    if x.shape[2] == 2:
        first, second = first - frames[:, 1] @ sines, second + frames[:, 1] @ cosines
    return concatenate([first.reshape(*first.shape, 1), second.reshape(*second.shape, 1)], -1)

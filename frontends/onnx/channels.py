"""Images with the channels in the last axis, as circuitize's layers have them; in ONNX's images the channels are the
second axis.

An ONNX operator on images permutes the axes of its inputs to put channels last, and permutes those of its result back.
Two permutations of the channels' axis that meet cancel, and element-by-element operations are done before a
permutation, so that between two convolutions nothing is permuted.
"""

from __future__ import annotations

from collections.abc import Sequence

from circuitize.frontends.tensor import Tensor

from .sizes import Bounded

ALIKE = frozenset(
    {
        *("Abs", "Acos", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Celu", "Clip", "Cos", "Cosh", "Elu", "Erf", "Exp"),
        *("Floor", "Gelu", "HardSigmoid", "HardSwish", "Identity", "LeakyRelu", "Log", "Mish", "Neg", "Not"),
        *("Reciprocal", "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign"),
        *("Sqrt", "Swish", "Tan", "Tanh", "ThresholdedRelu", "Add", "Sub", "Mul", "Div", "Max", "Min", "Sum"),
        *("Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal", "And", "Or", "Xor", "Where", "Cast", "CastLike"),
    }
)
"""Operators that treat all elements alike, so that axes may be turned before or after."""


def turn_of(x: Tensor) -> tuple[Tensor, tuple[int, ...]] | None:
    """Return the tensor of which x is a permutation, and the order of axes; None if x is not permuted."""
    found = x.builder.turned.get(x.wire) if isinstance(x.builder, Bounded) else None
    return None if found is None else (Tensor(x.builder, found[0]), found[1])


def turned(x: Tensor, axes: Sequence[int]) -> Tensor:
    """Return x with axis i taken from its axis axes[i]; an earlier permutation of x is joined with this one."""
    before = turn_of(x)
    if before is not None:
        x, first = before
        axes = [first[axis] for axis in axes]
    return x.transpose(*axes) if x.ndim else x


def channels_last(x: Tensor) -> Tensor:
    """Return x permuted from [B, C, positions...] to [B, positions..., C]."""
    return turned(x, [0, *range(2, x.ndim), 1])


def channels_first(x: Tensor) -> Tensor:
    """Return x permuted from [B, positions..., C] to [B, C, positions...]."""
    return turned(x, [0, x.ndim - 1, *range(1, x.ndim - 1)])

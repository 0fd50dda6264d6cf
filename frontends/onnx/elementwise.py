"""ONNX operators that are functions of floats, element by element."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from circuitize.frontends.activations import mish, softplus
from circuitize.frontends.functions import (
    absolute,
    ceil,
    cos,
    erf,
    exp,
    floor,
    gelu,
    log,
    maximum,
    reciprocal,
    relu,
    round_half_even,
    sigmoid,
    sign,
    sin,
    square_root,
    tanh,
)
from circuitize.frontends.tensor import Tensor

from .elements import Known
from .node import Node, operator
from .sizes import Bounded

SELU_ALPHA, SELU_GAMMA = 1.67326319217681884765625, 1.05070102214813232421875


FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "Ceil": ceil,
    "Cos": cos,
    "Erf": erf,
    "Exp": exp,
    "Floor": floor,
    "Log": log,
    "Mish": mish,
    "Reciprocal": reciprocal,
    "Round": round_half_even,
    "Sigmoid": sigmoid,
    "Sin": sin,
    "Softplus": softplus,
    "Sqrt": square_root,
    "Tan": lambda x: sin(x) / cos(x),
    "Tanh": tanh,
}
"""Operators without attributes that are one function of one tensor."""


@operator(*FUNCTIONS)
def _function(node: Node) -> Tensor:
    return FUNCTIONS[node.operator](node.tensor())


@operator("LeakyRelu")
def _leaky(node: Node) -> Tensor:
    x = node.tensor()
    return relu(x) - relu(-x) * node.number("alpha", 0.01)


@operator("ThresholdedRelu")
def _thresholded(node: Node) -> Tensor:
    x = node.tensor()
    return x * (x > node.number("alpha", 1.0))


@operator("Elu", "Selu", "Celu")
def _elu(node: Node) -> Tensor:
    """Return the exponential linear unit of x; the exponents of e in it are at most 0."""
    x = node.tensor()
    below = -relu(-x)
    if node.operator == "Selu":
        alpha, gamma = node.number("alpha", SELU_ALPHA), node.number("gamma", SELU_GAMMA)
        return (relu(x) + (exp(below) - 1.0) * alpha) * gamma
    alpha = node.number("alpha", 1.0)
    inner = below * (1 / alpha) if node.operator == "Celu" else below
    return relu(x) + (exp(inner) - 1.0) * alpha


@operator("HardSigmoid", "HardSwish")
def _hard_sigmoid(node: Node) -> Tensor:
    x = node.tensor()
    swish = node.operator == "HardSwish"
    alpha, beta = (1 / 6, 0.5) if swish else (node.number("alpha", 0.2), node.number("beta", 0.5))
    clipped = 1.0 - relu(1.0 - relu(x * alpha + beta))
    return x * clipped if swish else clipped


@operator("Swish")
def _swish(node: Node) -> Tensor:
    x = node.tensor()
    return x * sigmoid(x * node.number("alpha", 1.0))


@operator("SwiGLU")
def _gated(node: Node) -> Tensor:
    x, gate = node.tensor(0), node.tensor(1)
    return x * sigmoid(x * node.number("alpha", 1.0)) * gate


@operator("Softsign")
def _softsign(node: Node) -> Tensor:
    x = node.tensor()
    return x / (maximum(x, -x) + 1.0)


@operator("Gelu")
def _gelu(node: Node) -> Tensor:
    return gelu(node.tensor(), node.choice("approximate", "none", "tanh") == "tanh")


@operator("Sinh", "Cosh")
def _hyperbolic(node: Node) -> Tensor:
    x = node.tensor()
    other = exp(-x)
    return (exp(x) - other if node.operator == "Sinh" else exp(x) + other) * 0.5


@operator("Asinh", "Acosh", "Atanh")
def _inverse_hyperbolic(node: Node) -> Tensor:
    x = node.tensor()
    if node.operator == "Atanh":
        return (log(x + 1.0) - log(1.0 - x)) * 0.5
    if node.operator == "Acosh":
        return log(x + square_root(x * x - 1.0))
    return sign(x) * log(absolute(x) + square_root(x * x + 1.0))


@operator("Shrink")
def _shrink(node: Node) -> Tensor:
    x, edge, bias = node.tensor(), node.number("lambd", 0.5), node.number("bias", 0.0)
    below, above = x < -edge, x > edge
    return below * (x + bias) + (1.0 - below) * above * (x - bias)


@operator("Dropout", ignores=("seed", "ratio"))
def _dropout(node: Node) -> Sequence[Tensor | Known]:
    """Return the result and the mask of Dropout: outside training nothing is dropped and the mask is all 1; in training
    the mask is an input of the arrow, 1 for an element that stays.
    """
    if node.has(1) and math.prod(node.value(1).shape) != 1:
        raise node.fault(f"expected a ratio of one element, found shape {list(node.value(1).shape)}; give a scalar")
    training = node.has(2) and bool(node.scalar(2, "the training mode"))
    x = node.tensor()
    ratio = float(node.scalar(1, "the ratio")) if training and node.has(1) else 0.5
    if training and ratio:
        if not 0.0 <= ratio < 1.0 or not isinstance(node.builder, Bounded):
            raise node.fault(f"expected a ratio from 0 to below 1, found {ratio}; correct it")
        assert node.proto is not None
        mask = Tensor(node.builder, node.builder.mask(f"{node.proto.output[0]}.mask", x.shape))
        return x * mask * (1 / (1 - ratio)), mask
    if node.outputs > 1 and node.version < 12:
        raise node.fault(
            "expected the result alone, found a mask, of which ONNX says nothing before opset 12; leave it out"
        )
    return x, x.constant(np.ones(x.shape))

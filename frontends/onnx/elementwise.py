"""ONNX operators that act element by element, and comparisons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

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
    minimum,
    reciprocal,
    relu,
    round_half_even,
    sigmoid,
    sign,
    sin,
    square_root,
    tanh,
    where,
)
from circuitize.frontends.trace import Tensor

from .node import Node, Value, operator

SELU_ALPHA, SELU_GAMMA = 1.67326319217681884765625, 1.05070102214813232421875


FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "Abs": absolute,
    "Ceil": ceil,
    "Cos": cos,
    "Erf": erf,
    "Exp": exp,
    "Floor": floor,
    "Log": log,
    "Mish": mish,
    "Reciprocal": reciprocal,
    "Relu": relu,
    "Round": round_half_even,
    "Sigmoid": sigmoid,
    "Sign": sign,
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


@operator("Identity")
def _identity(node: Node) -> Value:
    value = node.inputs[0]
    assert value is not None
    return value


@operator("Cast", "CastLike")
def _cast(node: Node) -> Value:
    """Numbers stay what they are: a cast to whole numbers is refused unless they are whole already."""
    if not node.integer[0] and node.operator == "Cast" and node.attribute("to", 1) not in (1, 10, 11, 16):
        raise node.fault("expected a cast that keeps values, found one to whole numbers; round first")
    return node.tensor()


@operator("Add", "Sum")
def _add(node: Node) -> Tensor:
    return reduce(lambda x, y: x + y, node.tensors())


@operator("Sub")
def _subtract(node: Node) -> Tensor:
    return node.tensor(0) - node.tensor(1)


@operator("Mul")
def _multiply(node: Node) -> Tensor:
    return node.tensor(0) * node.tensor(1)


@operator("Div")
def _divide(node: Node) -> Tensor:
    if all(node.integer):
        raise node.fault("expected floats, found whole numbers, whose quotient is cut off; divide floats")
    return node.tensor(0) / node.tensor(1)


@operator("Neg")
def _negate(node: Node) -> Tensor:
    return -node.tensor()


@operator("Pow")
def _power(node: Node) -> Tensor:
    x, y = node.tensor(0), np.asarray(node.known(1, "the exponent"))
    if not (y == np.rint(y)).all() or y.min() < 1:
        raise node.fault("expected whole exponents from 1 on, found others; multiply out")
    shape = np.broadcast_shapes(x.shape, y.shape)
    base, power = x.broadcast(shape), None
    for degree in sorted({int(entry) for entry in y.reshape(-1)}):
        chosen = base**degree
        here = np.broadcast_to(y == degree, shape).astype(np.float64)
        power = chosen if power is None else where(power.constant(here), chosen, power)
    assert power is not None
    return power


@operator("Max")
def _max(node: Node) -> Tensor:
    return reduce(maximum, node.tensors())


@operator("Min")
def _min(node: Node) -> Tensor:
    return reduce(minimum, node.tensors())


@operator("Mean")
def _mean(node: Node) -> Tensor:
    return _add(node) * (1 / len(node.inputs))


@operator("Clip")
def _clip(node: Node) -> Tensor:
    x = node.tensor(0)
    low = node.attribute("min", None) if not node.has(1) else node.tensor(1)
    high = node.attribute("max", None) if not node.has(2) else node.tensor(2)
    if low is not None:
        x = maximum(x, low)
    return x if high is None else -maximum(-x, -high)


@operator("Greater")
def _greater(node: Node) -> Tensor:
    return node.tensor(0) > node.tensor(1)


@operator("Less")
def _less(node: Node) -> Tensor:
    return node.tensor(0) < node.tensor(1)


@operator("GreaterOrEqual")
def _greater_or_equal(node: Node) -> Tensor:
    return 1.0 - (node.tensor(0) < node.tensor(1))


@operator("LessOrEqual")
def _less_or_equal(node: Node) -> Tensor:
    return 1.0 - (node.tensor(0) > node.tensor(1))


@operator("Equal")
def _equal(node: Node) -> Tensor:
    x, y = node.tensor(0), node.tensor(1)
    return 1.0 - (x > y) - (x < y)


@operator("Not")
def _not(node: Node) -> Tensor:
    return 1.0 - node.tensor()


@operator("And")
def _and(node: Node) -> Tensor:
    return node.tensor(0) * node.tensor(1)


@operator("Or")
def _or(node: Node) -> Tensor:
    x, y = node.tensor(0), node.tensor(1)
    return x + y - x * y


@operator("Xor")
def _xor(node: Node) -> Tensor:
    x, y = node.tensor(0), node.tensor(1)
    return x + y - x * y * 2.0


@operator("Where")
def _where(node: Node) -> Tensor:
    return where(node.tensor(0), node.tensor(1), node.tensor(2))


@operator("LeakyRelu", "PRelu")
def _leaky(node: Node) -> Tensor:
    x = node.tensor()
    slope = node.tensor(1) if node.operator == "PRelu" else node.number("alpha", 0.01)
    return relu(x) - relu(-x) * slope


@operator("ThresholdedRelu")
def _thresholded(node: Node) -> Tensor:
    x = node.tensor()
    return x * (x > node.number("alpha", 1.0))


@operator("Elu", "Selu", "Celu")
def _elu(node: Node) -> Tensor:
    """Exponents are at most 0."""
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
    return gelu(node.tensor(), node.attribute("approximate", "none") == "tanh")


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
    return log(x + square_root(x * x + (1.0 if node.operator == "Asinh" else -1.0)))


@operator("Shrink")
def _shrink(node: Node) -> Tensor:
    x, edge, bias = node.tensor(), node.number("lambd", 0.5), node.number("bias", 0.0)
    return (x < -edge) * (x + bias) + (x > edge) * (x - bias)


@operator("Dropout")
def _dropout(node: Node) -> Sequence[Value]:
    """As in inference: nothing is dropped, and the mask says so."""
    training = node.has(2) and bool(np.any(node.known(2, "the training mode")))
    if training and not (node.has(1) and float(node.known(1, "the ratio")) == 0.0):
        raise node.fault("expected inference, found training mode; dropout's mask is an input here")
    x = node.tensor()
    mask: Value = np.ones(x.shape)
    return (x, mask)[: node.outputs]

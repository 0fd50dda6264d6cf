"""Nodes of ONNX as functions of traced tensors: what each operator of the conformance suite means here.

An input that decides a shape (axes, sizes, a number of repeats) is read as an array while tracing; the others are
tensors. A function returns the tensors of the node's outputs, in order; `Outside` says that a node is not covered.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from circuitize.circuits import arrays
from circuitize.frontends import activations, convolution, functions, movement
from circuitize.frontends.trace import Tensor


class Outside(Exception):
    """A node, or a way to use one, that this suite does not translate."""


@dataclass(frozen=True)
class Node:
    """An operator's attributes, and its inputs twice: as tensors of the trace, and as arrays (None where absent)."""

    attributes: dict[str, Any]
    tensors: Sequence[Tensor | None]
    values: Sequence[np.ndarray | None]
    outputs: int
    version: int

    def get(self, name: str, default: Any = None) -> Any:
        return self.attributes.get(name, default)

    def tensor(self, index: int) -> Tensor:
        found = self.tensors[index]
        assert found is not None
        return found

    def has(self, index: int) -> bool:
        return index < len(self.values) and self.values[index] is not None

    def static(self, index: int, name: str = "", default: Any = None) -> Any:
        """An input that decides shapes, as Python numbers; an attribute in older versions."""
        value = self.values[index] if self.has(index) else None
        if value is not None:
            return value.tolist()
        return self.get(name, default) if name else default


Translation = Callable[[Node], Any]
OPERATORS: dict[str, Translation] = {}


def operator(*names: str) -> Callable[[Translation], Translation]:
    def register(function: Translation) -> Translation:
        for name in names:
            OPERATORS[name] = function
        return function

    return register


def unary(**known: Callable[[Tensor], Tensor]) -> None:
    for name, function in known.items():
        OPERATORS[name] = lambda node, function=function: function(node.tensor(0))


unary(
    Abs=functions.absolute,
    Ceil=functions.ceil,
    Cos=functions.cos,
    Erf=functions.erf,
    Exp=functions.exp,
    Floor=functions.floor,
    HardSwish=activations.hard_swish,
    Identity=lambda x: x * 1.0,
    Log=functions.log,
    Mish=activations.mish,
    Neg=lambda x: -x,
    Reciprocal=functions.reciprocal,
    Relu=functions.relu,
    Round=functions.round_half_even,
    Sigmoid=functions.sigmoid,
    Sign=functions.sign,
    Sin=functions.sin,
    Softplus=activations.softplus,
    Softsign=lambda x: x / (functions.absolute(x) + 1.0),
    Sqrt=functions.square_root,
    Tan=lambda x: functions.sin(x) / functions.cos(x),
    Tanh=functions.tanh,
    Sinh=lambda x: (functions.exp(x) - functions.exp(-x)) * 0.5,
    Cosh=lambda x: (functions.exp(x) + functions.exp(-x)) * 0.5,
    Not=lambda x: 1.0 - x,
    GlobalAveragePool=lambda x: channels_first(convolution.average_pool(channels_last(x), x.shape[2:])),
    GlobalMaxPool=lambda x: channels_first(convolution.max_pool(channels_last(x), x.shape[2:])),
)


def channels_last(x: Tensor) -> Tensor:
    return x.transpose(0, *range(2, x.ndim), 1)


def channels_first(x: Tensor) -> Tensor:
    return x.transpose(0, x.ndim - 1, *range(1, x.ndim - 1))


def whole(node: Node) -> bool:
    """Whether the inputs are whole numbers: then a quotient is cut off."""
    return all(value is None or value.dtype.kind in "iu" for value in node.values)


def binary(**known: Callable[[Tensor, Tensor], Tensor]) -> None:
    for name, function in known.items():
        OPERATORS[name] = lambda node, function=function: function(node.tensor(0), node.tensor(1))


def equal(x: Tensor, y: Tensor) -> Tensor:
    return (1.0 - (x > y)) - (y > x)


binary(
    Add=lambda x, y: x + y,
    Sub=lambda x, y: x - y,
    Mul=lambda x, y: x * y,
    Greater=lambda x, y: x > y,
    Less=lambda x, y: y > x,
    GreaterOrEqual=lambda x, y: 1.0 - (y > x),
    LessOrEqual=lambda x, y: 1.0 - (x > y),
    Equal=equal,
    And=lambda x, y: x * y,
    Or=lambda x, y: functions.maximum(x, y),
    Xor=lambda x, y: x + y - x * y * 2.0,
    MatMul=lambda x, y: x @ y,
    PRelu=lambda x, y: functions.relu(x) - functions.relu(-x) * y,
)


@operator("Div")
def divide(node: Node) -> Tensor:
    if whole(node):
        raise Outside("quotients of whole numbers")
    return node.tensor(0) / node.tensor(1)


@operator("Pow")
def power(node: Node) -> Tensor:
    exponent = node.values[1]
    assert exponent is not None
    if exponent.size == 1 and float(exponent.reshape(-1)[0]).is_integer() and exponent.reshape(-1)[0] > 0:
        return functions.power(node.tensor(0), int(exponent.reshape(-1)[0]))
    return functions.exp(functions.log(node.tensor(0)) * node.tensor(1))


def folded(combine: Callable[[Tensor, Tensor], Tensor]) -> Translation:
    def translate(node: Node) -> Tensor:
        made = node.tensor(0)
        for index in range(1, len(node.tensors)):
            made = combine(made, node.tensor(index))
        return made * 1.0

    return translate


OPERATORS["Max"] = folded(functions.maximum)
OPERATORS["Min"] = folded(functions.minimum)
OPERATORS["Sum"] = folded(lambda x, y: x + y)
OPERATORS["Mean"] = lambda node: OPERATORS["Sum"](node) * (1.0 / len(node.tensors))


@operator("Where")
def where(node: Node) -> Tensor:
    return functions.where(node.tensor(0), node.tensor(1), node.tensor(2))


@operator("Clip")
def clip(node: Node) -> Tensor:
    x = node.tensor(0)
    low, high = node.static(1, "min"), node.static(2, "max")
    if low is not None:
        x = functions.maximum(x, x.constant(np.float64(low)))
    if high is not None:
        x = functions.minimum(x, x.constant(np.float64(high)))
    return x * 1.0


@operator("LeakyRelu")
def leaky_relu(node: Node) -> Tensor:
    return activations.leaky_relu(node.tensor(0), node.get("alpha", 0.01))


@operator("Elu")
def elu(node: Node) -> Tensor:
    return activations.elu(node.tensor(0), node.get("alpha", 1.0))


@operator("Selu")
def selu(node: Node) -> Tensor:
    alpha, gamma = node.get("alpha", 1.6732632423543772), node.get("gamma", 1.0507009873554805)
    return activations.elu(node.tensor(0), alpha) * gamma


@operator("Celu")
def celu(node: Node) -> Tensor:
    alpha = node.get("alpha", 1.0)
    return activations.elu(node.tensor(0) * (1 / alpha), 1.0) * alpha


@operator("ThresholdedRelu")
def thresholded_relu(node: Node) -> Tensor:
    x = node.tensor(0)
    return functions.where(x > float(node.get("alpha", 1.0)), x, 0.0)


@operator("HardSigmoid")
def hard_sigmoid(node: Node) -> Tensor:
    return functions.clip(node.tensor(0) * node.get("alpha", 0.2) + node.get("beta", 0.5), 0.0, 1.0)


@operator("Shrink")
def shrink(node: Node) -> Tensor:
    x, edge, bias = node.tensor(0), float(node.get("lambd", 0.5)), float(node.get("bias", 0.0))
    return functions.where(x > edge, x - bias, functions.where(-x > edge, x + bias, 0.0))


@operator("Gelu")
def gelu(node: Node) -> Tensor:
    return functions.gelu(node.tensor(0), node.get("approximate", b"none") == b"tanh")


@operator("Swish")
def swish(node: Node) -> Tensor:
    x = node.tensor(0)
    return x * functions.sigmoid(x * node.get("alpha", 1.0))


def along(function: Callable[[Tensor, int], Tensor]) -> Translation:
    """A function of one axis; before version 13, of all axes from it on taken as one."""

    def translate(node: Node) -> Tensor:
        x = node.tensor(0)
        axis = node.get("axis", -1 if node.version >= 13 else 1) % x.ndim
        if node.version >= 13:
            return function(x, axis)
        return function(x.reshape(math.prod(x.shape[:axis]), -1), 1).reshape(*x.shape)

    return translate


OPERATORS["Softmax"] = along(functions.softmax)
OPERATORS["LogSoftmax"] = along(functions.log_softmax)
OPERATORS["Hardmax"] = along(functions.argmax_one_hot)


def axes_of(node: Node, x: Tensor) -> tuple[int, ...]:
    axes = node.static(1, "axes")
    if axes is None or axes == []:
        return () if node.get("noop_with_empty_axes", 0) else tuple(range(x.ndim))
    return tuple(sorted(axis % x.ndim for axis in axes))


def reduction(function: Callable[[Tensor, tuple[int, ...]], Tensor], single: bool = False) -> Translation:
    """A reduction that removes axes; with `single` it knows one axis, so that the others are merged into it."""

    def translate(node: Node) -> Tensor:
        x = node.tensor(0)
        axes = axes_of(node, x)
        kept = [axis for axis in range(x.ndim) if axis not in axes]
        final = [1 if axis in axes else extent for axis, extent in enumerate(x.shape)]
        if not node.get("keepdims", 1):
            final = [x.shape[axis] for axis in kept]
        if single:
            merged = x.transpose(*kept, *axes).reshape(*(x.shape[axis] for axis in kept), -1)
            made = function(merged, (len(kept),))
        else:
            made = function(x, axes)
        return made.reshape(*final) * 1.0

    return translate


OPERATORS["ReduceSum"] = reduction(lambda x, axes: x.sum(axes))
OPERATORS["ReduceMean"] = reduction(lambda x, axes: x.mean(axes) if axes else x)
OPERATORS["ReduceMax"] = reduction(lambda x, axes: x.max(axes[0]), single=True)
OPERATORS["ReduceMin"] = reduction(lambda x, axes: functions.least(x, axes[0]), single=True)
OPERATORS["ReduceProd"] = reduction(lambda x, axes: functions.product(x, axes[0]), single=True)
OPERATORS["ReduceL1"] = reduction(lambda x, axes: functions.absolute(x).sum(axes))
OPERATORS["ReduceL2"] = reduction(lambda x, axes: x.apply(arrays.Norm(axes[0])), single=True)
OPERATORS["ReduceSumSquare"] = reduction(lambda x, axes: (x * x).sum(axes))
OPERATORS["ReduceLogSum"] = reduction(lambda x, axes: functions.log(x.sum(axes)))
OPERATORS["ReduceLogSumExp"] = reduction(lambda x, axes: functions.log_sum_exp(x, axes[0]), single=True)


def extreme(sign: float) -> Translation:
    def translate(node: Node) -> Tensor:
        x = node.tensor(0) * sign
        axis = node.get("axis", 0) % x.ndim
        if node.get("select_last_index", 0):
            x = movement.flip(x, axis)
        hot = functions.argmax_one_hot(x, axis)
        numbers = np.arange(x.shape[axis], dtype=np.float64)
        if node.get("select_last_index", 0):
            numbers = numbers[::-1].copy()
        places = numbers.reshape([-1 if i == axis else 1 for i in range(x.ndim)])
        return (hot * hot.constant(places)).sum(axis, keepdims=bool(node.get("keepdims", 1)))

    return translate


OPERATORS["ArgMax"], OPERATORS["ArgMin"] = extreme(1.0), extreme(-1.0)


@operator("CumSum")
def cumulative_sum(node: Node) -> Tensor:
    axis = int(np.asarray(node.static(1)).reshape(()))
    x = node.tensor(0)
    return functions.cumulative_sum(x, axis % x.ndim, bool(node.get("exclusive", 0)), bool(node.get("reverse", 0)))


@operator("TopK")
def top_k(node: Node) -> tuple[Tensor, Tensor]:
    x, k = node.tensor(0), int(np.asarray(node.static(1)).reshape(()))
    axis = node.get("axis", -1) % x.ndim
    sign = 1.0 if node.get("largest", 1) else -1.0
    values, hot = functions.top_k(x * sign, k, axis)
    places = np.arange(x.shape[axis]).reshape([-1 if i == axis + 1 else 1 for i in range(x.ndim + 1)])
    return values * sign, (hot * hot.constant(np.float64(places))).sum(axis + 1)

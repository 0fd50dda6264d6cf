"""onnxruntime's own operators of quantized networks: ONNX's operators between a dequantization and a quantization."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np

from circuitize.frontends.formats import Format
from circuitize.frontends.functions import exact, quantized, rescaled
from circuitize.frontends.tensor import Tensor

from .elements import FLOAT, Element, Known, Value
from .node import OPERATORS, Attributes, Made, Node, Result, operator
from .quantized import INT, UINT8, accumulated, centred, factor, known_scale, product_of, saturated, sums_of

OPSET = 21
"""The opset by which onnxruntime's operators between dequantization and quantization are read."""
BETWEEN = MappingProxyType(
    {
        "QLinearAdd": "Add",
        "QLinearAveragePool": "AveragePool",
        "QLinearGlobalAveragePool": "GlobalAveragePool",
        "QLinearLeakyRelu": "LeakyRelu",
        "QLinearMul": "Mul",
        "QLinearSigmoid": "Sigmoid",
    }
)
"""For each operator the real operator that it applies, of one or two inputs."""

SHIFTED = ("QLinearAdd", "QLinearMul")
"""Operators that onnxruntime rounds with the zero point included, so that ties go to the number that is even after the
zero point is added.
"""


@operator(*BETWEEN, kinds=INT)
def _linear(node: Node) -> Result:
    """Return the operands of a quantized operator, each with its scale and zero point, then the scale and zero point of
    the result.
    """
    if node.attribute("channels_last", 0):
        raise node.fault("expected channels before positions, found them last; transpose the input")
    count = 2 if node.operator in ("QLinearAdd", "QLinearMul") else 1
    made = _of_reals(node, BETWEEN[node.operator], [_real(node, 3 * place) for place in range(count)])
    return _quantized(node, made, 3 * count, node.value().element)


@operator("QLinearConcat", kinds=frozenset({"float"}))
def _concatenated(node: Node) -> Result:
    """Return the operands of a quantized operator whose inputs begin with the result's scale and zero point, followed
    by the operands with their scales and zero points.
    """
    if len(node.inputs) < 3 or len(node.inputs) % 3 != 2:
        raise node.fault(f"expected three inputs for each tensor, found {len(node.inputs) - 2}; correct the node")
    made = _of_reals(node, "Concat", [_real(node, place) for place in range(2, len(node.inputs), 3)])
    return _quantized(node, made, 0, node.value(2).element)


@operator("QGemm", kinds=INT)
def _gemm(node: Node) -> Result:
    """Return the result of QGemm: alpha * A B, plus a bias of int32 in units of the product; the result is of floats if
    no scale is given for it.
    """
    turned = node.flag("transA", 0), node.flag("transB", 0)
    a, b = factor(node, 0, 2), factor(node, 3, 5, last=not turned[1], channel=0 if turned[1] else None)
    (low, high), reach = sums_of(a, b, node.value(0).shape[0 if turned[0] else -1])
    inputs = [a, b]
    if node.has(6):
        bias = node.value(6)
        inputs.append(replace(bias, content=centred(node, 6, np.zeros((), np.int64)), element=FLOAT))
        low, high, reach = low + bias.low, high + bias.high, reach + max(-bias.low, bias.high)
    # alpha is part of the scale, that of the bias too.
    plain = Attributes({"transA": int(turned[0]), "transB": int(turned[1])}, frozenset())
    made = product_of(replace(node, attributes=plain, opset=OPSET), "Gemm", *inputs)
    accumulated(node, made, ((low, high), reach))
    scale = known_scale(node, 1) * known_scale(node, 4) * node.number("alpha", 1.0)
    if not node.has(7):
        return Made(rescaled(made, scale), FLOAT)
    element = node.value(8).element if node.has(8) else UINT8
    of_result = known_scale(node, 7)
    whole = saturated(rescaled(made, scale / of_result), _zero(node, 8), element)
    return Made(whole, element, (element.low, element.high))


def _real(node: Node, place: int) -> Value:
    """Return the real numbers that a quantized input stands for, given the scale and the zero point that follow it."""
    return Value(rescaled(centred(node, place, _zero(node, place + 2)), known_scale(node, place + 1)), FLOAT)


def _zero(node: Node, place: int) -> Known:
    found = node.known(place, "the zero point") if node.has(place) else np.zeros((), np.int64)
    return found.astype(np.int64).reshape(()) if found.size == 1 else found.astype(np.int64)


def _of_reals(node: Node, name: str, inputs: list[Value]) -> Tensor:
    made = OPERATORS[name].function(replace(node, operator=name, opset=OPSET, inputs=inputs, results=[FLOAT]))
    content = made.content if isinstance(made, Made) else made
    assert isinstance(content, Tensor)
    return content


def _quantized(node: Node, made: Tensor, place: int, element: Element) -> Result:
    zero, steps = _zero(node, place + 1), rescaled(made, known_scale(node, place), divides=True)
    if node.operator in SHIFTED:
        whole = quantized(exact(steps + zero.astype(np.float64)), Format(0, element.low, element.high))
    else:
        whole = saturated(steps, zero, element)
    return Made(whole, element, (element.low, element.high))

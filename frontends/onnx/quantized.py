"""ONNX operators of quantized networks: conversions between floats and whole numbers, and products of quantized
tensors.

The real value of a quantized tensor is (q - zero) * scale, where q are whole numbers of its element type. Quantized
numbers are rounded to the nearest, ties to even, and saturate, as `Quantize` of the real language does. Between
quantized tensors no wire is rounded (docs/quantized.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.types import Shape
from circuitize.frontends.formats import Format
from circuitize.frontends.functions import exact, least, maximum, minimum, quantized, rescaled
from circuitize.frontends.tensor import Tensor

from .elements import ELEMENTS, FLOAT, NAMED, Element, Known, Value
from .node import NUMBERS, OPERATORS, Made, Node, Result, constant, operator
from .whole import Interval, magnitude, product

Reals = NDArray[np.float64]
INT32, UINT8 = NAMED["tensor(int32)"], NAMED["tensor(uint8)"]
INT = frozenset({"int"})


@operator("QuantizeLinear", kinds=NUMBERS, ignores=("saturate", "precision"))
def _quantize(node: Node) -> Result:
    """Return the result of QuantizeLinear: round(x / scale) + zero, ties to even, saturated; the scale is one number,
    one along an axis, or one for each block of an axis.
    """
    x = node.tensor(0)
    scale, zero = _parameters(node, 1, x.shape)
    element = node.value(2).element if node.has(2) else _said(node, UINT8)
    if element.kind != "int":
        raise node.fault(f"expected quantized elements of whole numbers, found {element.name}; use int8 or uint8")
    return Made(saturated(rescaled(x, scale, divides=True), zero, element), element, (element.low, element.high))


def saturated(x: Tensor, zero: Known, element: Element) -> Tensor:
    """Return x rounded to whole numbers, ties to even, plus a zero point that broadcasts, saturated to the element
    type's interval.
    """
    low, high = (int(zero.min()), int(zero.max())) if zero.size else (0, 0)
    whole = quantized(x, Format(0, element.low - high, element.high - low))
    if low == high:
        return exact(whole + float(low)) if low else whole
    return quantized(whole + zero.astype(np.float64), Format(0, element.low, element.high))


@operator("DequantizeLinear", kinds=INT, folds=False)
def _dequantize(node: Node) -> Result:
    """Return the result of DequantizeLinear: (x - zero) * scale, without rounding."""
    scale, zero = _parameters(node, 1, node.value(0).shape)
    element = node.results[0] or _said(node, node.value(1).element)
    return Made(rescaled(centred(node, 0, zero), scale), element)


def _said(node: Node, otherwise: Element) -> Element:
    """Return the element type that the attribute `output_dtype` states, or else the given one."""
    code = node.attribute("output_dtype", 0)
    if code and code not in ELEMENTS:
        raise node.fault(f"expected output_dtype of whole numbers or a float, found {code}; use int8 or uint8")
    return ELEMENTS[code] if code else otherwise


def centred(node: Node, index: int, zero: Known) -> Tensor:
    """Return an ONNX node's input of whole numbers less its zero point; known numbers are subtracted when the ONNX
    graph is read.
    """
    content = node.value(index).content
    if isinstance(content, Tensor):
        return exact(content - zero.astype(np.float64)) if zero.any() else content
    return constant(node.builder, np.broadcast_to(content.astype(np.float64) - zero, content.shape))


def _parameters(node: Node, index: int, shape: Shape) -> tuple[Reals, Known]:
    """Return the scale, which is the ONNX node's input of the given index, and the zero point after it, in shapes that
    broadcast to the given one.
    """
    scale = np.asarray(node.known(index, "the scale"), np.float64)
    zero = node.known(index + 1, "the zero point") if node.has(index + 1) else np.zeros(scale.shape, np.int64)
    if zero.shape != scale.shape and not zero.size == scale.size == 1:
        raise node.fault(
            f"expected a zero point of shape {list(scale.shape)}, as the scale's, found {list(zero.shape)}; reshape it"
        )
    if not (np.isfinite(scale).all() and (scale > 0).all()):
        raise node.fault("expected scales above 0, found one that is not; correct the model")
    whole = zero.astype(np.int64)
    return _spread(node, scale, shape), _spread(node, whole, shape)


def _spread(node: Node, given: Known, shape: Shape) -> Known:
    """Return a quantization parameter as one number, one for each place along the attribute `axis`, or one for each
    block of that axis, so that it broadcasts.
    """
    block, axis = node.attribute("block_size", 0), node.attribute("axis", 1)
    if given.size == 1 and not block:
        return given.reshape(())
    axis = node.axis(axis, len(shape))
    if block:
        blocks = [-(-extent // block) if place == axis else extent for place, extent in enumerate(shape)]
        if block < 0 or list(given.shape) != blocks:
            raise node.fault(f"expected a scale of shape {blocks}, found {list(given.shape)}; correct block_size")
        return np.repeat(given, block, axis).take(range(shape[axis]), axis)
    if given.shape != (shape[axis],):
        raise node.fault(f"expected {shape[axis]} scales along axis {axis}, found {list(given.shape)}; correct them")
    return given.reshape([-1 if place == axis else 1 for place in range(len(shape))])


def stated(name: str, found: Value, formats: dict[str, Format]) -> Value:
    """Return a value of the ONNX graph in the format that the caller states for its name, and any other value
    unchanged.

    Raise CircuitizeError for whole numbers and truth values, which have formats already.
    """
    if name not in formats:
        return found
    format = formats.pop(name)
    if found.element.kind != "float" or not isinstance(found.content, Tensor):
        what = found.element.name if found.element.kind != "float" else "a constant"
        raise CircuitizeError(f"format of {name!r}: expected a tensor of floats, found {what}; leave it out")
    return replace(found, content=quantized(found.content, format))


@operator("MatMulInteger", kinds=INT)
def _matmul(node: Node) -> Result:
    a, b = (factor(node, index, index + 2, last) for index, last in ((0, False), (1, True)))
    made = product_of(node, "MatMul", a, b)
    return accumulated(node, made, sums_of(a, b, node.value(0).shape[-1]))


@operator("ConvInteger", kinds=INT)
def _convolution(node: Node) -> Result:
    x, w = factor(node, 0, 2), factor(node, 1, 3, channel=0)
    made = product_of(node, "Conv", x, w)
    return accumulated(node, made, sums_of(x, w, math.prod(node.value(1).shape[1:])))


def factor(node: Node, index: int, zero: int, last: bool = False, channel: int | None = None) -> Value:
    """Return an ONNX node's input of whole numbers less the zero point that another input holds, with the interval of
    the difference.

    A zero point of several numbers has one number for each row, with `last` for each column, or one for each place
    along `channel`.
    """
    value = node.value(index)
    content = node.value(zero).content if node.has(zero) else np.zeros((), np.int64)
    if isinstance(content, Tensor):
        if content.size != 1:
            raise node.fault(
                f"expected zero points that are known, or one, found {list(content.shape)}; fix their values"
            )
        moved = exact(node.tensor(index) - content.reshape().broadcast(value.shape))
        least, most = node.interval(zero)
        return Value(moved, FLOAT, value.low - most, value.high - least)
    whole = _aligned(node, content.astype(np.int64), value.shape, last, channel)
    least, most = (int(whole.min()), int(whole.max())) if whole.size else (0, 0)
    return Value(centred(node, index, whole), FLOAT, value.low - most, value.high - least)


def _aligned(node: Node, given: Known, shape: Shape, last: bool, channel: int | None) -> Known:
    if given.size == 1:
        return given.reshape(())
    rank = len(shape)
    axis = channel if channel is not None else rank - 1 if last or rank < 2 else rank - 2
    if given.ndim == 1 and given.size == shape[axis]:
        return given.reshape([-1 if place == axis else 1 for place in range(rank)])
    if given.ndim == rank and np.broadcast_shapes(given.shape, shape) == shape:
        return given
    raise node.fault(f"expected {shape[axis]} numbers along axis {axis}, found shape {list(given.shape)}; correct them")


def product_of(node: Node, name: str, *inputs: Value) -> Tensor:
    """Return a contraction of whole numbers, computed by its float operator with the ONNX node's attributes, which is
    exact on whole numbers.
    """
    made = OPERATORS[name].function(replace(node, operator=name, inputs=list(inputs), results=[FLOAT]))
    content = made.content if isinstance(made, Made) else made
    assert isinstance(content, Tensor)
    return content


def sums_of(x: Value, y: Value, count: int) -> tuple[Interval, int]:
    """Return the interval of a sum of `count` products of x and y, and a bound of the magnitude of its partial sums."""
    low, high = product((x.low, x.high), (y.low, y.high))
    return (low * count, high * count), magnitude((low, high)) * count


def accumulated(node: Node, made: Tensor, sums: tuple[Interval, int]) -> Result:
    """Return accumulators of int32 as a result of an ONNX node; raise an error if they could wrap."""
    return replace(node, results=[INT32]).kept(exact(made), *sums, wraps=False)


@operator("QLinearMatMul", kinds=INT)
def _linear_matmul(node: Node) -> Result:
    a, b = factor(node, 0, 2), factor(node, 3, 5, last=True)
    made = product_of(node, "MatMul", a, b)
    accumulated(node, made, sums_of(a, b, node.value(0).shape[-1]))
    of_a = _aligned(node, known_scale(node, 1), node.value(0).shape, False, None)
    of_b = _aligned(node, known_scale(node, 4), node.value(3).shape, True, None)
    return _requantized(node, made, of_a * of_b, 6)


@operator("QLinearConv", kinds=INT)
def _linear_convolution(node: Node) -> Result:
    x, w = factor(node, 0, 2), factor(node, 3, 5, channel=0)
    (low, high), reach = sums_of(x, w, math.prod(node.value(3).shape[1:]))
    inputs = [x, w]
    if node.has(8):
        bias = node.value(8)
        inputs.append(replace(bias, content=centred(node, 8, np.zeros((), np.int64)), element=FLOAT))
        low, high, reach = low + bias.low, high + bias.high, reach + magnitude((bias.low, bias.high))
    made = product_of(node, "Conv", *inputs)
    accumulated(node, made, ((low, high), reach))
    of_w = known_scale(node, 4)
    if of_w.size > 1:
        of_w = of_w.reshape([-1 if axis == 1 else 1 for axis in range(made.ndim)])
    return _requantized(node, made, known_scale(node, 1) * of_w, 6)


def known_scale(node: Node, index: int) -> Reals:
    """Return the scale at an input of the ONNX node, without axes if it is one number. Raise an error unless the scale
    of the ONNX node's input is known and above 0.
    """
    found = np.asarray(node.known(index, "the scale"), np.float64)
    if not (np.isfinite(found).all() and (found > 0).all()):
        raise node.fault("expected scales above 0, found one that is not; correct the model")
    return found.reshape(()) if found.size == 1 else found


def _requantized(node: Node, made: Tensor, scale: Reals, index: int) -> Result:
    """Return accumulators times their scale divided by the result's scale, quantized; the result's scale is the ONNX
    node's input with the given index, and the result's zero point is the next input.
    """
    element = node.element
    of_result = known_scale(node, index)
    zero = node.known(index + 1, "the zero point").astype(np.int64)
    if of_result.size > 1 or zero.size > 1:
        raise node.fault(f"expected one scale of the result, found {of_result.size}; use QuantizeLinear")
    whole = saturated(rescaled(made, scale / of_result), zero.reshape(()), element)
    return Made(whole, element, (element.low, element.high))


@operator("DynamicQuantizeLinear")
def _dynamic(node: Node) -> Sequence[Result]:
    """Return the result of DynamicQuantizeLinear, which quantizes to uint8 an interval that holds all elements and 0;
    it is undefined if all elements are 0.
    """
    x = node.tensor(0)
    flat = x.reshape(x.size)
    low, high = minimum(least(flat, 0), 0.0), maximum(-least(-flat, 0), 0.0)
    scale = (high - low) * (1 / UINT8.high)
    zero = quantized(-low / scale, Format(0, 0, UINT8.high))
    whole = quantized(x / scale.broadcast(x.shape), Format(0, -UINT8.high, UINT8.high)) + zero
    interval = (UINT8.low, UINT8.high)
    return Made(quantized(whole, Format(0, *interval)), UINT8, interval), scale, Made(zero, UINT8, interval)

"""ONNX operators that compute shapes, and those that make tensors without reading any."""

from __future__ import annotations

import math

import numpy as np

from circuitize.frontends.tensor import Tensor

from .elements import ELEMENTS, FLOAT, INT64, Element, Known, Value
from .node import ANY, NUMBERS, Made, Node, Result, operator

STRINGS = ("sparse_value", "value_string", "value_strings")


@operator("Shape", "Size", kinds=ANY)
def _shape(node: Node) -> Known:
    shape = node.value().shape
    if node.operator == "Size":
        return np.array(math.prod(shape))
    return np.array(shape[node.attribute("start", 0) : node.attribute("end", None)], np.int64)


@operator("Constant", kinds=ANY)
def _constant(node: Node) -> Result:
    if len(node.attributes.given) != 1:
        raise node.fault(f"expected one value, found {sorted(node.attributes.given)}; give one")
    (name,) = node.attributes.given
    value = node.attributes[name]
    if isinstance(value, Value):
        return Made(value.content, value.element)
    if name in STRINGS:
        raise node.fault("expected numbers, found strings; leave them out")
    whole = name in ("value_int", "value_ints")
    return Made(np.asarray(value, np.int64 if whole else np.float64), INT64 if whole else FLOAT)


@operator("ConstantOfShape", kinds=ANY)
def _constant_of_shape(node: Node) -> Result:
    given = node.attribute("value", None)
    if given is not None and given.content.size != 1:
        raise node.fault(f"expected a value of one element, found shape {list(given.shape)}; give one")
    shape = node.integers(0, "the shape")
    if min(shape, default=0) < 0:
        raise node.fault(f"expected extents of at least 0, found {shape}; correct them")
    node.bounded(math.prod(shape), "the constant")
    if given is None:
        return Made(np.zeros(shape), FLOAT)
    return Made(np.full(shape, given.content.reshape(-1)[0]), given.element)


@operator("EyeLike", kinds=ANY)
def _eye(node: Node) -> Result:
    shape = node.value().shape
    if len(shape) != 2:
        raise node.fault(f"expected a matrix, found shape {list(shape)}; reshape it")
    return Made(np.eye(*shape, _diagonal(shape, node.attribute("k", 0))), _asked(node))


def _asked(node: Node) -> Element:
    code = node.attribute("dtype", None)
    if code is not None and code not in ELEMENTS:
        raise node.fault(f"expected floats, whole numbers or truth values, found type {code}; correct dtype")
    return node.value().element if code is None else ELEMENTS[code]


def _diagonal(shape: tuple[int, ...], given: int) -> int:
    """Return the number of a diagonal, limited to those in the matrix and those just outside it."""
    return max(-shape[-2], min(shape[-1], int(given)))


@operator("Range", kinds=NUMBERS)
def _range(node: Node) -> Known:
    start, limit, step = (node.scalar(index, "the range") for index in range(3))
    if not step or not all(map(math.isfinite, (start, limit, step))):
        raise node.fault(f"expected finite ends and a step other than 0, found {start}, {limit}, {step}; correct them")
    exact = -(-(limit - start) // step) if node.whole else math.ceil((limit - start) / step)
    count = node.bounded(max(0, exact), "the range")
    places = np.arange(count)
    if node.whole:
        return np.asarray(places * step + start, node.element.dtype)
    return np.asarray(start + step * places, np.float64)


@operator("Trilu", moves=True)
def _triangle(node: Node) -> Tensor:
    x = node.ranked(node.tensor(), 2)
    diagonal = _diagonal(x.shape, node.scalar(1, "the diagonal") if node.has(1) else 0)
    ones = np.ones(x.shape[-2:])
    return x * (np.triu(ones, diagonal) if node.flag("upper", 1) else np.tril(ones, diagonal))

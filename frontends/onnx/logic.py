"""ONNX operators that compare, choose, and combine truth values, and casts between element types."""

from __future__ import annotations

from circuitize.frontends.functions import clip, where
from circuitize.frontends.tensor import Tensor

from .elements import ELEMENTS, Element
from .node import ANY, BOOLS, NUMBERS, Made, Node, Result, operator
from .whole import is_not_zero, truncated, wrapped

FAR = 2.0**40
"""Floats of a greater magnitude are not cast to integers of 32 bits and fewer, since ONNX leaves the result open."""


@operator("Cast", kinds=ANY, ignores=("saturate", "round_mode"))
def _cast(node: Node) -> Result:
    code = node.attributes["to"]
    if code not in ELEMENTS:
        raise node.fault(f"expected a cast to floats, whole numbers or truth values, found type {code}; leave it out")
    return _as(node, ELEMENTS[code])


@operator("CastLike", kinds=ANY, ignores=("saturate", "round_mode"))
def _cast_like(node: Node) -> Result:
    return _as(node, node.value(1).element)


def _as(node: Node, element: Element) -> Result:
    """Return x cast to an element type: floats lose their fraction, numbers other than 0 are true, and whole numbers
    that do not fit wrap.
    """
    x, source = node.tensor(), node.value().element
    low, high = node.interval()
    if element.kind == "float" or element == source:
        return Made(x, element, (low, high))
    if element.kind == "bool":
        return Made(is_not_zero(x), element)
    if source.kind == "float" and element.low == 0 and element.bits == 64:
        raise node.fault("expected a cast of floats to a type that holds negative numbers, found uint64; cast to int64")
    if source.kind == "float":
        whole = truncated(x) if element.bits == 64 else wrapped(truncated(clip(x, -FAR, FAR)), element)
        return Made(whole, element, (element.low, element.high))
    if element.low <= low and high <= element.high:
        return Made(x, element, (low, high))
    if element.bits == 64:
        raise node.fault(
            f"expected whole numbers from 0 on, found some from {low} on; give the intervals of the inputs"
        )
    return Made(wrapped(x, element), element, (element.low, element.high))


@operator("Greater", kinds=NUMBERS)
def _greater(node: Node) -> Tensor:
    return node.tensor(0) > node.tensor(1)


@operator("Less", kinds=NUMBERS)
def _less(node: Node) -> Tensor:
    return node.tensor(0) < node.tensor(1)


@operator("GreaterOrEqual", kinds=NUMBERS)
def _greater_or_equal(node: Node) -> Tensor:
    return 1.0 - (node.tensor(0) < node.tensor(1))


@operator("LessOrEqual", kinds=NUMBERS)
def _less_or_equal(node: Node) -> Tensor:
    return 1.0 - (node.tensor(0) > node.tensor(1))


@operator("Equal", kinds=ANY)
def _equal(node: Node) -> Tensor:
    x, y = node.tensor(0), node.tensor(1)
    return 1.0 - (x > y) - (x < y)


@operator("Not", kinds=BOOLS)
def _not(node: Node) -> Tensor:
    return 1.0 - node.tensor()


@operator("And", kinds=BOOLS)
def _and(node: Node) -> Tensor:
    return node.tensor(0) * node.tensor(1)


@operator("Or", kinds=BOOLS)
def _or(node: Node) -> Tensor:
    x, y = node.tensor(0), node.tensor(1)
    return x + y - x * y


@operator("Xor", kinds=BOOLS)
def _xor(node: Node) -> Tensor:
    x, y = node.tensor(0), node.tensor(1)
    return x + y - x * y * 2.0


@operator("Where", moves=True)
def _where(node: Node) -> Tensor:
    return where(node.tensor(0), node.tensor(1), node.tensor(2))


@operator("Identity", moves=True)
def _identity(node: Node) -> Result:
    return node.value().content

"""ONNX operators of arithmetic: on floats, and on whole numbers, which wrap as their element types do."""

from __future__ import annotations

from functools import reduce

import numpy as np

from circuitize.frontends.functions import absolute, exp, log, maximum, minimum, relu, sign, where
from circuitize.frontends.functions import power as raised
from circuitize.frontends.tensor import Tensor

from .elements import Known, Value
from .node import NUMBERS, Node, Result, operator
from .whole import Interval, magnitude, power, product, quotient

GREATEST_POWER = 64


def _together(node: Node) -> list[Tensor]:
    """Return all inputs of an ONNX node that takes any number of inputs; from opset 8 on the inputs broadcast."""
    tensors = node.tensors()
    if node.version < 8 and node.operator in ("Max", "Mean", "Min", "Sum") and len({x.shape for x in tensors}) > 1:
        found = ", ".join(str(list(x.shape)) for x in tensors)
        raise node.fault(f"expected inputs of one shape before opset 8, found {found}; convert the model")
    return tensors


@operator("Add", "Sum", kinds=NUMBERS)
def _add(node: Node) -> Result:
    made = reduce(lambda x, y: x + y, _together(node))
    intervals = [node.interval(index) for index in range(len(node.inputs))]
    total = sum(low for low, _ in intervals), sum(high for _, high in intervals)
    return node.kept(made, total, sum(magnitude(interval) for interval in intervals))


@operator("Sub", kinds=NUMBERS)
def _subtract(node: Node) -> Result:
    (a, b), (c, d) = node.interval(0), node.interval(1)
    return node.kept(node.tensor(0) - node.tensor(1), (a - d, b - c))


@operator("Mul", kinds=NUMBERS)
def _multiply(node: Node) -> Result:
    return node.kept(node.tensor(0) * node.tensor(1), product(node.interval(0), node.interval(1)))


@operator("Div", kinds=NUMBERS)
def _divide(node: Node) -> Result:
    """Return the quotient of an ONNX division; a quotient of whole numbers is truncated toward zero. An ONNX division
    is undefined where the divisor is 0.
    """
    x, y = node.tensor(0), node.tensor(1)
    shape = np.broadcast_shapes(x.shape, y.shape)
    if not node.whole:
        return x.broadcast(shape) / y.broadcast(shape)
    low, high = node.interval()
    most = max(abs(low), abs(high))
    reach = 2 * magnitude(node.interval(0), node.interval(1))
    interval = (-most if min(low, node.interval(1)[0]) < 0 else 0, most)
    return node.kept(quotient(x.broadcast(shape), y.broadcast(shape)), interval, reach)


@operator("Neg", kinds=NUMBERS)
def _negate(node: Node) -> Result:
    low, high = node.interval()
    return node.kept(-node.tensor(), (-high, -low))


@operator("Abs", kinds=NUMBERS)
def _absolute(node: Node) -> Result:
    low, high = node.interval()
    return node.kept(absolute(node.tensor()), (max(low, -high, 0), max(-low, high)))


@operator("Sign", kinds=NUMBERS)
def _sign(node: Node) -> Result:
    return node.kept(sign(node.tensor()), (-1 if node.interval()[0] < 0 else 0, 1))


@operator("Relu", kinds=NUMBERS)
def _relu(node: Node) -> Result:
    low, high = node.interval()
    return node.kept(relu(node.tensor()), (max(low, 0), max(high, 0)))


@operator("PRelu", kinds=NUMBERS)
def _parametric(node: Node) -> Result:
    x, slope = node.tensor(0), node.tensor(1)
    low, high = node.interval()
    below = product((min(low, 0), min(high, 0)), node.interval(1))
    if slope.ndim == 1 and x.ndim > 1 and slope.shape == x.shape[1:2] and slope.shape not in (x.shape[-1:], (1,)):
        # One slope for each channel, as in operators of old.
        slope = slope.reshape(*slope.shape, *[1] * (x.ndim - 2))
    made = relu(x) - relu(-x) * slope.broadcast(x.shape)
    return node.kept(made, (min(below[0], 0), max(high, below[1], 0)))


@operator("Pow", kinds=NUMBERS)
def _power(node: Node) -> Result:
    """Return x to the power of known exponents; for whole numbers x the exponents must be whole numbers of at least 0.
    An exponent that is not a whole number is allowed only if x >= 0.
    """
    x, y = node.tensor(0), np.asarray(node.known(1, "the exponent"))
    shape = np.broadcast_shapes(x.shape, y.shape)
    base = x.broadcast(shape)
    least = 0 if node.whole else -GREATEST_POWER
    if not y.size or not least <= y.min() <= y.max() <= GREATEST_POWER or (node.whole and (y != np.rint(y)).any()):
        raise node.fault(f"expected exponents from {least} to {GREATEST_POWER}, found others; multiply out")
    if (y != np.rint(y)).any():
        one = float(y.flat[0])
        return base**one if (y == one).all() and (2 * one).is_integer() else _real_power(base, y)
    made: Tensor | None = None
    intervals: list[Interval] = []
    for degree in sorted({int(entry) for entry in y.reshape(-1)}):
        chosen = base**degree if degree > 0 else raised(base, degree)
        intervals.append(power(node.interval(), degree) if degree > 0 else (1, 1))
        here = np.broadcast_to(y == degree, shape).astype(np.float64)
        made = chosen if made is None else where(made.constant(here), chosen, made)
    assert made is not None
    hull = min(low for low, _ in intervals), max(high for _, high in intervals)
    return node.kept(made, hull, wraps=False)


def _real_power(x: Tensor, y: Known) -> Tensor:
    """Return x^y as e^(y log x) for x >= 0; for x = 0 the result is 0, or 1 if the exponent is 0."""
    exponents = y.astype(np.float64)
    zero = 1.0 - (x > 0.0)
    ones: Tensor = zero * (exponents == 0.0).astype(np.float64)
    return exp(log(x + zero) * exponents) * (1.0 - zero) + ones


@operator("Max", "Min", kinds=NUMBERS)
def _extreme(node: Node) -> Result:
    intervals = [node.interval(index) for index in range(len(node.inputs))]
    function, choose = (maximum, max) if node.operator == "Max" else (minimum, min)
    found = choose(low for low, _ in intervals), choose(high for _, high in intervals)
    ends = -np.inf if node.operator == "Max" else np.inf
    tensors = [x for x, value in zip(_together(node), node.inputs, strict=True) if not _all(value, ends)]
    shape = np.broadcast_shapes(*[value.shape for value in node.inputs if value is not None])
    made = reduce(function, tensors) if tensors else node.tensor()
    return node.kept(made.broadcast(shape), found)


def _all(value: Value | None, number: float) -> bool:
    """Return whether an ONNX value is known, and equals the given number everywhere, such as an infinity that bounds
    nothing.
    """
    return value is not None and not isinstance(value.content, Tensor) and bool((value.content == number).all())


@operator("Mean")
def _mean(node: Node) -> Tensor:
    return reduce(lambda x, y: x + y, _together(node)) * (1 / len(node.inputs))


@operator("Clip", kinds=NUMBERS)
def _clip(node: Node) -> Result:
    """Return x clipped to two bounds; if the lower bound is above the upper one, the result is the upper one."""
    x, (low, high) = node.tensor(0), node.interval(0)
    bounds: list[Tensor | float | None] = [
        _bound(node, index, end) if node.has(index) else node.attribute(name, None)
        for index, name, end in ((1, "min", -np.inf), (2, "max", np.inf))
    ]
    if bounds[0] is not None:
        x = maximum(x, bounds[0])
        if node.has(1):
            low, high = max(low, node.interval(1)[0]), max(high, node.interval(1)[1])
    if bounds[1] is not None:
        x = minimum(x, bounds[1])
        if node.has(2):
            low, high = min(low, node.interval(2)[0]), min(high, node.interval(2)[1])
    return node.kept(x, (low, high))


def _bound(node: Node, index: int, infinity: float) -> Tensor | None:
    if _all(node.value(index), infinity):
        return None
    bound = node.tensor(index)
    if bound.size != 1:
        raise node.fault(f"expected a bound of one element, found shape {list(bound.shape)}; give a scalar")
    return bound.reshape()

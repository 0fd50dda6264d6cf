"""Translation rules for comparisons, truth values and choices of UOps, in which rectifiers and indicators are
recognised.
"""

from __future__ import annotations

import numpy as np

from circuitize.circuits import arrays

from .curves import found_curve
from .graph import Node
from .known import FLOATS, Known
from .products import Factor, Product, expanded
from .rules import Made, rule
from .translate import INFINITY, Translation


@rule("OR", "MAX")
def _maximum(t: Translation, node: Node) -> Made:
    """Translate the UOp to Maximum, or to ReLU if one operand is 0."""
    x, y = t.products(node)
    for place, other in ((0, y), (1, x)):
        number = t.uniform(node.sources[place])
        if number == 0.0:
            return t.raised.applied(arrays.ReLU(), other)
        if number == -np.inf:
            return other
    return t.raised.applied(arrays.Maximum(), x, y)


@rule("XOR", "CMPNE", "CMPEQ")
def _different(t: Translation, node: Node) -> Made:
    """Translate the UOp to OneHot if it compares indices with 0, 1, ..., else to two comparisons; no number is NaN."""
    first, second = node.sources
    equal = node.name == "CMPEQ"
    if any(
        t.values[source] is None and t.uniform(other) == INFINITY
        for source, other in ((first, second), (second, first))
    ):
        return np.broadcast_to(np.asarray(not equal), node.shape)
    if first == second:
        return np.broadcast_to(np.asarray(equal), node.shape)
    for place, other in ((0, second), (1, first)):
        number = t.uniform(node.sources[place])
        if number is not None and np.isinf(number):
            return np.broadcast_to(np.asarray(equal), node.shape)
        if number is not None and t.graph.nodes[first].dtype == "bool":
            x = expanded(t.product(other), node.shape)
            return _not(t, node, x) if (number == 1.0) != equal else x
    indicators = _indicators(t, node)
    if indicators is not None:
        return indicators if equal else _not(t, node, indicators)
    x, y = t.products(node)
    if t.graph.nodes[first].dtype == "bool":
        both = t.raised.multiply(x, y, node.shape).scaled(-2.0)
        made = t.raised.add(t.raised.add(x, y, node.shape), both, node.shape)
    else:
        above, below = (t.raised.applied(arrays.Greater(), *pair) for pair in ((x, y), (y, x)))
        made = t.raised.add(above, below, node.shape)
    return _not(t, node, made) if equal else made


def _indicators(t: Translation, node: Node) -> Product | None:
    """Return indicators of the places where indices are equal to 0, 1, ... along an axis that the indices lack."""
    for place in (0, 1):
        known, other = t.known(node.sources[place]), node.sources[1 - place]
        if known is None or t.known(other) is not None or t.graph.nodes[other].dtype in FLOATS:
            continue
        counted = t.raised.constant(known, t.graph.nodes[node.sources[place]].shape)
        counted = expanded(counted, node.shape)
        indices = t.raised.single(expanded(t.product(other), node.shape))
        if len(counted.axes) != 1 or counted.axes[0] in indices.axes or indices.scale != 1.0:
            continue
        (axis,) = counted.axes
        size = node.shape[axis]
        if not np.array_equal(np.unique(known), np.arange(size)) or not np.array_equal(
            np.asarray(known).reshape(-1)[:size], np.arange(size)
        ):
            continue
        labels = indices.factor.tensor
        made = labels.apply(arrays.OneHot(size))
        t.raised.noted(made, "one_hot", labels)
        return Product(node.shape, (Factor(made, (*indices.factor.axes, axis)),))
    return None


def _not(t: Translation, node: Node, x: Product) -> Product:
    single = t.raised.single(x)
    form = t.raised.form(single.factor.tensor)
    if form is not None and form.name == "not" and single.scale == 1.0:
        return Product(node.shape, (Factor(form.of, single.factor.axes),))
    made = t.raised.add(t.raised.constant(np.ones(()), node.shape), single.scaled(-1.0), node.shape)
    if single.scale == 1.0:
        t.raised.noted(made.factor.tensor, "not", single.factor.tensor)
    return made


@rule("BITCAST")
def _bits(t: Translation, node: Node) -> Made:
    """Translate the UOp to nothing; its bits may only be used to ask whether a number is a NaN or an infinity."""
    return None


@rule("CMPLT")
def _less(t: Translation, node: Node) -> Made:
    """Translate the UOp to Greater; a test for an infinity or a NaN is false."""
    if any(t.values[source] is None for source in node.sources) and t.uniform(node.sources[0]) == INFINITY:
        return np.broadcast_to(np.asarray(False), node.shape)
    if node.sources[0] == node.sources[1]:
        return np.broadcast_to(np.asarray(False), node.shape)
    numbers = [t.uniform(source) for source in node.sources]
    if -np.inf in numbers[:1] or np.inf in numbers[1:]:
        return np.broadcast_to(np.asarray(True), node.shape)
    if np.inf in numbers[:1] or -np.inf in numbers[1:]:
        return np.broadcast_to(np.asarray(False), node.shape)
    x, y = t.products(node)
    # Where there is a rectifier, its result is compared: that it is not 0 costs less than a sign.
    rectified = numbers[0] == 0.0 and t.places[-1] in t.rectifying
    made = t.raised.applied(arrays.Greater(), t.raised.applied(arrays.ReLU(), y) if rectified else y, x)
    single = t.raised.single(y)
    if numbers[0] == 0.0 and single.scale > 0:
        t.raised.noted(made.factor.tensor, "positive", single.factor.tensor)
    return made


@rule("WHERE")
def _where(t: Translation, node: Node) -> Made:
    """Translate the UOp to Select, or to ReLU, Maximum, a product, Tanh or Erf if the UOps compute one."""
    condition, first, second = node.sources
    curve = found_curve(t.graph.nodes, t.places[-1])
    if curve is not None:
        argument, operation = curve
        return t.raised.curve(operation, t.product(argument))
    mask = t.known(condition)
    if mask is not None and (mask.all() or not mask.any()):
        chosen = first if mask.all() else second
        known = t.known(chosen)
        return np.broadcast_to(known, node.shape) if known is not None else expanded(t.product(chosen), node.shape)
    numbers = [t.uniform(first), t.uniform(second)]
    c, x, y = t.products(node)
    if mask is not None:
        if numbers[1] == 0.0:
            return t.raised.multiply(c, x, node.shape)
        return chosen_by(t, node, mask, x, y)
    single = t.raised.single(c)
    form = t.raised.form(single.factor.tensor)
    if form is not None and form.name == "positive" and numbers[1] == 0.0 and numbers[0] is None:
        given = t.raised.single(x)
        if given.factor.tensor.wire == form.of.wire and given.factor.axes == single.factor.axes and given.scale > 0:
            return t.raised.applied(arrays.ReLU(), x)
    if numbers[1] == 0.0 and (numbers[0] is not None or (form is not None and form.name == "one_hot")):
        return t.raised.multiply(c, x, node.shape)
    if numbers[0] is not None and numbers[1] is not None:
        return t.raised.add(c.scaled(numbers[0] - numbers[1]), y, node.shape)
    return t.raised.applied(arrays.Select(), c, x, y)


def chosen_by(t: Translation, node: Node, mask: Known, x: Product, y: Product) -> Product:
    """Return x where a known mask is 1 and y where it is 0."""
    condition = t.raised.constant(np.broadcast_to(mask, node.shape).astype(np.float64), node.shape)
    return t.raised.applied(arrays.Select(), condition, x, y)

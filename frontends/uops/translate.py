"""Graphs of UOps as arrows of the real array language, one rule for each operation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from circuitize.circuits import arrays
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.simplify import simplify
from circuitize.circuits.types import Array, Shape
from circuitize.frontends.functions import floor, relu
from circuitize.frontends.provenance import here, part, placed_at
from circuitize.frontends.tensor import Tensor

from .curves import found_curve
from .graph import Graph, Node
from .known import FLOATS, SAME, Known, evaluated
from .products import Product, expanded, permuted, product_of, reshaped
from .raising import Raised, masked
from .walks import Walk, eager, replayed, settled, walk

Value = Known | Product | Walk
INFINITY = 0x7F800000
"""The bits of infinity in single precision, which only those of a NaN exceed, but for the sign."""
MOVEMENTS = ("RESHAPE", "EXPAND", "PERMUTE", "SHRINK", "FLIP", "PAD")


def translated(
    graph: Graph,
    inputs: Mapping[str, Shape],
    value: Callable[[int], Known | None],
    name: str,
    leaving: Sequence[Shape] | None = None,
) -> Arrow:
    """The arrow from these inputs to the roots, simplified. Linear time.

    `value` gives the elements of a node by its place in the graph, where its own system has them. `leaving` gives
    results other shapes.
    """
    builder = Builder(share=True)
    with placed_at(here()):
        tensors = {port: Tensor(builder, builder.input(Array(shape))) for port, shape in inputs.items()}
        translation = Translation(graph, Raised(builder), value, name)
        for place, node in enumerate(graph.nodes):
            port = graph.ports.get(place)
            with part(node.name.lower()):
                if port is not None:
                    entered = product_of(tensors[port.name])
                    translation.values.append(entered if not port.flat else translation.flat(entered))
                else:
                    translation.values.append(translation.made(place, node))
        results = [translation.raised.whole(translation.product(root)) for root in graph.roots]
        shapes = [result.shape for result in results] if leaving is None else leaving
        results = [result.reshape(shape) for result, shape in zip(results, shapes, strict=True)]
    return simplify(builder.build([result.wire for result in results]))


@dataclass
class Translation:
    """The value of each node so far: known elements, a product, or a walk over a tensor."""

    graph: Graph
    raised: Raised
    value: Callable[[int], Known | None]
    name: str

    def __post_init__(self) -> None:
        self.values: list[Value | None] = []
        self.places: list[int] = []

    def flat(self, entered: Product) -> Product:
        size = int(np.prod(entered.shape, dtype=np.int64))
        made = reshaped(entered, (size,))
        assert made is not None
        return made

    def refused(self, node: Node, found: str, remedy: str) -> CircuitizeError:
        return CircuitizeError(f"{self.name}: expected {node.name} {found}; {remedy}")

    def made(self, place: int, node: Node) -> Value | None:
        """The value of a node; None for one that has none, as STORE."""
        self.places.append(place)
        sources = [self.values[source] for source in node.sources]
        if node.name in ("STORE", "BUFFER"):
            return self.value(place) if node.name == "BUFFER" else None
        if node.name == "AFTER":
            return self._after(node)
        if all(isinstance(source, np.ndarray) for source in sources):
            known = [source for source in sources if isinstance(source, np.ndarray)]
            found = evaluated(node, known)
            found = self.value(place) if found is None else found
            if found is None:
                raise self.refused(node, "of known elements to be a rule here, found none", "compute it beforehand")
            return found
        if node.name in SAME:
            return sources[0]
        if node.name in MOVEMENTS:
            return self._moved(node)
        rule = RULES.get(node.name)
        if rule is None:
            raise self.refused(
                node, "to be an operation that has a rule here, found none", f"use {', '.join(sorted(RULES))}"
            )
        return rule(self, node)

    def product(self, place: int) -> Product:
        """A value as a product."""
        node, value = self.graph.nodes[place], self.values[place]
        if isinstance(value, Product):
            return value
        if isinstance(value, Walk):
            made = settled(value) or product_of(self.raised.scaled(replayed(value), value.scale))
            self.values[place] = made
            return made
        if value is None:
            raise self.refused(node, "to have elements, found none", "return a tensor that is computed")
        return self.raised.constant(value, node.shape)

    def products(self, node: Node) -> list[Product]:
        """The sources, each with the axes of the target."""
        return [expanded(self.product(source), node.shape) for source in node.sources]

    def known(self, place: int) -> Known | None:
        value = self.values[place]
        return value if isinstance(value, np.ndarray) else None

    def uniform(self, place: int) -> float | None:
        """The number that all elements are known to be."""
        value = self.known(place)
        if value is None or not value.size:
            return None
        first = value.reshape(-1)[:1] if value.size < 2 else value[(0,) * value.ndim]
        return float(np.asarray(first).reshape(())) if (value == first).all() else None

    def _after(self, node: Node) -> Value | None:
        """What was stored, where all of it was."""
        target = node.sources[0]
        current = self.values[target]
        for source in node.sources[1:]:
            effect = self.graph.nodes[source]
            if effect.name != "STORE" or self._buffer(effect.sources[0]) != self._buffer(target):
                raise self.refused(
                    node,
                    "to follow a store of the whole tensor, found a store of a part of it, or a kernel",
                    "write the tensor with where() instead of assigning to a slice",
                )
            stored, shape = effect.sources[1], self.graph.nodes[effect.sources[0]].shape
            current = self.values[stored]
            if isinstance(current, np.ndarray):
                current = np.broadcast_to(current, shape).reshape(node.shape)
            else:
                current = expanded(self.product(stored), shape)
                current = reshaped(current, node.shape) or product_of(self.raised.whole(current).reshape(node.shape))
        return current

    def bits(self, node: Node) -> bool:
        """Whether a node reads the bits of a float."""
        return any(self.graph.nodes[source].name == "BITCAST" for source in node.sources)

    def _buffer(self, place: int) -> int:
        """The node of which this one is all elements, in their order."""
        while self.graph.nodes[place].name == "RESHAPE" and place not in self.graph.ports:
            place = self.graph.nodes[place].sources[0]
        return place

    def _moved(self, node: Node) -> Value | None:
        place = node.sources[0]
        rest = []
        for source in node.sources[1:]:
            known = self.known(source)
            if known is None:
                raise self.refused(node, "by known numbers, found a tensor", "give tensors fixed shapes")
            rest.append(known)
        value = self.values[place]
        if value is None:
            return None
        if isinstance(value, Walk) and node.name != "PAD":
            return value.moved(node, rest)
        product = self.product(place)
        if node.name == "EXPAND":
            return expanded(product, node.shape)
        if node.name == "PERMUTE":
            return permuted(product, node.argument)
        if node.name == "RESHAPE":
            found = reshaped(product, node.shape)
            if found is None:
                found = reshaped(self.raised.single(product), node.shape)
            return found or walk(self.raised.single(product)).moved(node, rest)
        return self._cut(node, product, rest)

    def _cut(self, node: Node, product: Product, rest: list[Known]) -> Product:
        """SHRINK, FLIP and PAD, where they touch axes along which elements differ; repeated ones just change extent."""
        single = self.raised.single(product)
        before = single.shape
        if node.name == "FLIP":
            touched = {axis for axis, flipped in enumerate(node.argument) if flipped}
        else:
            starts = np.asarray(rest[0]).reshape(-1)
            touched = {axis for axis, extent in enumerate(before) if extent != node.shape[axis] or starts[axis]}
        own = set(single.axes)
        if node.name != "PAD" and not touched & own:
            return Product(node.shape, single.factors, single.scale)
        onto = tuple(sorted(own | touched if node.name == "PAD" else own))
        tensor = self.raised.tensor(single, onto)
        chosen = Node(
            node.name,
            node.dtype,
            tuple(node.shape[axis] for axis in onto),
            (),
            tuple(node.argument[axis] for axis in onto) if node.name == "FLIP" else None,
        )
        offsets = [np.asarray([np.asarray(rest[0]).reshape(-1)[axis] for axis in onto])] if rest else []
        made = eager(chosen, tensor, offsets)
        whole = product_of(made)
        places = list(onto)
        return Product(node.shape, tuple(factor.placed(places) for factor in whole.factors))


Made = Value | None
Rule = Callable[[Translation, Node], Made]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Registers the rule of some operations."""

    def registered(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return registered


@rule("ADD", "SUB")
def _add(t: Translation, node: Node) -> Made:
    x, y = t.products(node)
    for place in (0, 1):
        known = t.known(node.sources[place])
        if known is not None and node.name == "ADD" and node.dtype in FLOATS and masked(known).any():
            return _masked(t, node, np.broadcast_to(known, node.shape), (y, x)[place])
    if node.dtype == "bool":
        return t.raised.applied(arrays.Maximum(), x, y)
    return t.raised.add(x, y if node.name == "ADD" else y.scaled(-1.0), node.shape)


def _masked(t: Translation, node: Node, known: Known, x: Product) -> Product:
    """x + known, -64 where known stands for minus infinity: what e^x makes 0 of."""
    keep = ~masked(known)
    if not keep.any():
        return t.raised.constant(known, node.shape)
    shifted = t.raised.add(x, t.raised.constant(np.where(keep, known, 0.0), node.shape), node.shape)
    return _chosen(t, node, keep, shifted, t.raised.constant(np.asarray(-np.inf), node.shape))


def _chosen(t: Translation, node: Node, mask: Known, x: Product, y: Product) -> Product:
    condition = t.raised.constant(np.broadcast_to(mask, node.shape).astype(np.float64), node.shape)
    return t.raised.applied(arrays.Select(), condition, x, y)


@rule("MUL", "AND")
def _multiply(t: Translation, node: Node) -> Made:
    if node.name == "AND" and node.dtype != "bool":
        if t.bits(node):
            return None
        raise t.refused(node, "of truth values, found one of bits", "leave bit arithmetic out")
    x, y = t.products(node)
    for place in (0, 1):
        if t.uniform(node.sources[place]) == 0.0:
            return np.broadcast_to(np.zeros((), np.bool_ if node.dtype == "bool" else np.float64), node.shape)
    return t.raised.multiply(x, y, node.shape)


@rule("OR", "MAX")
def _maximum(t: Translation, node: Node) -> Made:
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
    """Where indices are equal to 0, 1, ... along an axis that they lack."""
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
        return Product(node.shape, (type(indices.factor)(made, (*indices.factor.axes, axis)),))
    return None


def _not(t: Translation, node: Node, x: Product) -> Product:
    single = t.raised.single(x)
    form = t.raised.form(single.factor.tensor)
    if form is not None and form.name == "not" and single.scale == 1.0:
        return Product(node.shape, (type(single.factor)(form.of, single.factor.axes),))
    made = t.raised.add(t.raised.constant(np.ones(()), node.shape), single.scaled(-1.0), node.shape)
    if single.scale == 1.0:
        t.raised.noted(made.factor.tensor, "not", single.factor.tensor)
    return made


@rule("BITCAST")
def _bits(t: Translation, node: Node) -> Made:
    """The bits of a float have no value here; only whether they are those of a NaN or an infinity is asked."""
    return None


@rule("CMPLT")
def _less(t: Translation, node: Node) -> Made:
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
    made = t.raised.applied(arrays.Greater(), y, x)
    single = t.raised.single(y)
    if numbers[0] == 0.0 and single.scale > 0:
        t.raised.noted(made.factor.tensor, "positive", single.factor.tensor)
    return made


@rule("WHERE")
def _where(t: Translation, node: Node) -> Made:
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
        return _chosen(t, node, mask, x, y)
    single = t.raised.single(c)
    form = t.raised.form(single.factor.tensor)
    if form is not None and form.name == "positive" and numbers[1] == 0.0 and numbers[0] is None:
        chosen = t.raised.single(x)
        if chosen.factor.tensor.wire == form.of.wire and chosen.factor.axes == single.factor.axes and chosen.scale > 0:
            return t.raised.applied(arrays.ReLU(), x)
    if numbers[1] == 0.0 and (numbers[0] is not None or (form is not None and form.name == "one_hot")):
        return t.raised.multiply(c, x, node.shape)
    if numbers[0] is not None and numbers[1] is not None:
        return t.raised.add(c.scaled(numbers[0] - numbers[1]), y, node.shape)
    return t.raised.applied(arrays.Select(), c, x, y)


@rule("REDUCE")
def _reduce(t: Translation, node: Node) -> Made:
    operation, count = node.argument
    product = t.product(node.sources[0])
    if operation == "ADD":
        return t.raised.sum(product, count)
    if operation == "MAX":
        return t.raised.greatest(product, count)
    whole = t.raised.whole(product)
    return product_of(whole.apply(arrays.Product(tuple(range(count)))))


@rule("CAST")
def _cast(t: Translation, node: Node) -> Made:
    source = t.graph.nodes[node.sources[0]]
    if node.dtype == "bool" and source.dtype != "bool":
        x = t.product(node.sources[0])
        zero = t.raised.constant(np.zeros(()), node.shape)
        above, below = (t.raised.applied(arrays.Greater(), *pair) for pair in ((x, zero), (zero, x)))
        return t.raised.add(above, below, node.shape)
    if source.dtype in FLOATS and node.dtype not in FLOATS:
        return _truncated(t, node)
    return t.values[node.sources[0]]


@rule("TRUNC")
def _truncated(t: Translation, node: Node) -> Made:
    made = t.raised.single(t.product(node.sources[0]))
    x = t.raised.tensor(made, made.factor.axes)
    return Product(node.shape, (type(made.factor)(floor(relu(x)) - floor(relu(-x)), made.factor.axes),))


@rule("EXP2")
def _exp2(t: Translation, node: Node) -> Made:
    return t.raised.exp2(t.product(node.sources[0]))


@rule("LOG2")
def _log2(t: Translation, node: Node) -> Made:
    return t.raised.log2(t.product(node.sources[0]))


@rule("SQRT")
def _square_root(t: Translation, node: Node) -> Made:
    return t.raised.square_root(t.product(node.sources[0]))


@rule("RECIPROCAL")
def _reciprocal(t: Translation, node: Node) -> Made:
    return t.raised.reciprocal(t.product(node.sources[0]))


@rule("SIN")
def _sine(t: Translation, node: Node) -> Made:
    return t.raised.applied(arrays.Sin(), t.product(node.sources[0]))


@rule("NEG")
def _negated(t: Translation, node: Node) -> Made:
    return t.product(node.sources[0]).scaled(-1.0)


@rule("FDIV")
def _divided(t: Translation, node: Node) -> Made:
    x, y = t.products(node)
    return t.raised.multiply(x, t.raised.reciprocal(y), node.shape)


@rule("MULACC")
def _accumulated(t: Translation, node: Node) -> Made:
    x, y, z = t.products(node)
    return t.raised.add(t.raised.multiply(x, y, node.shape), z, node.shape)


@rule("POW")
def _power(t: Translation, node: Node) -> Made:
    base, exponent = (t.uniform(source) for source in node.sources)
    x, y = t.products(node)
    if exponent is not None and (2 * exponent).is_integer():
        return t.raised.power(x, exponent)
    if base is not None and base > 0:
        return t.raised.exp2(y.scaled(math.log2(base)))
    raise t.refused(
        node, "of a known base above 0, or to a known multiple of 1/2, found neither", "write exp(y * log(x))"
    )

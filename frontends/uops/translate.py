"""Graphs of UOps as arrows of the real array language, translated by one rule for each operation."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.simplify import simplify
from circuitize.circuits.types import Array, Shape
from circuitize.frontends.provenance import here, part, placed_at
from circuitize.frontends.tensor import Tensor

from .graph import Graph, Node
from .known import SAME, Known, evaluated
from .products import Product, expanded, permuted, product_of, reshaped
from .raising import Raised
from .rules import RULES, Value
from .walks import Walk, eager, replayed, settled, walk

INFINITY = 0x7F800000
"""The bits of infinity in single precision, which, apart from the sign, only the bits of a NaN exceed."""
MOVEMENTS = ("RESHAPE", "EXPAND", "PERMUTE", "SHRINK", "FLIP", "PAD")


def translated(
    graph: Graph[Hashable],
    inputs: Mapping[str, Shape],
    value: Callable[[int], Known | None],
    name: str,
    leaving: Sequence[Shape] | None = None,
) -> Arrow:
    """Return the simplified arrow from the given inputs to the roots of a graph of UOps. Translating a graph of UOps
    takes linear time.

    The callback `value` gives the elements of a UOp by the UOp's place in the graph, if tinygrad or polygrad has them.
    The argument `leaving` gives the shapes of the results of a graph of UOps, if they differ from the roots'.
    """
    builder = Builder(share=True)
    with placed_at(here()):
        tensors = {port: Tensor(builder, builder.input(Array(shape))) for port, shape in inputs.items()}
        translation = Translation(graph, Raised(builder), value, name, tensors)
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
    """The value of each UOp that was translated so far: known elements, a product, or a walk over a tensor."""

    graph: Graph[Hashable]
    raised: Raised
    value: Callable[[int], Known | None]
    name: str
    tensors: Mapping[str, Tensor]

    def __post_init__(self) -> None:
        self.values: list[Value | None] = []
        self.places: list[int] = []
        nodes = self.graph.nodes
        chosen = [node for node in nodes if node.name == "WHERE" and nodes[node.sources[0]].name == "CMPLT"]
        self.rectifying = {n.sources[0] for n in chosen if n.sources[1] == nodes[n.sources[0]].sources[1]}
        """The comparisons with which a choice is a rectifier."""

    def flat(self, entered: Product) -> Product:
        """Return a `Product` as a `Product` with one axis, its elements in row-major order."""
        size = int(np.prod(entered.shape, dtype=np.int64))
        made = reshaped(entered, (size,))
        assert made is not None
        return made

    def refused(self, node: Node, found: str, remedy: str) -> CircuitizeError:
        """Return the error that says what was expected of a UOp, what was found, and the remedy."""
        return CircuitizeError(f"{self.name}: expected {node.name} {found}; {remedy}")

    def made(self, place: int, node: Node) -> Value | None:
        """Return the value of a UOp; None for a UOp that has none, such as STORE."""
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
        """Return the value of a UOp as a `Product`, scaled factors that are not yet multiplied."""
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
        """Return the sources of a UOp as `Product`s, each with the axes of the target."""
        return [expanded(self.product(source), node.shape) for source in node.sources]

    def known(self, place: int) -> Known | None:
        """Return the elements of a UOp if they are known; None otherwise."""
        value = self.values[place]
        return value if isinstance(value, np.ndarray) else None

    def uniform(self, place: int) -> float | None:
        """Return the number that all elements of a UOp are known to equal, if there is one."""
        value = self.known(place)
        if value is None or not value.size:
            return None
        first = value.reshape(-1)[:1] if value.size < 2 else value[(0,) * value.ndim]
        return float(np.asarray(first).reshape(())) if (value == first).all() else None

    def _after(self, node: Node) -> Value | None:
        """Return the value that was stored into a buffer, if all elements were stored."""
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
        """Return whether a UOp reads the bits of a float."""
        return any(self.graph.nodes[source].name == "BITCAST" for source in node.sources)

    def _buffer(self, place: int) -> int:
        """Return the UOp of the buffer whose elements, all of them and in order, a UOp has."""
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
        port = self.graph.ports.get(place)
        if port is not None and port.flat and node.name == "RESHAPE" and node.shape == port.shape:
            return product_of(self.tensors[port.name])
        if isinstance(value, Walk) and node.name != "PAD":
            return value.moved(node, rest)
        product = self.product(place)
        if node.name == "EXPAND":
            return expanded(product, node.shape)
        if node.name == "PERMUTE":
            return permuted(product, node.axes)
        if node.name == "RESHAPE":
            found = reshaped(product, node.shape)
            if found is None:
                found = reshaped(self.raised.single(product), node.shape)
            return found or walk(self.raised.single(product)).moved(node, rest)
        return self._cut(node, product, rest)

    def _cut(self, node: Node, product: Product, rest: list[Known]) -> Product:
        """Return the result of SHRINK, FLIP or PAD, which moves elements only along axes along which elements differ;
        repeated axes only change their extent.
        """
        single = self.raised.single(product)
        before = single.shape
        if node.name == "FLIP":
            touched = {axis for axis, flipped in enumerate(node.axes) if flipped}
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
            tuple(node.axes[axis] for axis in onto) if node.name == "FLIP" else None,
        )
        offsets = [np.asarray([np.asarray(rest[0]).reshape(-1)[axis] for axis in onto])] if rest else []
        made = eager(chosen, tensor, offsets)
        whole = product_of(made)
        places = list(onto)
        return Product(node.shape, tuple(factor.placed(places) for factor in whole.factors))

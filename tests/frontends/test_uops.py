"""Random graphs of UOps, written by hand: their arrows mean what numpy makes of the graphs node by node."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from every_case import every_case
from numpy.typing import NDArray
from tiers import seeds

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import evaluate
from circuitize.circuits.types import Shape
from circuitize.frontends import uops as uops  # registers the rules
from circuitize.frontends.uops.graph import Graph, Node, Port
from circuitize.frontends.uops.known import evaluated
from circuitize.frontends.uops.translate import translated

Reals = NDArray[np.float64]


class Drawn:
    """A graph under construction, with what each node is for one input of each port."""

    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)
        self.nodes: list[Node] = []
        self.values: list[NDArray[Any]] = []
        self.ports: dict[int, Port] = {}

    def enter(self, shape: Shape) -> None:
        name = f"x{len(self.ports)}"
        self.ports[len(self.nodes)] = Port(name, shape)
        self.nodes.append(Node("BUFFER", "float", shape))
        self.values.append(self.generator.normal(0.0, 1.0, shape))

    def add(self, name: str, shape: Shape, sources: tuple[int, ...] = (), argument: object = None, of: str = "") -> int:
        node = Node(name, of or "float", shape, sources, argument)
        found = evaluated(node, [self.values[source] for source in sources])
        assert found is not None and found.shape == shape, (node, found)
        self.nodes.append(node)
        self.values.append(found)
        return len(self.nodes) - 1

    def whole(self, numbers: Shape) -> int:
        """Known whole numbers, as shapes and offsets are given."""
        places = tuple(self.add("CONST", (), (), number, "weakint") for number in numbers)
        return self.add("STACK", (len(places),), places, of="weakint")

    def pick(self, *shape: int) -> int:
        """A float node, of this shape where one has it."""
        floats = [p for p, n in enumerate(self.nodes) if n.dtype == "float" and n.name != "STORE"]
        fitting = [place for place in floats if not shape or self.nodes[place].shape == shape]
        return int(self.generator.choice(fitting[-6:]))

    def grow(self) -> None:
        """One node more, of a kind drawn at random."""
        x = self.pick()
        shape, draw = self.nodes[x].shape, self.generator
        kind = draw.integers(12)
        if kind == 0 and math.prod(shape) <= 400:
            wide = (int(draw.integers(1, 4)), *shape)
            self.add("EXPAND", wide, (x, self.whole(wide)))
        elif kind == 1 and shape:
            order = tuple(map(int, draw.permutation(len(shape))))
            self.add("PERMUTE", tuple(shape[axis] for axis in order), (x,), order)
        elif kind in (2, 3):
            self.add("RESHAPE", other := self.factored(math.prod(shape)), (x, self.whole(other)))
        elif kind == 4 and shape:
            starts = tuple(int(draw.integers(0, extent)) for extent in shape)
            sizes = tuple(int(draw.integers(1, e - s + 1)) for e, s in zip(shape, starts, strict=True))
            self.add("SHRINK", sizes, (x, self.whole(starts), self.whole(sizes)))
        elif kind == 5 and shape and math.prod(shape) <= 100:
            starts = tuple(int(draw.integers(0, 2)) for _ in shape)
            sizes = tuple(e + s + int(draw.integers(0, 2)) for e, s in zip(shape, starts, strict=True))
            self.add("PAD", sizes, (x, self.whole(starts), self.whole(sizes)))
        elif kind == 6 and shape:
            self.add("FLIP", shape, (x,), tuple(bool(draw.integers(2)) for _ in shape))
        elif kind in (7, 8) and shape:
            count = int(draw.integers(1, len(shape) + 1))
            self.add("REDUCE", shape[count:], (x,), ("MAX" if draw.integers(3) == 0 else "ADD", count))
        else:
            self.combine(x, int(draw.integers(6)))

    def combine(self, x: int, kind: int) -> None:
        """Element by element, with one of the same shape, or a number."""
        shape = self.nodes[x].shape
        number = self.add("CONST", (), (), float(self.generator.choice([-1.0, 0.0, 0.5, 1.0, 2.0])))
        y = number if self.generator.integers(3) == 0 else self.pick(*shape)
        if self.nodes[y].shape not in ((), shape):
            y = number
        if kind == 5:
            condition = self.add("CMPLT", shape, (number, x), of="bool")
            self.add("WHERE", shape, (condition, y, x) if self.generator.integers(2) else (condition, x, y))
        else:
            self.add(("ADD", "MUL", "MUL", "MAX", "ADD")[kind], shape, (x, y))

    def factored(self, size: int) -> Shape:
        """Extents whose product is this."""
        extents: list[int] = []
        while size > 1 and len(extents) < 4:
            divisors = [divisor for divisor in range(2, size + 1) if size % divisor == 0]
            extents.append(int(self.generator.choice(divisors)))
            size //= extents[-1]
        if size > 1:
            extents.append(size)
        for _ in range(int(self.generator.integers(2))):
            extents.insert(int(self.generator.integers(len(extents) + 1)), 1)
        return tuple(extents)


@every_case(seeds(40, deep=3000))
def test_random_graphs(seed: int) -> None:
    drawn = Drawn(seed)
    for shape in ((2, 3), (3, 2, 2)):
        drawn.enter(shape)
    for _ in range(14):
        drawn.grow()
    last = [place for place, node in enumerate(drawn.nodes) if node.dtype == "float"][-3:]
    graph = Graph(drawn.nodes, drawn.ports, last, [None] * len(drawn.nodes))
    inputs = {port.name: port.shape for port in drawn.ports.values()}
    arrow = translated(graph, inputs, lambda place: None, "drawn")
    found = evaluate(arrow, [np.asarray(drawn.values[place], np.float64) for place in drawn.ports])
    for place, value in zip(last, found, strict=True):
        np.testing.assert_allclose(value, drawn.values[place], rtol=1e-9, atol=1e-9, err_msg=str(drawn.nodes[place]))


def test_an_operation_without_a_rule() -> None:
    nodes = [Node("BUFFER", "float", (2,)), Node("THREEFRY", "float", (2,), (0,))]
    graph = Graph[None](nodes, {0: Port("x", (2,))}, [1], [])
    with pytest.raises(
        CircuitizeError, match="drawn: expected THREEFRY to be an operation that has a rule here, found"
    ):
        translated(graph, {"x": (2,)}, lambda place: None, "drawn")

"""The rewriting of products so that one multiplier of 25 x 18 bits takes each of them, with exactly the same values.

A product of wider factors is written as a sum of products that are shifted:

- x y = 2^k x + x (y - 2^k), where y - 2^k has fewer bits than y;
- x y = 2 x (y >> 1) + x (y mod 2), where the last product is by a bit and takes no multiplier;
- x y = 2^b (x >> b) y + (x mod 2^b) y, for wide factors, with b = 24 for one of them and 17 for the other;
- x (2^a + 2^b) and x (2^a - 2^b) take no multiplier at all.

Each is an equation of integers, whatever the signs, since `>>` rounds toward minus infinity.
"""

from __future__ import annotations

from dataclasses import replace

from circuitize.circuits.integers import Add, Multiply, Scale, Shift, Subtract

from ..signals import Signal, signed_width
from .graph import Node, Stage
from .size import LONG, SHORT, fits, multiplied

Interval = tuple[int, int]


def narrowed(stage: Stage) -> Stage:
    """Return a stage with the same values, in which each product takes one multiplier, except products by constants of
    more than 25 bits.
    """
    nodes: list[Node] = []
    for node in stage.nodes:
        made = _Rewriting(node, [stage.interval(name) for name in node.sources])
        nodes += made.nodes if made.narrow() else [node]
    return replace(stage, nodes=nodes)


def _count(x: Signal, bits: int) -> int:
    """Return the number of parts that a factor is cut into."""
    return -(-(signed_width(x.low, x.high) - 1) // bits)


class _Rewriting:
    """The nodes that take the place of a product, the last of which has its name and its interval."""

    def __init__(self, node: Node, sources: list[Interval]) -> None:
        self.node, self.nodes = node, list[Node]()
        self.of = dict(zip(node.sources, sources, strict=True))

    def narrow(self) -> bool:
        """Write the product as a sum of narrow products, and return whether it is wide and this can be done."""
        node, operation = self.node, self.node.operation
        factors = [Signal(name, *self.of[name]) for name in node.sources]
        if isinstance(operation, Scale):
            factors.append(Signal("", operation.factor, operation.factor))
        if not isinstance(operation, Multiply | Scale) or not multiplied(operation, factors):
            return False
        if isinstance(operation, Scale) and self._powers(node.sources[0], operation.factor):
            return True
        if fits(factors):
            return False
        x, y = factors
        pairs = [(x, y), (y, x)] if isinstance(operation, Multiply) else [(x, y)]
        return any(made(*pair) for made in (self._moved, self._odd, self._cut) for pair in pairs)

    def _powers(self, x: str, factor: int) -> bool:
        """Write the product with a sum or a difference of two powers of two."""
        low = factor & -factor
        for other, operation in ((factor - low, Add()), (factor + low, Subtract())):
            if other > 0 and other & (other - 1) == 0:
                high = self._add_scaled("high", x, other)
                return self._end(operation, high, self._add_scaled("low", x, low))
        return False

    def _moved(self, x: Signal, y: Signal) -> bool:
        """Take a power of two from y, and add the product with the rest."""
        if not y.name or y.high < 1:
            return False
        power = 1 << (y.high.bit_length() - 1)
        rest = (y.low - power, y.high - power)
        if not fits([x, Signal("", *rest)]):
            return False
        less = self._add_node("less", Subtract(), (y.name, self._known(power)), rest)
        part = self._product("part", x.name, less)
        return self._end(Add(), part, self._add_scaled("whole", x.name, power))

    def _cut(self, x: Signal, y: Signal) -> bool:
        """Cut x and y into parts, one of LONG bits and the other of SHORT bits, whichever takes fewer products, and
        multiply each part of x by each part of y.
        """
        ways = [(a, b) for a, b in ((LONG, SHORT), (SHORT, LONG)) if y.name or _count(y, b) == 1]
        if not ways:
            return False
        by_x, by_y = min(ways, key=lambda way: _count(x, way[0]) * _count(y, way[1]))
        others = self._parts("right", y.name, by_y) if y.name else [(0, "")]
        terms = [
            (up + more, self._product(f"part{k}_{j}", part, other))
            for k, (up, part) in enumerate(self._parts("left", x.name, by_x))
            for j, (more, other) in enumerate(others)
        ]
        scaled = [self._add_scaled(f"up{k}", part, 1 << up) if up else part for k, (up, part) in enumerate(terms)]
        total = scaled[0]
        for k, term in enumerate(scaled[1:-1]):
            (low, high), (less, more) = self.of[total], self.of[term]
            total = self._add_node(f"sum{k}", Add(), (total, term), (low + less, high + more))
        return self._end(Add(), total, scaled[-1])

    def _parts(self, name: str, x: str, bits: int) -> list[tuple[int, str]]:
        """Return the parts of a value, each with its lowest bit: all but the last have `bits` bits and no sign."""
        found: list[tuple[int, str]] = []
        while signed_width(*self.of[x]) > bits + 1:
            low, high = self.of[x]
            above = self._add_node(f"{name}_above{len(found)}", Shift(bits), (x,), (low >> bits, high >> bits))
            back = self._add_scaled(f"{name}_back{len(found)}", above, 1 << bits)
            below = self._add_node(f"{name}_below{len(found)}", Subtract(), (x, back), (0, (1 << bits) - 1))
            found.append((bits * len(found), below))
            x = above
        return [*found, (bits * len(found), x)]

    def _odd(self, x: Signal, y: Signal) -> bool:
        """Cut off the lowest bit of y."""
        half = (y.low >> 1, y.high >> 1)
        if not y.name or not fits([x, Signal("", *half)]):
            return False
        above = self._add_node("above", Shift(1), (y.name,), half)
        odd = self._add_node("odd", Subtract(), (y.name, self._add_scaled("back", above, 2)), (0, 1))
        part = self._product("part", x.name, above)
        return self._end(Add(), self._add_scaled("up", part, 2), self._product("one", odd, x.name))

    def _known(self, number: int) -> str:
        """Return the name of a number: the constant that a node makes of a factor of the product."""
        return self._add_node("power", Scale(0, 0), self.node.sources[:1], (number, number))

    def _product(self, name: str, x: str, y: str) -> str:
        """Add the product of two values, or of a value and the factor of a Scale, whose name is empty."""
        if not y:
            assert isinstance(self.node.operation, Scale)
            return self._add_scaled(name, x, self.node.operation.factor)
        ends = [a * b for a in self.of[x] for b in self.of[y]]
        return self._add_node(name, Multiply(), (x, y), (min(ends), max(ends)))

    def _add_scaled(self, name: str, x: str, factor: int) -> str:
        ends = [factor * end for end in self.of[x]]
        return self._add_node(name, Scale(factor, 0), (x,), (min(ends), max(ends)))

    def _end(self, operation: Add | Subtract, x: str, y: str) -> bool:
        self.nodes.append(replace(self.node, operation=operation, sources=(x, y)))
        return True

    def _add_node(
        self, name: str, operation: Add | Multiply | Scale | Shift | Subtract, sources: tuple[str, ...], ends: Interval
    ) -> str:
        made = f"{self.node.name}_{name}"
        self.of[made] = ends
        self.nodes.append(Node(made, operation, sources, *ends, self.node.in_reduction, self.node.provenance))
        return made

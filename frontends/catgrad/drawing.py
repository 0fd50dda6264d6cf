"""A converter of arrows of reals to diagrams of catgrad's core: a program that came from catgrad, or was written with
circuitize, runs in catgrad.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from circuitize.circuits import arrays
from circuitize.circuits.arrays.composite import expand_composites
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.program import Program
from circuitize.circuits.types import Array, Shape

from .hypergraphs import assembled
from .installed import module
from .objects import NdArrayType, OpenHypergraph, Operation

MOST_PIECES = 1 << 12
"""The most elements into which a slice or a concatenation may cut an axis."""


class Pen:
    """A pen that draws operations of catgrad's core on wires of float32."""

    def __init__(self) -> None:
        self.core, signature = module("catgrad.core.operation"), module("catgrad.signature")
        self._array, self._float = signature.NdArrayType, signature.Dtype.float32
        self.wires: list[NdArrayType] = []
        self.edges: list[Operation] = []
        self.sources: list[list[int]] = []
        self.targets: list[list[int]] = []

    def type(self, shape: Iterable[int]) -> NdArrayType:
        """Return catgrad's type of float32 arrays of the given shape."""
        made: NdArrayType = self._array(tuple(shape), self._float)
        return made

    def shape(self, wire: int) -> Shape:
        """Return the shape of a wire of the diagram."""
        return tuple(self.wires[wire].shape)

    def wire(self, type: NdArrayType) -> int:
        """Add a wire of the given type to the diagram; return its number."""
        self.wires.append(type)
        return len(self.wires) - 1

    def draw(self, operation: Operation, *sources: int) -> list[int]:
        """Add an edge for an operation; return the wires that the edge writes."""
        targets = [self.wire(type) for type in operation.target().table]
        self.edges.append(operation)
        self.sources.append(list(sources))
        self.targets.append(targets)
        return targets

    def one(self, operation: Operation, *sources: int) -> int:
        """Draw an operation with one target in the diagram; return the target's wire."""
        (target,) = self.draw(operation, *sources)
        return target

    def alike(self, kind: Callable[[NdArrayType], Operation], *sources: int) -> int:
        """Draw an operation whose sources and target all have one type."""
        return self.one(kind(self.wires[sources[0]]), *sources)

    def splat(self, amount: float, shape: Shape) -> int:
        """Draw a constant whose elements all equal one number; return its wire."""
        return self.one(self.core.Constant(self.type(shape), float(amount)))

    def power(self, base: int | float, exponent: int | float, shape: Shape) -> int:
        """Draw x^y, where x or y is a constant if it is given as a float."""
        ends = [self.splat(end, shape) if isinstance(end, float) else end for end in (base, exponent)]
        return self.one(self.core.Power(self.type(shape)), *ends)

    def transposed(self, x: int, axes: Sequence[int]) -> int:
        """Draw a transposition: axis i of the result is axis axes[i] of x."""
        if list(axes) == list(range(len(axes))):
            return x
        return self.one(self.core.Permute(self.wires[x], list(axes)), x)

    def reshaped(self, x: int, shape: Shape) -> int:
        """Draw x in another shape, or nothing if x has that shape already; return the wire."""
        return x if self.shape(x) == shape else self.one(self.core.Reshape(self.wires[x], self.type(shape)), x)

    def split_last(self, x: int, axes: Iterable[int]) -> tuple[int, NdArrayType, NdArrayType]:
        """Draw x with the given axes moved to the end; return its wire, the type of the other axes, and the type of the
        moved axes.
        """
        last = sorted(axes)
        rest = [axis for axis in range(len(self.shape(x))) if axis not in last]
        outer, inner = (self.type(self.shape(x)[axis] for axis in group) for group in (rest, last))
        return self.transposed(x, [*rest, *last]), outer, inner

    def pieces(self, x: int, axis: int) -> list[int]:
        """Draw the elements of x along an axis, each without that axis."""
        count = self.shape(x)[axis]
        if count > MOST_PIECES:
            raise CircuitizeError(f"expected an axis of at most {MOST_PIECES} elements to cut, found {count}; split it")
        turned, outer, _ = self.split_last(x, [axis])
        return self.draw(self.core.NSplit(outer, count), turned)

    def stacked(self, pieces: Sequence[int], axis: int) -> int:
        """Draw pieces joined along a new axis: the inverse of `pieces`."""
        made = self.one(self.core.NConcatenate(self.wires[pieces[0]], len(pieces)), *pieces)
        order = list(range(len(self.shape(made)) - 1))
        order.insert(axis, len(order))
        return self.transposed(made, order)


Drawn = Callable[..., int]
"""A function from a pen, an operation of circuitize and wires to the wire that it draws."""


def diagram(given: Arrow | Program) -> Any:
    """Return the diagram of an arrow of reals in catgrad's core, with copies and discards as catgrad's compiler needs
    them.

    Composites of an arrow are expanded in catgrad's diagram. The numbers in catgrad's diagram are float32. Raise
    CircuitizeError for an operation that catgrad's core cannot express, such as a rounding or a gather, for an array of
    constants of different numbers, and for integers.
    """
    arrow = expand_composites(given.arrow if isinstance(given, Program) else given)
    pen, wires = Pen(), dict[int, int]()
    for wire, kind in zip(arrow.inputs.tolist(), arrow.source, strict=True):
        if not isinstance(kind, Array):
            raise CircuitizeError(f"expected an arrow of reals, found {kind}; draw it before it is quantized")
        wires[wire] = pen.wire(pen.type(kind.shape))
    inputs = list(wires.values())
    for edge in arrow.edges():
        drawn = RULES.get(type(edge.operation))
        if drawn is None or len(edge.targets) != 1:
            raise CircuitizeError(
                f"{edge.provenance}: expected an operation that catgrad's core has, found {edge.operation.name}; "
                "write the program with others, or take its hypergraph instead"
            )
        try:
            wires[edge.targets[0]] = drawn(pen, edge.operation, *(wires[wire] for wire in edge.sources))
        except CircuitizeError as error:
            raise CircuitizeError(f"{edge.provenance}: {error}") from None
    return _monogamous(pen, inputs, [wires[wire] for wire in arrow.outputs.tolist()])


def _monogamous(pen: Pen, inputs: Sequence[int], outputs: Sequence[int]) -> OpenHypergraph:
    """Return an open hypergraph in which each wire is read once: by a copy if the arrow reads it more often, by a
    discard if the arrow never reads it.
    """
    count, drawn = len(pen.wires), len(pen.edges)
    reads = Counter(wire for wires in (*pen.sources, outputs) for wire in wires)
    ends: dict[int, list[int]] = {}
    for wire in range(count):
        kind, last = pen.wires[wire], wire
        if not reads[wire]:
            pen.draw(pen.core.Discard(kind), wire)
        ends[wire] = []
        for _ in range(reads[wire] - 1):
            first, last = pen.draw(pen.core.Copy(kind), last)
            ends[wire].append(first)
        ends[wire].append(last)
    for wires in pen.sources[:drawn]:
        wires[:] = [ends[wire].pop() for wire in wires]
    left = [ends[wire].pop() for wire in outputs]
    return assembled(pen.wires, pen.edges, pen.sources, pen.targets, inputs, left)


def _constant(pen: Pen, operation: arrays.Constant) -> int:
    if operation.amounts.ndim:
        raise CircuitizeError(
            "expected a constant of one number, as catgrad's are, found several; make the array an input"
        )
    return pen.splat(float(operation.amounts), operation.shape)


def _broadcast(pen: Pen, operation: arrays.Broadcast, x: int) -> int:
    axes = sorted(operation.axes)
    made = pen.one(pen.core.NCopy(pen.wires[x], pen.type(operation.shape[axis] for axis in axes)), x)
    old = iter(range(len(pen.shape(x))))
    new = iter(range(len(pen.shape(x)), len(operation.shape)))
    return pen.transposed(made, [next(new if axis in axes else old) for axis in range(len(operation.shape))])


def _sum(pen: Pen, operation: arrays.Sum, x: int) -> int:
    turned, outer, inner = pen.split_last(x, operation.axes)
    return pen.one(pen.core.NAdd(outer, inner), turned)


def _max(pen: Pen, operation: arrays.Max, x: int) -> int:
    turned, outer, inner = pen.split_last(x, [operation.axis])
    return pen.one(pen.core.NMax(outer, inner), turned)


def _einsum(pen: Pen, operation: arrays.Einsum, x: int, y: int) -> int:
    """Draw a contraction as the product of arrays [N, A, B] and [N, B, C], with each group of letters merged into one
    axis.
    """
    of_x, of_y, target = operation.letters
    extents = dict(zip(of_x + of_y, pen.shape(x) + pen.shape(y), strict=True))
    n = [letter for letter in target if letter in of_x and letter in of_y]
    a = [letter for letter in target if letter not in of_y]
    c = [letter for letter in target if letter not in of_x]
    b = [letter for letter in of_x if letter not in target]

    def size(letters: Sequence[str]) -> int:
        return math.prod(extents[letter] for letter in letters)

    def merged(wire: int, own: str, *groups: Sequence[str]) -> int:
        turned = pen.transposed(wire, [own.index(letter) for group in groups for letter in group])
        outer = tuple(extents[letter] for letter in groups[0])
        return pen.reshaped(turned, (*outer, *(size(group) for group in groups[1:])))

    axes = [pen.type((size(group),)) for group in (a, b, c)]
    product = pen.core.MatrixMultiply(pen.type(extents[letter] for letter in n), *axes)
    made = pen.one(product, merged(x, of_x, n, a, b), merged(y, of_y, n, b, c))
    order = [*n, *a, *c]
    made = pen.reshaped(made, tuple(extents[letter] for letter in order))
    return pen.transposed(made, [order.index(letter) for letter in target])


def _slice(pen: Pen, operation: arrays.Slice, x: int) -> int:
    for axis, (start, stop) in enumerate(zip(operation.starts, operation.stops, strict=True)):
        if stop - start < pen.shape(x)[axis]:
            x = pen.stacked(pen.pieces(x, axis)[start:stop], axis)
    return x


def _concatenate(pen: Pen, operation: arrays.Concatenate, *tensors: int) -> int:
    return pen.stacked([piece for x in tensors for piece in pen.pieces(x, operation.axis)], operation.axis)


def _positive(pen: Pen, x: int) -> int:
    return pen.alike(pen.core.Gt, x, pen.splat(0.0, pen.shape(x)))


def _select(pen: Pen, operation: object, condition: int, x: int, y: int) -> int:
    """Draw c x + (1 - c) y, which equals a choice between x and y for finite numbers."""
    chosen = _positive(pen, condition)
    other = pen.alike(pen.core.Subtract, pen.splat(1.0, pen.shape(x)), chosen)
    return pen.alike(pen.core.Add, pen.alike(pen.core.Multiply, chosen, x), pen.alike(pen.core.Multiply, other, y))


def _scaled(pen: Pen, amount: float, x: int) -> int:
    return pen.alike(pen.core.Multiply, x, pen.splat(amount, pen.shape(x)))


def _sigmoid(pen: Pen, x: int) -> int:
    """Draw the sigmoid 1 / (1 + e^-x)."""
    shape = pen.shape(x)
    below = pen.alike(pen.core.Add, pen.splat(1.0, shape), pen.power(math.e, pen.alike(pen.core.Negate, x), shape))
    return pen.alike(pen.core.Divide, pen.splat(1.0, shape), below)


def _tanh(pen: Pen, operation: object, x: int) -> int:
    """Draw the hyperbolic tangent as 2 sigmoid(2x) - 1."""
    return pen.alike(
        pen.core.Subtract, _scaled(pen, 2.0, _sigmoid(pen, _scaled(pen, 2.0, x))), pen.splat(1.0, pen.shape(x))
    )


def _alike(name: str) -> Drawn:
    return lambda pen, operation, *sources: pen.alike(getattr(pen.core, name), *sources)


RULES: dict[type, Drawn] = {
    **{kind: _alike(kind.__name__) for kind in (arrays.Add, arrays.Subtract, arrays.Negate, arrays.Multiply)},
    arrays.Divide: _alike("Divide"),
    arrays.Greater: _alike("Gt"),
    arrays.Constant: _constant,
    arrays.Scale: lambda pen, operation, x: _scaled(pen, operation.factor, x),
    arrays.Reshape: lambda pen, operation, x: pen.reshaped(x, operation.shape),
    arrays.Transpose: lambda pen, operation, x: pen.transposed(x, operation.axes),
    arrays.Broadcast: _broadcast,
    arrays.Sum: _sum,
    arrays.Max: _max,
    arrays.Einsum: _einsum,
    arrays.Slice: _slice,
    arrays.Concatenate: _concatenate,
    arrays.Select: _select,
    arrays.ReLU: lambda pen, operation, x: pen.alike(pen.core.Multiply, _positive(pen, x), x),
    arrays.Exp: lambda pen, operation, x: pen.power(math.e, x, pen.shape(x)),
    arrays.Exp2: lambda pen, operation, x: pen.power(2.0, x, pen.shape(x)),
    arrays.SquareRoot: lambda pen, operation, x: pen.power(x, 0.5, pen.shape(x)),
    arrays.ReciprocalSquareRoot: lambda pen, operation, x: pen.power(x, -0.5, pen.shape(x)),
    arrays.Reciprocal: lambda pen, operation, x: pen.alike(pen.core.Divide, pen.splat(1.0, pen.shape(x)), x),
    arrays.Sigmoid: lambda pen, operation, x: _sigmoid(pen, x),
    arrays.Tanh: _tanh,
}
"""The function that draws each operation; composites are expanded before."""

"""Operations that move elements: reindexing by a view, its adjoint, and concatenation."""

from __future__ import annotations

from dataclasses import dataclass

from circuitize.circuits.array_module import array_module
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import TypingError
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Fixed, Shape, Type

from .arithmetic import Add
from .expansion import Expansion
from .language import IntegerOperation, Integers, axis_of, same_fraction_bits
from .view import View


@dataclass(frozen=True)
class Reindex(IntegerOperation):
    """Reindex: the elements y[p] = x[f(p)], where f is the view, and 0 where the view reads outside x. The source of a
    Reindex has the shape of the view's source.
    """

    name = "integer.reindex"

    view: View

    def is_identity(self, source: Type) -> bool:
        return self.view.is_identity

    def target(self, *sources: Fixed) -> Fixed:
        (x,) = sources
        view = self.view
        _expect_shape(self.name, view.source_shape, x)
        low, high = (x.low, x.high) if view.reads_inside else (0, 0)
        if view.reads_outside:
            low, high = min(low, 0), max(high, 0)
        return Fixed(view.target_shape, x.fraction_bits, low, high)

    def lifted(self, count: int) -> Reindex:
        return Reindex(self.view.lifted(count))

    def value(self, *values: Integers) -> Values:
        return self.view.gather(values[0])


@dataclass(frozen=True)
class Sum(IntegerOperation):
    """Sum: y[q] = sum of x[p] over the p with f(p) = q, where f is the view: the adjoint of Reindex(view).

    The source of a Sum has the shape of the view's target, and the target of a Sum has the shape of the view's source;
    elements of the Sum's source whose place the view maps outside are dropped. The interval of a Sum follows from the
    least and the greatest number of terms in one element.
    """

    name = "integer.sum"

    view: View

    def is_identity(self, source: Type) -> bool:
        return self.view.is_identity

    def target(self, *sources: Fixed) -> Fixed:
        (x,) = sources
        view = self.view
        _expect_shape(self.name, view.target_shape, x)
        least, greatest = view.fibres
        low = x.low * (least if x.low >= 0 else greatest)
        high = x.high * (greatest if x.high >= 0 else least)
        return Fixed(view.source_shape, x.fraction_bits, low, high)

    def lifted(self, count: int) -> Sum:
        return Sum(self.view.lifted(count))

    def value(self, *values: Integers) -> Values:
        return self.view.scatter(values[0])


@dataclass(frozen=True)
class Concatenate(Expansion):
    """One or more arrays one after the other along an axis; their other axes and fraction bits are equal."""

    name = "integer.concatenate"
    arity = None

    axis: int

    def is_identity(self, source: Type) -> bool:
        return True  # asked about a single source only

    def target(self, *sources: Fixed) -> Fixed:
        axis, first = self.axis, sources[0]
        axis_of(self.name, axis, first)
        same_fraction_bits(self.name, sources)
        for source in sources[1:]:
            same_rank = len(source.shape) == len(first.shape)
            if not same_rank or _without(source.shape, axis) != _without(first.shape, axis):
                raise TypingError(
                    f"{self.name}: expected shapes equal but for axis {axis}, found {list(first.shape)} and "
                    f"{list(source.shape)}; reshape one"
                )
        extent = sum(source.shape[axis] for source in sources)
        shape = (*first.shape[:axis], extent, *first.shape[axis + 1 :])
        low, high = min(source.low for source in sources), max(source.high for source in sources)
        return Fixed(shape, first.fraction_bits, low, high)

    def lifted(self, count: int) -> Concatenate:
        return Concatenate(self.axis + 1)

    def value(self, *values: Integers) -> Values:
        made: Values = array_module(*values).concatenate(values, axis=self.axis)
        return made

    def define(self, builder: Builder, *wires: int) -> int:
        shapes = [builder.format(wire).shape for wire in wires]
        total, start, joined = sum(shape[self.axis] for shape in shapes), 0, -1
        for wire, shape in zip(wires, shapes, strict=True):
            before = tuple(start if axis == self.axis else 0 for axis in range(len(shape)))
            start += shape[self.axis]
            after = tuple(total - start if axis == self.axis else 0 for axis in range(len(shape)))
            padded = builder.add(Reindex(View.pad(shape, before, after)), wire)
            joined = padded if joined < 0 else builder.add(Add(), joined, padded)
        return joined


def broadcast(builder: Builder, wire: int, shape: Shape, axes: tuple[int, ...]) -> int:
    """Return copies of a wire along the new axes of a shape."""
    return builder.add(Reindex(View.broadcast(shape, axes)), wire)


def part(builder: Builder, wire: int, axis: int, start: int, stop: int) -> int:
    """Return the elements of a wire from start up to but not including stop along one axis."""
    shape = builder.format(wire).shape
    starts = tuple(start if i == axis else 0 for i in range(len(shape)))
    stops = tuple(stop if i == axis else extent for i, extent in enumerate(shape))
    return builder.add(Reindex(View.slice(shape, starts, stops)), wire)


def sum_over(builder: Builder, wire: int, axes: tuple[int, ...]) -> int:
    """Return the sum of a wire over some axes, which the result lacks."""
    return builder.add(Sum(View.broadcast(builder.format(wire).shape, axes)), wire)


def _without(shape: Shape, axis: int) -> Shape:
    return shape[:axis] + shape[axis + 1 :]


def _expect_shape(name: str, shape: Shape, source: Fixed) -> None:
    if source.shape != shape:
        raise TypingError(
            f"{name}: expected a source of shape {list(shape)}, found {list(source.shape)}; make the view for its shape"
        )

"""Linear operations that move elements: reshape, transpose, slice and pad, flip, concatenate, and sum and broadcast."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from circuitize.circuits import integers
from circuitize.circuits.array_module import array_module, placed
from circuitize.circuits.errors import TypingError
from circuitize.circuits.integers import Reindex, View
from circuitize.circuits.integers.term import Integer, align
from circuitize.circuits.lowering import Lowering
from circuitize.circuits.operation import Values
from circuitize.circuits.types import Array, Shape, Type

from .. import expect
from ..language import LinearOperation
from ..term import Real


@dataclass(frozen=True)
class Reshape(LinearOperation):
    """The elements of the source in another shape of the same size, last axis fastest. Reshape is lowered exactly."""

    name = "real.reshape"

    shape: Shape

    def is_identity(self, source: Type) -> bool:
        return bool(source.shape == self.shape)

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        expect.arrays(sources, 1)
        if sources[0].size != math.prod(self.shape):
            raise TypingError(
                f"expected a shape of {sources[0].size} elements, as {list(sources[0].shape)} has, "
                f"found {list(self.shape)} of {math.prod(self.shape)}; change an axis"
            )
        return (Array(self.shape),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (values[0].reshape(self.shape),)

    def adjoint(self, dz: Real, *sources: Array) -> Sequence[Real]:
        return [Reshape(sources[0].shape)(dz)]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        (x,) = sources
        return Reindex(View.reshape(x.shape, self.shape))(x)


@dataclass(frozen=True)
class Transpose(LinearOperation):
    """The axes reordered: axis i of the target is axis axes[i] of the source. Transpose is lowered exactly."""

    name = "real.transpose"

    axes: tuple[int, ...]

    def is_identity(self, source: Type) -> bool:
        return self.axes == tuple(range(len(self.axes)))

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        expect.arrays(sources, 1)
        shape = sources[0].shape
        if sorted(self.axes) != list(range(len(shape))):
            raise TypingError(
                f"expected each axis of {list(shape)} once, found axes {list(self.axes)}; permute 0 to {len(shape) - 1}"
            )
        return (Array(tuple(shape[axis] for axis in self.axes)),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (values[0].transpose(self.axes),)

    def adjoint(self, dz: Real, *sources: Array) -> Sequence[Real]:
        inverse = tuple(self.axes.index(axis) for axis in range(len(self.axes)))
        return [Transpose(inverse)(dz)]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        (x,) = sources
        return Reindex(View.transpose(x.shape, self.axes))(x)


@dataclass(frozen=True)
class Broadcast(LinearOperation):
    """Copies of the source along new axes: `shape` is the target's, and `axes` says which axes of the target are new.
    Broadcast is lowered exactly.
    """

    name = "real.broadcast"

    shape: Shape
    axes: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", expect.distinct(self.axes))
        expect.axes_within(self.axes, len(self.shape))

    def is_identity(self, source: Type) -> bool:
        return not self.axes

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        expect.arrays(sources, 1)
        kept = without(self.shape, self.axes)
        if sources[0].shape != kept:
            raise TypingError(
                f"expected a source of shape {list(kept)} to broadcast to {list(self.shape)} along new axes "
                f"{list(self.axes)}, found {list(sources[0].shape)}; reshape it first"
            )
        return (Array(self.shape),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        (x,) = values
        spread = x[tuple(None if axis in self.axes else slice(None) for axis in range(len(self.shape)))]
        return (array_module(x).broadcast_to(spread, self.shape),)

    def adjoint(self, dz: Real, *sources: Array) -> Sequence[Real]:
        return [Sum(self.axes)(dz)]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        return Reindex(View.broadcast(self.shape, self.axes))(*sources)


@dataclass(frozen=True)
class Sum(LinearOperation):
    """The sum over some axes, which the result lacks. Sum is lowered exactly."""

    name = "real.sum"

    axes: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", expect.distinct(self.axes))

    def is_identity(self, source: Type) -> bool:
        return not self.axes

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        expect.arrays(sources, 1)
        expect.axes_within(self.axes, len(sources[0].shape))
        return (Array(without(sources[0].shape, self.axes)),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (array_module(values[0]).asarray(values[0].sum(axis=self.axes)),)

    def adjoint(self, dz: Real, *sources: Array) -> Sequence[Real]:
        return [Broadcast(sources[0].shape, self.axes)(dz)]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        (x,) = sources
        return integers.Sum(View.broadcast(x.shape, self.axes))(x)


@dataclass(frozen=True)
class Slice(LinearOperation):
    """The elements from starts[i] up to but not including stops[i] of each axis i. Slice is lowered exactly."""

    name = "real.slice"

    starts: tuple[int, ...]
    stops: tuple[int, ...]

    def is_identity(self, source: Type) -> bool:
        return not any(self.starts) and self.stops == source.shape

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        expect.arrays(sources, 1)
        shape = sources[0].shape
        expect.one_per_axis("starts", self.starts, shape)
        expect.one_per_axis("stops", self.stops, shape)
        for axis, (start, stop, extent) in enumerate(zip(self.starts, self.stops, shape, strict=True)):
            if not 0 <= start < stop <= extent:
                raise TypingError(
                    f"expected 0 <= start < stop <= {extent} at axis {axis}, found {start} and {stop}; stay inside"
                )
        return (Array(tuple(stop - start for start, stop in zip(self.starts, self.stops, strict=True))),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (values[0][tuple(map(slice, self.starts, self.stops))],)

    def adjoint(self, dz: Real, *sources: Array) -> Sequence[Real]:
        after = tuple(extent - stop for extent, stop in zip(sources[0].shape, self.stops, strict=True))
        return [Pad(self.starts, after)(dz)]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        (x,) = sources
        return Reindex(View.slice(x.shape, self.starts, self.stops))(x)


@dataclass(frozen=True)
class Pad(LinearOperation):
    """The elements of the source with zeros before and after them, as many along each axis as stated. Pad is lowered
    exactly.
    """

    name = "real.pad"

    before: tuple[int, ...]
    after: tuple[int, ...]

    def is_identity(self, source: Type) -> bool:
        return not any(self.before) and not any(self.after)

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        expect.arrays(sources, 1)
        shape = sources[0].shape
        for name, amounts in (("before", self.before), ("after", self.after)):
            expect.one_per_axis(name, amounts, shape)
            if any(amount < 0 for amount in amounts):
                raise TypingError(f"expected {name} >= 0, found {list(amounts)}; use Slice to remove elements")
        return (Array(tuple(map(sum, zip(self.before, shape, self.after, strict=True)))),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        (x,) = values
        ends = tuple(map(sum, zip(self.before, x.shape, strict=True)))
        shape = tuple(map(sum, zip(ends, self.after, strict=True)))
        return (placed(shape, (*map(slice, self.before, ends), ...), x),)

    def adjoint(self, dz: Real, *sources: Array) -> Sequence[Real]:
        stops = tuple(map(sum, zip(self.before, sources[0].shape, strict=True)))
        return [Slice(self.before, stops)(dz)]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        (x,) = sources
        return Reindex(View.pad(x.shape, self.before, self.after))(x)


@dataclass(frozen=True)
class Flip(LinearOperation):
    """The elements of the source with some axes reversed; Flip is its own adjoint. Flip is lowered exactly."""

    name = "real.flip"

    axes: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", expect.distinct(self.axes))

    def is_identity(self, source: Type) -> bool:
        return all(source.shape[axis] == 1 for axis in self.axes)

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        expect.arrays(sources, 1)
        expect.axes_within(self.axes, len(sources[0].shape))
        return (sources[0],)

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (array_module(values[0]).flip(values[0], self.axes),)

    def adjoint(self, dz: Real, *sources: Array) -> Sequence[Real]:
        return [self(dz)]

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        (x,) = sources
        return Reindex(View.flip(x.shape, self.axes))(x)


@dataclass(frozen=True)
class Concatenate(LinearOperation):
    """Arrays one after the other along an axis; their other axes are equal. Concatenate is lowered exactly."""

    name = "real.concatenate"

    axis: int

    def is_identity(self, source: Type) -> bool:
        return True  # asked about a single source only

    def target_types(self, *sources: Array) -> tuple[Array, ...]:
        if not sources:
            raise TypingError("expected at least 1 source, found 0; connect the arrays to join")
        expect.arrays(sources, len(sources))
        shape = sources[0].shape
        expect.axes_within([self.axis], len(shape))
        for source in sources:
            if len(source.shape) != len(shape) or without(source.shape, [self.axis]) != without(shape, [self.axis]):
                found = ", ".join(str(list(source.shape)) for source in sources)
                raise TypingError(f"expected shapes equal but for axis {self.axis}, found {found}; reshape one")
        extent = sum(source.shape[self.axis] for source in sources)
        return (Array((*shape[: self.axis], extent, *shape[self.axis + 1 :])),)

    def run(self, *values: Values) -> tuple[Values, ...]:
        return (array_module(values[0]).concatenate(values, axis=self.axis),)

    def adjoint(self, dz: Real, *sources: Array) -> Sequence[Real]:
        parts: list[Real] = []
        start = 0
        for source in sources:
            starts, stops = [0] * len(source.shape), list(source.shape)
            starts[self.axis], stops[self.axis] = start, start + source.shape[self.axis]
            parts.append(Slice(tuple(starts), tuple(stops))(dz))
            start += source.shape[self.axis]
        return parts

    def in_integers(self, lowering: Lowering, *sources: Integer) -> Integer:
        return integers.Concatenate(self.axis)(*align(*sources))


def without(shape: Shape, axes: Sequence[int]) -> Shape:
    """Return the shape of an array without the given axes."""
    return tuple(extent for axis, extent in enumerate(shape) if axis not in axes)

"""Writes arrows by running a Python function on tensors that record what is done to them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from types import EllipsisType
from typing import Any, TypeAlias

import numpy as np

from circuitize.circuits import arrays
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import TypingError
from circuitize.circuits.hypergraph import Arrow
from circuitize.circuits.operation import Operation
from circuitize.circuits.types import Array, Shape, Type

from .provenance import current, shown_here

Index = int | slice | EllipsisType | None


def trace(function: Callable[..., Tensor | Sequence[Tensor]], *types: Type | Shape) -> Arrow:
    """The arrow of a Python function: one input per type (a shape means an array of reals), an output per result.

    The function runs once, on tensors; whatever Python does around them (loops, conditions on shapes) happens then.
    Raises TypingError, naming the caller's file and line, where shapes do not fit.
    """
    builder = Builder()
    tensors = [Tensor(builder, builder.input(Array(t) if isinstance(t, tuple) else t)) for t in types]
    made: Any = function(*tensors)
    results = list(made) if isinstance(made, (tuple, list)) else [made]
    for result in results:
        if not isinstance(result, Tensor) or result.builder is not builder:
            raise TypingError(_located(f"expected tensors out of the traced function, found {type(result).__name__}"))
    return builder.build([result.wire for result in results])


class Tensor:
    """A wire of an arrow under construction, with numpy's notation: operators broadcast, slices and methods add edges.

    Python numbers and numpy arrays become constants; a product with a number is a scale.
    """

    __slots__ = ("builder", "wire")
    __array_ufunc__ = None

    def __init__(self, builder: Builder, wire: int) -> None:
        self.builder = builder
        self.wire = wire

    @property
    def shape(self) -> Shape:
        return self.builder.type(self.wire).shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def T(self) -> Tensor:  # noqa: N802 - numpy's name
        return self.transpose()

    def __repr__(self) -> str:
        return f"Tensor({list(self.shape)})"

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        return (self[index] for index in range(self.shape[0]))

    def __bool__(self) -> bool:
        raise TypingError(_located("expected a condition known now, found a tensor; use where(condition, a, b)"))

    def apply(self, operation: Operation, *others: Tensor) -> Tensor:
        """Add an edge with one target on this wire and the others', as they are."""
        builder = self.builder
        for other in others:
            if other.builder is not builder:
                raise TypingError(_located("expected tensors of one trace, found tensors of two; trace them together"))
        builder.provenance = current()
        return Tensor(builder, builder.add(operation, self.wire, *[other.wire for other in others]))

    def __add__(self, other: Operand) -> Tensor:
        return self._elementwise(arrays.Add(), other)

    def __radd__(self, other: Operand) -> Tensor:
        return self.constant(other) + self

    def __sub__(self, other: Operand) -> Tensor:
        return self._elementwise(arrays.Subtract(), other)

    def __rsub__(self, other: Operand) -> Tensor:
        return self.constant(other) - self

    def __neg__(self) -> Tensor:
        return self.apply(arrays.Negate())

    def __mul__(self, other: Operand) -> Tensor:
        if isinstance(other, (int, float, np.number)):
            return self.apply(arrays.Scale(float(other)))
        return self._elementwise(arrays.Multiply(), other)

    def __rmul__(self, other: Operand) -> Tensor:
        return self * other

    def __truediv__(self, other: Operand) -> Tensor:
        if not isinstance(other, Tensor):
            if not np.all(other):
                raise TypingError(_located("expected a divisor without zeros, found 0; check the constant"))
            return self * (1.0 / other)
        return self._elementwise(arrays.Divide(), other)

    def __rtruediv__(self, other: Operand) -> Tensor:
        return self.apply(arrays.Reciprocal()) * other

    def __pow__(self, exponent: int) -> Tensor:
        if not isinstance(exponent, int) or exponent < 1:
            raise TypingError(_located(f"expected a positive whole exponent, found {exponent!r}; multiply it out"))
        half = self if exponent < 2 else self ** (exponent // 2)
        if exponent == 1:
            return self
        return half * half if exponent % 2 == 0 else half * half * self

    def __gt__(self, other: Operand) -> Tensor:  # type: ignore[misc]  # numpy compares with anything
        return self._elementwise(arrays.Greater(), other)

    def __lt__(self, other: Operand) -> Tensor:  # type: ignore[misc]
        return self.constant(other) > self

    def __matmul__(self, other: Tensor) -> Tensor:
        """Product of the last two axes; others broadcast; a vector is a row at the left, a column at the right."""
        left, right = self, other
        if not left.ndim or not right.ndim:
            raise TypingError(_located("expected at least one axis on both sides of @, found a scalar; use *"))
        row, column = left.ndim == 1, right.ndim == 1
        leading = max(left.ndim - 2, right.ndim - 2, 0)
        batch = "abcdefgh"[:leading]
        if leading and left.ndim > 2 and right.ndim > 2:
            shape = broadcast_shape(left.shape[:-2], right.shape[:-2])
            left, right = left.broadcast(shape + left.shape[-2:]), right.broadcast(shape + right.shape[-2:])
        a = (batch if left.ndim > 2 else "") + ("" if row else "x") + "y"
        b = (batch if right.ndim > 2 else "") + "y" + ("" if column else "z")
        return left.apply(arrays.Einsum(f"{a},{b}->{batch}{'' if row else 'x'}{'' if column else 'z'}"), right)

    def __getitem__(self, index: Index | tuple[Index, ...]) -> Tensor:
        """Basic indexing: whole numbers, slices of step 1, `...` and None."""
        entries = index if isinstance(index, tuple) else (index,)
        given = sum(entry is not None and entry is not Ellipsis for entry in entries)
        if given > self.ndim or sum(entry is Ellipsis for entry in entries) > 1:
            raise TypingError(_located(f"expected at most {self.ndim} indices of {list(self.shape)}, found {given}"))
        whole = [slice(None)] * (self.ndim - given)
        at = next((i for i, entry in enumerate(entries) if entry is Ellipsis), len(entries))
        starts, stops, shape = [], [], []
        axis = 0
        for entry in (*entries[:at], *whole, *entries[at + 1 :]):
            if entry is None:
                shape.append(1)
                continue
            start, stop = _bounds(entry, self.shape[axis], axis)
            starts.append(start)
            stops.append(stop)
            axis += 1
            if isinstance(entry, slice):
                shape.append(stop - start)
        taken = self
        if tuple(b - a for a, b in zip(starts, stops, strict=True)) != self.shape:
            taken = self.apply(arrays.Slice(tuple(starts), tuple(stops)))
        return taken.reshape(*shape)

    def sum(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """The sum over an axis, several, or all."""
        axes = self._axes(axis)
        total = self.apply(arrays.Sum(axes)) if axes else self
        return self._restored(total, axes) if keepdims else total

    def mean(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """The mean over an axis, several, or all."""
        axes = self._axes(axis)
        mean = self.apply(arrays.Mean(axes))
        return self._restored(mean, axes) if keepdims else mean

    def max(self, axis: int | None = None, keepdims: bool = False) -> Tensor:
        """The maximum over one axis, or all; its derivative goes to the first maximum."""
        if axis is None:
            found = self.reshape(-1).max(0)
            return found.reshape(*[1] * self.ndim) if keepdims else found
        axes = self._axes(axis)
        found = self.apply(arrays.Max(axes[0]))
        return self._restored(found, axes) if keepdims else found

    def reshape(self, *shape: int) -> Tensor:
        """The same elements in row-major order; one extent may be -1."""
        known = math.prod(extent for extent in shape if extent != -1)
        filled = tuple(self.size // known if extent == -1 and known else extent for extent in shape)
        if math.prod(filled) != self.size or sum(extent == -1 for extent in shape) > 1:
            raise TypingError(_located(f"expected a shape of {self.size} elements, found {list(shape)}; recount"))
        return self if filled == self.shape else self.apply(arrays.Reshape(filled))

    def transpose(self, *axes: int) -> Tensor:
        """Target axis i is source axis axes[i]; without axes, all reversed."""
        order = tuple(axis % max(self.ndim, 1) for axis in axes) or tuple(reversed(range(self.ndim)))
        return self if order == tuple(range(self.ndim)) else self.apply(arrays.Transpose(order))

    def broadcast(self, shape: Shape) -> Tensor:
        """numpy's rule: align on the right, repeat missing axes and axes of extent one."""
        if shape == self.shape:
            return self
        offset = len(shape) - self.ndim
        extents = (None,) * offset + self.shape
        new = tuple(axis for axis, extent in enumerate(shape) if extents[axis] != extent)
        if offset < 0 or any(extents[axis] not in (None, 1) for axis in new):
            raise TypingError(_located(f"expected a shape to fit {list(shape)}, found {list(self.shape)}; reshape it"))
        kept = [extent for axis, extent in enumerate(shape) if axis not in new]
        return self.reshape(*kept).apply(arrays.Broadcast(shape, new))

    def constant(self, value: Operand) -> Tensor:
        """A tensor of the same trace holding a number or a numpy array; a tensor is passed on."""
        if isinstance(value, Tensor):
            return value
        array = np.asarray(value, np.float64)
        if not np.isfinite(array).all():
            raise TypingError(_located("expected a finite constant, found NaN or infinity; check the constant"))
        self.builder.provenance = current()
        return Tensor(self.builder, self.builder.add(arrays.Constant.of(array)))

    def _elementwise(self, operation: Operation, other: Operand) -> Tensor:
        if isinstance(other, (int, float, np.number)):
            if not math.isfinite(other):
                raise TypingError(_located("expected a finite constant, found NaN or infinity; check the constant"))
            self.builder.provenance = current()
            splat = self.builder.add(arrays.Constant.splat(float(other), self.shape))
            return self.apply(operation, Tensor(self.builder, splat))
        right = self.constant(other)
        shape = broadcast_shape(self.shape, right.shape)
        return self.broadcast(shape).apply(operation, right.broadcast(shape))

    def _axes(self, axis: int | Sequence[int] | None) -> tuple[int, ...]:
        if axis is None:
            return tuple(range(self.ndim))
        axes = (axis,) if isinstance(axis, int) else tuple(axis)
        for a in axes:
            if not -self.ndim <= a < self.ndim:
                raise TypingError(_located(f"expected an axis of {list(self.shape)}, found axis {a}; count from 0"))
        return tuple(sorted(a % self.ndim for a in axes))

    def _restored(self, reduced: Tensor, axes: tuple[int, ...]) -> Tensor:
        return reduced.reshape(*[1 if axis in axes else extent for axis, extent in enumerate(self.shape)])


Operand: TypeAlias = Tensor | float | np.ndarray[Any, Any]
"""What may stand beside a tensor in a formula."""


def _located(message: str) -> str:
    return f"{shown_here()}: {message}"


def broadcast_shape(a: Shape, b: Shape) -> Shape:
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        message = f"expected shapes that broadcast, found {list(a)} and {list(b)}; reshape one"
        raise TypingError(_located(message)) from None


def _bounds(entry: Any, extent: int, axis: int) -> tuple[int, int]:
    if isinstance(entry, slice):
        start, stop, step = entry.indices(extent)
        if step != 1 or stop <= start:
            raise TypingError(_located(f"expected a slice of step 1, with elements, at axis {axis}, found {entry}"))
        return start, stop
    if isinstance(entry, (int, np.integer)) and -extent <= entry < extent:
        at = int(entry) % extent
        return at, at + 1
    raise TypingError(_located(f"expected an index below {extent} or a slice at axis {axis}, found {entry!r}"))

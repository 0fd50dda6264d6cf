"""Tensors that record the operations applied to them, with numpy's operators and methods."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn

import numpy as np

from circuitize.circuits import arrays
from circuitize.circuits.arrays.term import Operand, Real
from circuitize.circuits.operation import Operation
from circuitize.circuits.types import Shape

from . import numpy_names
from .indexing import Index, indexed
from .operands import broadcast_shape, constant_of, named, real_of, whole_numbers
from .products import exponential, power, product
from .provenance import current, refused


class Tensor(Real):
    """A wire of an arrow under construction, with numpy's notation: operators broadcast, slices and methods add edges.

    Python numbers and numpy arrays become constants in a trace; a tensor times a number is a Scale.
    """

    __slots__ = ()
    __hash__ = object.__hash__

    @property
    def size(self) -> int:
        """Return the number of elements of the tensor."""
        return math.prod(self.shape)

    @property
    def T(self) -> Tensor:  # noqa: N802 - numpy's name
        """Return the tensor with its axes in reverse order, as numpy does."""
        return self.transpose()

    def __repr__(self) -> str:
        return f"Tensor({list(self.shape)})"

    def __len__(self) -> int:
        if not self.ndim:
            raise refused("expected a tensor with axes, found a scalar, which has no length; leave the loop out")
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        return (self[index] for index in range(len(self)))

    def __bool__(self) -> bool:
        raise refused("expected a condition known now, found a tensor; use where(condition, a, b)")

    def _unknown(self) -> NoReturn:
        raise refused(
            "expected a number known now, found a tensor, which has no value while it is traced; keep it a tensor: "
            "circuitize.frontends.functions has exp, log, square_root and others"
        )

    __float__ = __int__ = __index__ = __complex__ = item = tolist = numpy = _unknown

    def __format__(self, spec: str) -> str:
        return self._unknown() if spec else repr(self)

    def __array__(self, *options: object, **named: object) -> NoReturn:
        self._unknown()

    def __array_ufunc__(self, function: object, method: str, *values: object, **options: object) -> object:
        return numpy_names.ufunc(self, function, method, values, options)

    def __array_function__(
        self, function: object, types: object, values: Sequence[object], options: Mapping[str, object]
    ) -> object:
        return numpy_names.function(function, values, options)

    def __getattr__(self, name: str) -> NoReturn:
        own = f"found {name!r}; use {name}(x) of circuitize.frontends.functions"
        other = f"found {name!r}; its methods are {', '.join(METHODS)}"
        raise AttributeError(f"expected what a tensor has, {own if name in numpy_names.OURS else other}")

    def __setitem__(self, index: object, value: object) -> NoReturn:
        raise refused(
            "expected tensors to stay as they are, found one assigned to; use where, or concatenate the parts"
        )

    def apply(self, operation: Operation, *others: Tensor) -> Tensor:
        """Add an edge with one target that reads this tensor's wire and those of other tensors, without
        broadcasting.
        """
        builder = self.builder
        for other in others:
            if not isinstance(other, Tensor):
                raise refused(f"expected a tensor in {operation.name}, found {named(other)}; use x.constant(value)")
            if other.builder is not builder:
                raise refused("expected tensors of one trace, found tensors of two; trace them together")
        builder.provenance = current()
        return Tensor(builder, builder.add(operation, self.wire, *[other.wire for other in others]))

    def __pos__(self) -> Tensor:
        return self

    def __abs__(self) -> Tensor:
        return self.apply(arrays.Abs())

    def __mul__(self, other: Operand) -> Tensor:
        if isinstance(other, (int, float, np.number)) and not math.isfinite(real_of(other)):
            raise refused(NOT_FINITE)
        return super().__mul__(other)

    def __truediv__(self, other: Operand) -> Tensor:
        if not isinstance(other, Tensor):
            divisor = constant_of(other)
            if not np.all(divisor):
                raise refused("expected a divisor without zeros, found 0; check the constant")
            return self * (1.0 / (divisor if divisor.ndim else float(divisor)))
        return self._elementwise(arrays.Divide(), other)

    def __rtruediv__(self, other: Operand) -> Tensor:  # type: ignore[misc]
        return self.apply(arrays.Reciprocal()) * other

    def __pow__(self, exponent: float) -> Tensor:
        """Return the tensor to a power that is a multiple of 1/2."""
        return power(self, exponent)

    def __rpow__(self, base: float) -> Tensor:
        return exponential(base, self)

    def __lt__(self, other: Operand) -> Tensor:  # type: ignore[misc]
        return self.constant(other) > self

    def __ge__(self, other: Operand) -> Tensor:
        return 1.0 - (self < other)

    def __le__(self, other: Operand) -> Tensor:
        return 1.0 - (self > other)

    def __eq__(self, other: Operand) -> Tensor:  # type: ignore[override]
        return 1.0 - (self != other)

    def __ne__(self, other: Operand) -> Tensor:  # type: ignore[override]
        return (self > other) + (self < other)

    def _no_word(self, other: object = None) -> NoReturn:
        raise refused(
            "expected + - * / ** @ or a comparison, found another operator on a tensor; of conditions, which are 0 or "
            "1, write a * b for and, maximum(a, b) for or, 1 - a for not; floor(x / y) for //"
        )

    __and__ = __or__ = __xor__ = __rand__ = __ror__ = __rxor__ = __lshift__ = __rshift__ = _no_word
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = __invert__ = _no_word

    def __rmatmul__(self, other: Operand) -> Tensor:
        return self.constant(other) @ self

    def __matmul__(self, other: Operand) -> Tensor:
        """Return the matrix product over the last two axes; other axes broadcast; a vector is a row as the left operand
        and a column as the right one.
        """
        return product(self, self.constant(other))

    def __getitem__(self, index: Index | tuple[Index, ...]) -> Tensor:
        """Return the elements that numpy's indexing gives: by whole numbers, slices of any step, a list of places,
        `...` and None.
        """
        return indexed(self, index)

    def sum(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """Return the sum over one axis, several axes or all axes."""
        axes = self._axes(axis)
        total = self.apply(arrays.Sum(axes)) if axes else self
        return self._restored(total, axes) if keepdims else total

    def mean(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """Return the mean over one axis, several axes or all axes."""
        axes = self._axes(axis)
        mean = self.apply(arrays.Mean(axes))
        return self._restored(mean, axes) if keepdims else mean

    def max(self, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        """Return the maximum over one axis, several axes or all axes; its derivative goes to the first maximum of each
        axis.
        """
        if axis is None:
            found = self.reshape(-1).max(0)
            return found.reshape(*[1] * self.ndim) if keepdims else found
        axes = self._axes(axis)
        found = self
        for one in reversed(axes):
            found = found.apply(arrays.Max(one))
        return self._restored(found, axes) if keepdims else found

    def reshape(self, *shape: int | Sequence[int]) -> Tensor:
        """Return the tensor's elements in row-major order in another shape, whose extents are given one by one or as a
        tuple; one extent may be -1.
        """
        extents = whole_numbers("extents", shape)
        known = math.prod(extent for extent in extents if extent != -1)
        filled = tuple(self.size // known if extent == -1 and known else extent for extent in extents)
        if math.prod(filled) != self.size or sum(extent == -1 for extent in extents) > 1 or min(filled, default=1) < 1:
            raise refused(f"expected a shape of {self.size} elements, found {list(extents)}; recount")
        return self if filled == self.shape else self.apply(arrays.Reshape(filled))

    def transpose(self, *axes: int | Sequence[int]) -> Tensor:
        """Return the tensor with its axes reordered: target axis i is source axis axes[i]; without `axes`, the order of
        all axes is reversed.
        """
        order = tuple(self.axis(axis) for axis in whole_numbers("axes", axes)) or tuple(reversed(range(self.ndim)))
        return self if order == tuple(range(self.ndim)) else self.apply(arrays.Transpose(order))

    def broadcast(self, shape: Shape) -> Tensor:
        """Return the tensor broadcast by numpy's rule: align shapes on the right, repeat missing axes and axes of
        extent one.
        """
        if shape == self.shape:
            return self
        offset = len(shape) - self.ndim
        extents = (None,) * offset + self.shape
        new = tuple(axis for axis, extent in enumerate(shape) if extents[axis] != extent)
        if offset < 0 or any(extents[axis] not in (None, 1) for axis in new):
            raise refused(f"expected a shape to fit {list(shape)}, found {list(self.shape)}; reshape or transpose it")
        kept = [extent for axis, extent in enumerate(shape) if axis not in new]
        return self.reshape(*kept).apply(arrays.Broadcast(shape, new))

    def constant(self, value: Operand) -> Tensor:
        """Return a tensor of the same trace that holds a number or a numpy array; a tensor is returned unchanged."""
        if isinstance(value, Tensor):
            return value
        array = constant_of(value)
        if not np.isfinite(array).all():
            raise refused(NOT_FINITE)
        self.builder.provenance = current()
        return Tensor(self.builder, self.builder.add(arrays.Constant.of(array)))

    def _elementwise(self, operation: Operation, other: Operand) -> Tensor:
        if isinstance(other, (int, float, np.number)):
            if not math.isfinite(other):
                raise refused(NOT_FINITE)
            self.builder.provenance = current()
            splat = self.builder.add(arrays.Constant.splat(float(other), self.shape))
            return self.apply(operation, Tensor(self.builder, splat))
        right = self.constant(other)
        shape = broadcast_shape(self.shape, right.shape)
        return self.broadcast(shape).apply(operation, right.broadcast(shape))

    def axis(self, axis: int) -> int:
        """Return the number of an axis, counted from 0; raise TypingError, with the user's line, for an axis that does
        not exist.
        """
        if not isinstance(axis, (int, np.integer)) or isinstance(axis, bool) or not -self.ndim <= axis < self.ndim:
            raise refused(f"expected an axis of {list(self.shape)}, found axis {axis!r}; count from 0")
        return int(axis) % self.ndim

    def _axes(self, axis: int | Sequence[int] | None) -> tuple[int, ...]:
        if axis is None:
            return tuple(range(self.ndim))
        return tuple(sorted(map(self.axis, axis if isinstance(axis, (tuple, list, range)) else (axis,))))

    def _restored(self, reduced: Tensor, axes: tuple[int, ...]) -> Tensor:
        return reduced.reshape(*[1 if axis in axes else extent for axis, extent in enumerate(self.shape)])


NOT_FINITE = "expected a finite constant, found NaN or infinity; check the constant"
METHODS = ("sum", "mean", "max", "reshape", "transpose", "T", "broadcast", "constant", "shape", "ndim", "size")


def apply(operation: Operation, x: Tensor, *others: Tensor) -> Tensor:
    """Add an edge on tensors; raise TypingError, with the user's line, if the first operand is no tensor."""
    if not isinstance(x, Tensor):
        raise refused(
            f"expected a tensor in {operation.name}, found {named(x)}; functions take the tensors of a traced function"
        )
    return x.apply(operation, *others)


def axis_of(x: Tensor, axis: int) -> int:
    """Return the number of an axis of a tensor, counted from 0; raise TypingError, with the user's line, for an axis
    that does not exist, and for an object that is no tensor.
    """
    if not isinstance(x, Tensor):
        raise refused(f"expected a tensor, found {named(x)}; functions take the tensors of a traced function")
    return x.axis(axis)


def tensors_of(*operands: Operand) -> list[Tensor]:
    """Return the operands as tensors of one trace; raise TypingError if none of them is a tensor."""
    first = next((operand for operand in operands if isinstance(operand, Tensor)), None)
    if first is None:
        found = " and ".join(map(named, operands)) or "nothing"
        raise refused(f"expected a tensor of a traced function, found {found}; use numpy before the trace")
    return [first.constant(operand) for operand in operands]


def together(*operands: Operand) -> list[Tensor]:
    """Return the operands as tensors of one trace and one shape, broadcast by numpy's rule; raise TypingError if none
    is a tensor.
    """
    tensors = tensors_of(*operands)
    shape: Shape = ()
    for tensor in tensors:
        shape = broadcast_shape(shape, tensor.shape)
    return [tensor.broadcast(shape) for tensor in tensors]

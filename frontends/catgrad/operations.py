"""The meanings of catgrad's operations: those of catgrad's core language, and those that a user registers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from string import ascii_lowercase

from circuitize.circuits import arrays
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError, TypingError
from circuitize.circuits.types import Shape
from circuitize.frontends.tensor import Tensor

from .installed import module
from .objects import OfArrays, OfLastAxes, OfPieces

Meaning = Callable[..., Tensor | Sequence[Tensor]]
"""A function from an operation of catgrad and the tensors it reads to the tensors it makes."""

_registered: dict[type, Meaning] = {}


def register(operation: type, meaning: Meaning) -> None:
    """Register what an operation means: `meaning(operation, *tensors)` returns a tensor, or one tensor for each target.

    A registered meaning takes precedence over any other meaning of an operation, so that an operation with a definition
    can get a better arrow than its definition's. A meaning is registered for the exact type of an operation, not for
    its subclasses.
    """
    _registered[operation] = meaning


class Splat(Tensor):
    """A tensor whose elements all equal one known number."""

    __slots__ = ("amount",)

    def __init__(self, builder: Builder, amount: float, shape: Shape) -> None:
        super().__init__(builder, builder.add(arrays.Constant.splat(amount, shape)))
        self.amount = amount


class Positive(Tensor):
    """A tensor that is 1 where another tensor is above 0, else 0."""

    __slots__ = ("of",)

    def __init__(self, of: Tensor) -> None:
        super().__init__(of.builder, (of > 0.0).wire)
        self.of = of


def meaning_of(operation: object) -> Meaning | None:
    """Return the registered meaning of an operation, else its meaning in catgrad's core, or None if it has neither."""
    return _registered.get(type(operation)) or _core().get(type(operation))


@cache
def _core() -> dict[type, Meaning]:
    ops, bidirectional = module("catgrad.core.operation"), module("catgrad.bidirectional.operation")
    return {
        ops.Copy: lambda operation, x: (x, x),
        ops.Discard: lambda operation, x: (),
        ops.NCopy: _copied,
        ops.NAdd: lambda operation, x: x.sum(_last(operation.T.shape)),
        ops.NMax: _greatest,
        ops.NSplit: _split,
        ops.NConcatenate: _stacked,
        ops.Add: lambda operation, x, y: x + y,
        ops.Subtract: lambda operation, x, y: x - y,
        ops.Negate: lambda operation, x: -x,
        ops.Invert: _inverted,
        ops.Reshape: lambda operation, x: x.reshape(*operation.Y.shape),
        ops.Permute: lambda operation, x: x.transpose(*operation.p) if operation.p else x,
        ops.Multiply: _product,
        ops.Gt: _greater,
        ops.Divide: _quotient,
        ops.Power: lambda operation, x, y: _power(x, y),
        ops.MatrixMultiply: lambda operation, x, y: _einsum(x, y, len(operation.N.shape), 1, 1, 1),
        ops.Compose: lambda operation, x, y: _einsum(
            x, y, 0, *[len(part.shape) for part in (operation.A, operation.B, operation.C)]
        ),
        bidirectional.Sigmoid: lambda operation, x: x.apply(arrays.Sigmoid()),
    }


def _last(axes: Shape) -> tuple[int, ...]:
    """Return the numbers of the last axes, as many as a shape has axes."""
    return tuple(range(-len(axes), 0))


def _copied(operation: OfArrays, x: Tensor) -> Tensor:
    shape = x.shape + tuple(operation.T.shape)
    return x.apply(arrays.Broadcast(shape, tuple(range(x.ndim, len(shape))))) if operation.T.shape else x


def _greatest(operation: OfLastAxes, x: Tensor) -> Tensor:
    count = math.prod(operation.T.shape)
    return x.reshape(*operation.N.shape, count).max(axis=-1)


def _split(operation: OfPieces, x: Tensor) -> list[Tensor]:
    return [x[..., index] for index in range(operation.k)]


def _stacked(operation: object, *tensors: Tensor) -> Tensor:
    columns = [tensor.reshape(*tensor.shape, 1) for tensor in tensors]
    first, *others = columns
    return first.apply(arrays.Concatenate(first.ndim - 1), *others) if others else first


def _inverted(operation: OfArrays, x: Tensor) -> Tensor:
    return 1.0 - x if operation.T.dtype.name == "bool" else -x - 1.0


def _product(operation: object, x: Tensor, y: Tensor) -> Tensor:
    for one, other in ((x, y), (y, x)):
        if isinstance(one, Splat):
            return other * one.amount
        if isinstance(one, Positive) and one.of.wire == other.wire:
            return other.apply(arrays.ReLU())
    return x * y


def _greater(operation: object, x: Tensor, y: Tensor) -> Tensor:
    # Not x > y: of a subclass Python asks y < x first, which asks the same again.
    return Positive(x) if isinstance(y, Splat) and y.amount == 0 else x.apply(arrays.Greater(), y)


def _quotient(operation: OfArrays, x: Tensor, y: Tensor) -> Tensor:
    if not operation.T.dtype.is_floating():
        raise CircuitizeError(
            f"expected Divide of float32, found {operation.T.dtype.name}, which rounds down; divide floats"
        )
    return x / y.amount if isinstance(y, Splat) else x / y


def _power(x: Tensor, y: Tensor) -> Tensor:
    if isinstance(x, Splat):
        if x.amount <= 0:
            raise CircuitizeError(f"expected a power of a positive base, found {x.amount}; use a positive constant")
        return (y if x.amount == math.e else y * math.log(x.amount)).apply(arrays.Exp())
    if not isinstance(y, Splat):
        return (x.apply(arrays.Log()) * y).apply(arrays.Exp())
    exponent = y.amount
    if not (2 * exponent).is_integer():
        raise CircuitizeError(f"expected an exponent that is a multiple of 1/2, found {exponent}; register the power")
    whole = math.floor(exponent) if exponent >= 0 else math.ceil(exponent)
    power = x ** abs(whole) if whole else None
    if exponent != whole:
        root = x.apply(arrays.SquareRoot())
        power = root if power is None else power * root
    if power is None:
        return Splat(x.builder, 1.0, x.shape)
    return power.apply(arrays.Reciprocal()) if exponent < 0 else power


def _einsum(x: Tensor, y: Tensor, batch: int, rows: int, summed: int, columns: int) -> Tensor:
    """Return the contraction of [N, A, B] and [N, B, C] to [N, A, C], with the given numbers of axes in each of N, A, B
    and C.
    """
    if batch + rows + summed + columns > len(ascii_lowercase):
        raise TypingError(f"expected at most {len(ascii_lowercase)} axes in a product, found more; merge some")
    letters = iter(ascii_lowercase)
    n, a, b, c = ("".join(next(letters) for _ in range(count)) for count in (batch, rows, summed, columns))
    return x.apply(arrays.Einsum(f"{n}{a}{b},{n}{b}{c}->{n}{a}{c}"), y)

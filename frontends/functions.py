"""Functions of traced tensors that have no operator: relu, exp, softmax, where, einsum and others."""

from __future__ import annotations

from collections.abc import Sequence

from circuitize.circuits import arrays

from .trace import Operand, Tensor, broadcast_shape


def relu(x: Tensor) -> Tensor:
    """max(x, 0); the derivative at 0 is 0."""
    return x.apply(arrays.ReLU())


def exp(x: Tensor) -> Tensor:
    return x.apply(arrays.Exp())


def reciprocal(x: Tensor) -> Tensor:
    """1 / x; undefined at 0."""
    return x.apply(arrays.Reciprocal())


def square(x: Tensor) -> Tensor:
    """x * x."""
    return x.apply(arrays.Square())


def softmax(x: Tensor, axis: int = -1) -> Tensor:
    """e^x over the sum of e^x along an axis."""
    return x.apply(arrays.Softmax(axis % x.ndim))


def where(condition: Tensor, x: Operand, y: Operand) -> Tensor:
    """x where the condition (0 or 1) is 1, else y; all three broadcast."""
    a, b = condition.constant(x), condition.constant(y)
    shape = broadcast_shape(broadcast_shape(condition.shape, a.shape), b.shape)
    return condition.broadcast(shape).apply(arrays.Select(), a.broadcast(shape), b.broadcast(shape))


def maximum(x: Tensor, y: Operand) -> Tensor:
    """The greater of two, element by element; the derivative at a tie goes to y."""
    return where(x > y, x, y)


def argmax_one_hot(x: Tensor, axis: int = -1) -> Tensor:
    """1 at the first maximum of the axis, 0 elsewhere; the derivative is zero."""
    return x.apply(arrays.ArgMaxOneHot(axis % x.ndim))


def einsum(equation: str, x: Tensor, y: Tensor) -> Tensor:
    """The contraction of two tensors; explicit equations: `bi,ij->bj`."""
    return x.apply(arrays.Einsum(equation), y)


def concatenate(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    return tensors[0].apply(arrays.Concatenate(axis % tensors[0].ndim), *tensors[1:])

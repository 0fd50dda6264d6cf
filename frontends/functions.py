"""Functions of traced tensors that have no operator: relu, exp, softmax, where, einsum, convolution and others."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from circuitize.circuits import arrays
from circuitize.circuits.errors import TypingError

from .trace import Operand, Tensor, broadcast_shape


def relu(x: Tensor) -> Tensor:
    """max(x, 0); the derivative at 0 is 0."""
    return x.apply(arrays.ReLU())


def exp(x: Tensor) -> Tensor:
    return x.apply(arrays.Exp())


def reciprocal(x: Tensor) -> Tensor:
    """1 / x; undefined at 0."""
    return x.apply(arrays.Reciprocal())


def log(x: Tensor) -> Tensor:
    """The natural logarithm; undefined at 0 and below."""
    return x.apply(arrays.Log())


def square_root(x: Tensor) -> Tensor:
    """The square root; undefined below 0, its derivative at 0 too."""
    return x.apply(arrays.SquareRoot())


def sigmoid(x: Tensor) -> Tensor:
    """1 / (1 + e^-x)."""
    return x.apply(arrays.Sigmoid())


def tanh(x: Tensor) -> Tensor:
    return x.apply(arrays.Tanh())


def reciprocal_square_root(x: Tensor) -> Tensor:
    """1 / sqrt(x); undefined at 0 and below."""
    return x.apply(arrays.ReciprocalSquareRoot())


def erf(x: Tensor) -> Tensor:
    """The error function."""
    return x.apply(arrays.Erf())


def gelu(x: Tensor, approximate: bool = False) -> Tensor:
    """x times the normal distribution at x; with `approximate`, by the hyperbolic tangent of a cubic, as in GPT-2."""
    return x.apply(arrays.TanhGELU() if approximate else arrays.GELU())


def normalize(x: Tensor, axes: int | Sequence[int] = -1, epsilon: float = 1e-5) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon), mean and variance over some axes, which stay."""
    return x.apply(arrays.Normalize(_counted(x, axes), epsilon))


def root_mean_square_normalize(x: Tensor, axes: int | Sequence[int] = -1, epsilon: float = 1e-5) -> Tensor:
    """x / sqrt(mean of x^2 + epsilon), the mean over some axes, which stay."""
    return x.apply(arrays.RootMeanSquareNormalize(_counted(x, axes), epsilon))


def _counted(x: Tensor, axes: int | Sequence[int]) -> tuple[int, ...]:
    """The axes, counted from 0."""
    return tuple(axis % x.ndim for axis in ((axes,) if isinstance(axes, int) else axes))


def exp2(x: Tensor) -> Tensor:
    """2^x."""
    return x.apply(arrays.Exp2())


def log2(x: Tensor) -> Tensor:
    """The logarithm to base 2; undefined at 0 and below."""
    return x.apply(arrays.Log2())


def sin(x: Tensor) -> Tensor:
    return x.apply(arrays.Sin())


def cos(x: Tensor) -> Tensor:
    return x.apply(arrays.Cos())


def absolute(x: Tensor) -> Tensor:
    """The magnitude; the derivative at 0 is 0."""
    return x.apply(arrays.Abs())


def sign(x: Tensor) -> Tensor:
    """1, 0 or -1; the derivative is zero."""
    return x.apply(arrays.Sign())


def floor(x: Tensor) -> Tensor:
    """The greatest whole number of at most x; the derivative is zero."""
    return x.apply(arrays.Floor())


def ceil(x: Tensor) -> Tensor:
    """The least whole number of at least x; the derivative is zero."""
    return x.apply(arrays.Ceil())


def round_half_even(x: Tensor) -> Tensor:
    """The nearest whole number, of two the even one; the derivative is zero."""
    return x.apply(arrays.Round())


def clip(x: Tensor, low: float, high: float) -> Tensor:
    """x between two bounds; the derivative is zero at both and beyond."""
    return x.apply(arrays.Clip(low, high))


def power(x: Tensor, exponent: int) -> Tensor:
    """x to a whole power: 1 for 0, a power of 1 / x for a negative one."""
    return x.apply(arrays.Power(exponent))


def cumulative_sum(x: Tensor, axis: int, exclusive: bool = False, backward: bool = False) -> Tensor:
    """The sums of the elements up to each one along an axis, without it where `exclusive`; `backward` from the end."""
    return x.apply(arrays.CumulativeSum(axis % x.ndim, exclusive, backward))


def minimum(x: Tensor, y: Operand) -> Tensor:
    """The lesser of two, element by element; the derivative at a tie goes to x."""
    other = x.constant(y)
    shape = broadcast_shape(x.shape, other.shape)
    return x.broadcast(shape).apply(arrays.Minimum(), other.broadcast(shape))


def least(x: Tensor, axis: int = -1) -> Tensor:
    """The least element along an axis, which is removed; the derivative goes to the first of several."""
    return x.apply(arrays.Min(axis % x.ndim))


def product(x: Tensor, axis: int = -1) -> Tensor:
    """The product along an axis, which is removed."""
    return x.apply(arrays.Product(axis % x.ndim))


def variance(x: Tensor, axes: int | Sequence[int], correction: int = 0, keepdims: bool = False) -> Tensor:
    """The sum of squared distances from the mean over some axes, divided by their number less `correction`."""
    counted = _counted(x, axes)
    found = x.apply(arrays.Variance(counted, correction))
    return found.reshape(*(1 if a in counted else n for a, n in enumerate(x.shape))) if keepdims else found


def standard_deviation(x: Tensor, axes: int | Sequence[int], correction: int = 0, keepdims: bool = False) -> Tensor:
    """The square root of `variance`: one root of an exact sum of squares; its derivative is 0 where it is 0."""
    counted = _counted(x, axes)
    kept = [axis for axis in range(x.ndim) if axis not in counted]
    count = math.prod(x.shape[axis] for axis in counted)
    if not 0 <= correction < count:
        raise TypingError(f"expected a correction from 0 to {count - 1}, found {correction}; take less off")
    centred = x - x.mean(axis=counted, keepdims=True)
    rows = centred.transpose(*kept, *counted).reshape(*[x.shape[axis] for axis in kept], count)
    found = rows.apply(arrays.Norm(len(kept))) * (1 / math.sqrt(count - correction))
    return found.reshape(*(1 if a in counted else n for a, n in enumerate(x.shape))) if keepdims else found


def top_k(x: Tensor, k: int, axis: int = -1) -> tuple[Tensor, Tensor]:
    """The k greatest elements along an axis, greatest first, and where they are: 0 or 1, in a new axis before it.

    Of equal ones the first comes first. The derivative of the values goes to the elements chosen.
    """
    axis %= x.ndim
    hot = x.apply(arrays.TopKOneHot(k, axis))
    wide = x.reshape(*x.shape[:axis], 1, *x.shape[axis:]).broadcast(hot.shape)
    return where(hot, wide, wide.constant(np.zeros(()))).sum(axis + 1), hot


def square(x: Tensor) -> Tensor:
    """x * x."""
    return x.apply(arrays.Square())


def softmax(x: Tensor, axis: int = -1) -> Tensor:
    """e^x over the sum of e^x along an axis."""
    return x.apply(arrays.Softmax(axis % x.ndim))


def log_softmax(x: Tensor, axis: int = -1) -> Tensor:
    """x less the logarithm of the sum of e^x along an axis."""
    return x.apply(arrays.LogSoftmax(axis % x.ndim))


def log_sum_exp(x: Tensor, axis: int = -1) -> Tensor:
    """The logarithm of the sum of e^x along an axis, which is removed."""
    return x.apply(arrays.LogSumExp(axis % x.ndim))


def where(condition: Tensor, x: Operand, y: Operand) -> Tensor:
    """x where the condition (0 or 1) is 1, else y; all three broadcast."""
    a, b = condition.constant(x), condition.constant(y)
    shape = broadcast_shape(broadcast_shape(condition.shape, a.shape), b.shape)
    return condition.broadcast(shape).apply(arrays.Select(), a.broadcast(shape), b.broadcast(shape))


def maximum(x: Tensor, y: Operand) -> Tensor:
    """The greater of two, element by element; the derivative at a tie goes to x."""
    other = x.constant(y)
    shape = broadcast_shape(x.shape, other.shape)
    return x.broadcast(shape).apply(arrays.Maximum(), other.broadcast(shape))


def argmax_one_hot(x: Tensor, axis: int = -1) -> Tensor:
    """1 at the first maximum of the axis, 0 elsewhere; the derivative is zero."""
    return x.apply(arrays.ArgMaxOneHot(axis % x.ndim))


def einsum(equation: str, x: Tensor, y: Tensor) -> Tensor:
    """The contraction of two tensors; explicit equations: `bi,ij->bj`."""
    return x.apply(arrays.Einsum(equation), y)


def concatenate(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    return tensors[0].apply(arrays.Concatenate(axis % tensors[0].ndim), *tensors[1:])


def gather(x: Tensor, indices: Tensor, axis: int = 0) -> Tensor:
    """The elements of an axis at the places that `indices`, whole numbers, name: their axes replace it."""
    return x.apply(arrays.Gather(axis % x.ndim), indices)


def one_hot(labels: Tensor, count: int) -> Tensor:
    """Along a new last axis of extent `count`, 1 at each label and 0 elsewhere; undefined for a label outside."""
    return labels.apply(arrays.OneHot(count))


def conv2d(x: Tensor, kernel: Tensor, padding: int = 0, step: int = 1) -> Tensor:
    """[B, H, W, C] with a kernel [h, w, C, D] to [B, H', W', D]: the kernel is not flipped, as usual in learning."""
    padded = x.apply(arrays.Pad((0, padding, padding, 0), (0, padding, padding, 0))) if padding else x
    windows = padded.apply(arrays.Window((1, 2), kernel.shape[:2], (step, step)))
    return einsum("bhwcij,ijcd->bhwd", windows, kernel)


def max_pool2d(x: Tensor, size: int, step: int | None = None) -> Tensor:
    """The maximum of each window of size by size; the derivative goes to its first maximum, row by row."""
    return first_maximum(_pooled(x, size, step))


def first_maximum(x: Tensor) -> Tensor:
    """The maximum along the last axis by rectifiers, neighbours first: for short axes; the derivative to the first."""
    while (extent := x.shape[-1]) > 1:
        even = extent - extent % 2
        pairs = x[..., :even].reshape(*x.shape[:-1], even // 2, 2)
        # Neighbours meet, so that the first of equals goes on; whether the second is greater costs little to test.
        greater = pairs[..., 0] + relu(pairs[..., 1] - pairs[..., 0])
        x = greater if even == extent else concatenate([greater, x[..., even:]], -1)
    return x[..., 0]


def average_pool2d(x: Tensor, size: int, step: int | None = None) -> Tensor:
    """The mean of each window of size by size."""
    return _pooled(x, size, step).mean(-1)


def _pooled(x: Tensor, size: int, step: int | None) -> Tensor:
    """[B, H, W, C] -> [B, H', W', C, size * size]: the elements of each window in a last axis, row by row."""
    windows = x.apply(arrays.Window((1, 2), (size, size), (step or size, step or size)))
    return windows.reshape(*windows.shape[:4], size * size)

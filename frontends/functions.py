"""Functions of traced tensors that have no operator: relu, exp, softmax, where, einsum, convolution and others."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from circuitize.circuits import arrays
from circuitize.circuits.arrays.term import Operand
from circuitize.circuits.errors import TypingError

from .formats import Format
from .provenance import refused
from .tensor import Tensor, apply, axis_of, tensors_of, together


def relu(x: Tensor) -> Tensor:
    """Return the rectifier max(x, 0), whose derivative at 0 is 0."""
    return apply(arrays.ReLU(), x)


def exp(x: Tensor) -> Tensor:
    """Return e^x of each element."""
    return apply(arrays.Exp(), x)


def reciprocal(x: Tensor) -> Tensor:
    """Return the reciprocal 1 / x, undefined at 0."""
    return apply(arrays.Reciprocal(), x)


def log(x: Tensor) -> Tensor:
    """Return the natural logarithm, undefined at 0 and below."""
    return apply(arrays.Log(), x)


def square_root(x: Tensor) -> Tensor:
    """Return the square root, which is undefined below 0; its derivative is undefined at 0 as well."""
    return apply(arrays.SquareRoot(), x)


def sigmoid(x: Tensor) -> Tensor:
    """Return the sigmoid 1 / (1 + e^-x) of each element."""
    return apply(arrays.Sigmoid(), x)


def tanh(x: Tensor) -> Tensor:
    """Return the hyperbolic tangent of each element."""
    return apply(arrays.Tanh(), x)


def reciprocal_square_root(x: Tensor) -> Tensor:
    """Return the reciprocal square root 1 / sqrt(x), undefined at 0 and below."""
    return apply(arrays.ReciprocalSquareRoot(), x)


def erf(x: Tensor) -> Tensor:
    """Return the error function of each element."""
    return apply(arrays.Erf(), x)


def gelu(x: Tensor, approximate: bool = False) -> Tensor:
    """Return GELU: x times the normal distribution function at x; with `approximate`, GELU is approximated with the
    hyperbolic tangent of a cubic, as in GPT-2.
    """
    return apply(arrays.TanhGELU() if approximate else arrays.GELU(), x)


def normalize(x: Tensor, axes: int | Sequence[int] = -1, epsilon: float = 1e-5) -> Tensor:
    """Return the layer norm (x - mean) / sqrt(variance + epsilon), with mean and variance over some axes, which the
    result keeps.
    """
    return apply(arrays.Normalize(_counted(x, axes), epsilon), x)


def root_mean_square_normalize(x: Tensor, axes: int | Sequence[int] = -1, epsilon: float = 1e-5) -> Tensor:
    """Return the root-mean-square norm x / sqrt(mean of x^2 + epsilon), with the mean over some axes, which the result
    keeps.
    """
    return apply(arrays.RootMeanSquareNormalize(_counted(x, axes), epsilon), x)


def _counted(x: Tensor, axes: int | Sequence[int]) -> tuple[int, ...]:
    """Return axes of a tensor as numbers counted from 0."""
    return tuple(axis_of(x, axis) for axis in (axes if isinstance(axes, (tuple, list, range)) else (axes,)))


def exp2(x: Tensor) -> Tensor:
    """Return the power 2^x of each element."""
    return apply(arrays.Exp2(), x)


def log2(x: Tensor) -> Tensor:
    """Return the logarithm to base 2; undefined at 0 and below."""
    return apply(arrays.Log2(), x)


def sin(x: Tensor) -> Tensor:
    """Return the sine of each element, in radians."""
    return apply(arrays.Sin(), x)


def cos(x: Tensor) -> Tensor:
    """Return the cosine of each element, in radians."""
    return apply(arrays.Cos(), x)


def absolute(x: Tensor) -> Tensor:
    """Return the magnitude of x; its derivative at 0 is 0."""
    return apply(arrays.Abs(), x)


def sign(x: Tensor) -> Tensor:
    """Return the sign of x: 1, 0 or -1; the derivative is zero."""
    return apply(arrays.Sign(), x)


def floor(x: Tensor) -> Tensor:
    """Return the greatest whole number that is at most x; the derivative is zero."""
    return apply(arrays.Floor(), x)


def ceil(x: Tensor) -> Tensor:
    """Return the least whole number that is at least x; the derivative is zero."""
    return apply(arrays.Ceil(), x)


def round_half_even(x: Tensor) -> Tensor:
    """Return the nearest whole number, or of two nearest ones the even one; the derivative is zero."""
    return apply(arrays.Round(), x)


def quantized(x: Tensor, format: Format, rounding: str = "half even", overflow: str = "saturate") -> Tensor:
    """Return x rounded to a format, in every target; the derivative is the straight-through estimate, and 0 where x
    saturates.

    The argument `rounding` is one of half even, half up, half down, half away, half zero, floor, ceil, zero and away;
    `overflow` is one of saturate, check and wrap (docs/quantized.md).
    """
    return apply(arrays.Quantize(format.fraction_bits, format.low, format.high, rounding, overflow), x)


def rescaled(x: Tensor, factors: ArrayLike, divides: bool = False) -> Tensor:
    """Return x times factors, or with `divides` divided by them, without rounding the product to a format; the factors
    broadcast to x's shape.
    """
    (tensor,), given = tensors_of(x), np.asarray(factors, np.float64)
    fits = zip(reversed(given.shape), reversed(tensor.shape), strict=False)
    if given.ndim > tensor.ndim or any(extent not in (1, wanted) for extent, wanted in fits):
        raise refused(
            f"expected factors that broadcast to {list(tensor.shape)}, found {list(given.shape)}; reshape them"
        )
    if given.size == 1:
        return apply(arrays.Rescale(given.reshape(()), 0, divides), tensor)
    wide = given.reshape((1,) * (tensor.ndim - given.ndim) + given.shape)
    axes = [axis for axis, extent in enumerate(wide.shape) if extent > 1]
    if len(axes) == 1:
        return apply(arrays.Rescale(wide.reshape(-1), axes[0], divides), tensor)
    flat = np.broadcast_to(wide, tensor.shape).reshape(-1)
    return apply(arrays.Rescale(flat, 0, divides), tensor.reshape(flat.size)).reshape(*tensor.shape)


def exact(x: Tensor) -> Tensor:
    """Return x with all the bits with which it was computed: calibration neither rounds nor checks it."""
    return rescaled(x, 1.0)


def clip(x: Tensor, low: float, high: float) -> Tensor:
    """Return x clipped to [low, high]; the derivative is zero at both bounds and beyond."""
    return apply(arrays.Clip(low, high), x)


def power(x: Tensor, exponent: int) -> Tensor:
    """Return the power of x by a whole number: 1 for the exponent 0, and a power of 1 / x for a negative exponent."""
    return apply(arrays.Power(exponent), x)


def cumulative_sum(x: Tensor, axis: int, exclusive: bool = False, backward: bool = False) -> Tensor:
    """Return the cumulative sums along an axis: of the elements up to each element, or before it if `exclusive`; with
    `backward`, from the axis's end.
    """
    return apply(arrays.CumulativeSum(axis_of(x, axis), exclusive, backward), x)


def minimum(x: Operand, y: Operand) -> Tensor:
    """Return the lesser of two tensors, element by element; the derivative at a tie goes to x."""
    return apply(arrays.Minimum(), *together(x, y))


def least(x: Tensor, axis: int = -1) -> Tensor:
    """Return the least element along an axis, which the result lacks; the derivative goes to the first of several equal
    elements.
    """
    return apply(arrays.Min(axis_of(x, axis)), x)


def product(x: Tensor, axis: int = -1) -> Tensor:
    """Return the product along an axis, which the result lacks."""
    return apply(arrays.Product(axis_of(x, axis)), x)


def variance(x: Tensor, axes: int | Sequence[int], correction: int = 0, keepdims: bool = False) -> Tensor:
    """Return the sum of squared distances from the mean over some axes, divided by the number of elements less
    `correction`.
    """
    counted = _counted(x, axes)
    found = apply(arrays.Variance(counted, correction), x)
    return found.reshape(*(1 if a in counted else n for a, n in enumerate(x.shape))) if keepdims else found


def standard_deviation(x: Tensor, axes: int | Sequence[int], correction: int = 0, keepdims: bool = False) -> Tensor:
    """Return the square root of `variance`, computed as one root of an exact sum of squares; its derivative is 0 where
    the deviation is 0.
    """
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
    """Return the k greatest elements along an axis, greatest first, and indicators of their places, in a new axis
    before that axis.

    Of equal elements, `top_k` ranks the element first that comes first in the tensor. The derivative of the k greatest
    elements goes to the elements chosen.
    """
    axis = axis_of(x, axis)
    hot = apply(arrays.TopKOneHot(k, axis), x)
    wide = x.reshape(*x.shape[:axis], 1, *x.shape[axis:]).broadcast(hot.shape)
    return where(hot, wide, wide.constant(np.zeros(()))).sum(axis + 1), hot


def square(x: Tensor) -> Tensor:
    """Return the square x * x of each element."""
    return apply(arrays.Square(), x)


def softmax(x: Tensor, axis: int = -1) -> Tensor:
    """Return e^x divided by the sum of e^x along an axis."""
    return apply(arrays.Softmax(axis_of(x, axis)), x)


def log_softmax(x: Tensor, axis: int = -1) -> Tensor:
    """Return x less the logarithm of the sum of e^x along an axis."""
    return apply(arrays.LogSoftmax(axis_of(x, axis)), x)


def log_sum_exp(x: Tensor, axis: int = -1) -> Tensor:
    """Return the logarithm of the sum of e^x along an axis, which the result lacks."""
    return apply(arrays.LogSumExp(axis_of(x, axis)), x)


def where(condition: Operand, x: Operand, y: Operand) -> Tensor:
    """Return x where the condition (0 or 1) is 1, else y; the condition, x and y broadcast to one shape."""
    return apply(arrays.Select(), *together(condition, x, y))


def maximum(x: Operand, y: Operand) -> Tensor:
    """Return the greater of two tensors, element by element; the derivative at a tie goes to x."""
    return apply(arrays.Maximum(), *together(x, y))


def argmax_one_hot(x: Tensor, axis: int = -1) -> Tensor:
    """Return 1 at the first maximum along the axis, 0 elsewhere; the derivative is zero."""
    return apply(arrays.ArgMaxOneHot(axis_of(x, axis)), x)


def einsum(equation: str, x: Tensor, y: Tensor) -> Tensor:
    """Return the contraction of two tensors by an explicit equation, such as `bi,ij->bj`."""
    return apply(arrays.Einsum(equation), *tensors_of(x, y))


def concatenate(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Return tensors joined along one of their axes."""
    first, *others = tensors_of(*tensors)
    return apply(arrays.Concatenate(axis_of(first, axis)), first, *others)


def gather(x: Tensor, indices: Tensor, axis: int = 0) -> Tensor:
    """Return the elements of an axis at the places that the whole numbers `indices` name: the axes of `indices` replace
    that axis.
    """
    return apply(arrays.Gather(axis_of(x, axis)), x, *tensors_of(x, indices)[1:])


def one_hot(labels: Tensor, count: int) -> Tensor:
    """Return the indicators of labels: along a new last axis of extent `count`, 1 at each label and 0 elsewhere;
    undefined for a label outside that axis.
    """
    return apply(arrays.OneHot(count), labels)


def conv2d(x: Tensor, kernel: Tensor, padding: int = 0, step: int = 1) -> Tensor:
    """Return the convolution of [B, H, W, C] with a kernel [h, w, C, D], of shape [B, H', W', D]; the kernel is not
    flipped, as usual in machine learning.
    """
    padded = x.apply(arrays.Pad((0, padding, padding, 0), (0, padding, padding, 0))) if padding else x
    windows = padded.apply(arrays.Window((1, 2), kernel.shape[:2], (step, step)))
    return einsum("bhwcij,ijcd->bhwd", windows, kernel)


def max_pool2d(x: Tensor, size: int, step: int | None = None) -> Tensor:
    """Return the maximum of each window of size by size; the derivative goes to the window's first maximum, row by
    row.
    """
    return first_maximum(_pooled(x, size, step))


def first_maximum(x: Tensor) -> Tensor:
    """Return the maximum along a short last axis, computed by rectifiers on neighbours first; the derivative goes to
    the first maximum.
    """
    while (extent := x.shape[-1]) > 1:
        even = extent - extent % 2
        pairs = x[..., :even].reshape(*x.shape[:-1], even // 2, 2)
        # Neighbours meet, so that the first of equals goes on; whether the second is greater costs little to test.
        greater = pairs[..., 0] + relu(pairs[..., 1] - pairs[..., 0])
        x = greater if even == extent else concatenate([greater, x[..., even:]], -1)
    return x[..., 0]


def average_pool2d(x: Tensor, size: int, step: int | None = None) -> Tensor:
    """Return the mean of each window of size by size."""
    return _pooled(x, size, step).mean(-1)


def _pooled(x: Tensor, size: int, step: int | None) -> Tensor:
    """Return the windows of images, [B, H, W, C] -> [B, H', W', C, size * size]: the last axis holds the elements of
    each window, row by row.
    """
    windows = apply(arrays.Window((1, 2), (size, size), (step or size, step or size)), x)
    return windows.reshape(*windows.shape[:4], size * size)

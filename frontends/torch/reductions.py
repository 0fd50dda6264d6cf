"""Translation rules for ATen's sums, means, extrema and softmaxes along axes."""

from __future__ import annotations

from collections.abc import Sequence

from circuitize.circuits.errors import CircuitizeError
from circuitize.frontends import functions
from circuitize.frontends.tensor import Tensor

from .node import operator

Axes = int | Sequence[int] | None


def _axes(dim: Axes) -> Axes:
    return dim if dim or isinstance(dim, int) else None


@operator("sum", "sum.dim_IntList")
def total(x: Tensor, dim: Axes = None, keepdim: bool = False) -> Tensor:
    """Return the sum along axes, or along all axes without `dim`."""
    return x.sum(_axes(dim), keepdim)


@operator("mean", "mean.dim")
def mean(x: Tensor, dim: Axes = None, keepdim: bool = False) -> Tensor:
    """Return the mean along axes, or along all axes without `dim`."""
    return x.mean(_axes(dim), keepdim)


@operator("amax")
def amax(x: Tensor, dim: Axes = None, keepdim: bool = False) -> Tensor:
    """Return the maximum along axes, or along all axes without `dim`."""
    return x.max(_axes(dim), keepdim)


@operator("amin")
def amin(x: Tensor, dim: Axes = None, keepdim: bool = False) -> Tensor:
    """Return the minimum along axes, or along all axes without `dim`."""
    return -(-x).max(_axes(dim), keepdim)


@operator("max.dim")
def greatest(x: Tensor, dim: int, keepdim: bool = False) -> list[Tensor]:
    """Return the maximum along an axis; the indices of the maxima are not computed."""
    return [x.max(dim, keepdim)]


@operator("max")
def greatest_of_all(x: Tensor) -> Tensor:
    """Return the maximum of all elements, without axes."""
    return x.max()


@operator("any.dim")
def any_along(x: Tensor, dim: int, keepdim: bool = False) -> Tensor:
    """Return 1 where some element along an axis is not 0, else 0."""
    return (x != 0.0).max(dim, keepdim)


@operator("var.correction")
def variance(x: Tensor, dim: Axes = None, correction: float | None = 1, keepdim: bool = False) -> Tensor:
    """Return the variance along axes: the sum of squared distances from the mean of n elements, divided by n less the
    correction, which must be whole.
    """
    chosen = _axes(dim)
    axes = tuple(range(x.ndim)) if chosen is None else chosen
    less = 1 if correction is None else int(correction)
    if correction is not None and less != correction:
        raise CircuitizeError(f"expected a whole correction, found {correction}; write the variance out")
    return functions.variance(x, axes, less, keepdim)


@operator("cumsum")
def cumsum(x: Tensor, dim: int) -> Tensor:
    """Return the sum of all elements up to each element along an axis."""
    return functions.cumulative_sum(x, dim)


@operator("softmax.int", "_softmax")
def softmax(x: Tensor, dim: int) -> Tensor:
    """Return the softmax along an axis."""
    return functions.softmax(x, dim)


@operator("log_softmax.int", "_log_softmax")
def log_softmax(x: Tensor, dim: int) -> Tensor:
    """Return the logarithm of the softmax along an axis."""
    return functions.log_softmax(x, dim)


@operator("logsumexp")
def log_sum_exp(x: Tensor, dim: Sequence[int], keepdim: bool = False) -> Tensor:
    """Return log(sum(exp(x))) along an axis; refuse several axes."""
    if len(dim) != 1:
        raise CircuitizeError(f"expected one axis, found {list(dim)}; reshape the tensor")
    found = functions.log_sum_exp(x, dim[0])
    return found.reshape(*(1 if at == dim[0] % x.ndim else n for at, n in enumerate(x.shape))) if keepdim else found

"""Translation rules for ATen's convolutions and poolings: images have their channels in axis 1, and circuitize's layers
compute the results.
"""

from __future__ import annotations

from collections.abc import Sequence

from circuitize.circuits.errors import CircuitizeError
from circuitize.frontends import convolution as windows
from circuitize.frontends.tensor import Tensor

from .node import operator

Numbers = int | Sequence[int]


def _channels_last(x: Tensor) -> Tensor:
    return x.transpose(0, *range(2, x.ndim), 1)


def _channels_first(x: Tensor) -> Tensor:
    return x.transpose(0, x.ndim - 1, *range(1, x.ndim - 1))


def _each(numbers: Numbers, rank: int) -> tuple[int, ...]:
    found = (numbers,) if isinstance(numbers, int) else tuple(numbers)
    return found * rank if len(found) == 1 else found


def _sides(padding: Numbers, rank: int) -> tuple[tuple[int, int], ...]:
    return tuple((one, one) for one in _each(padding, rank))


@operator("convolution")
def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Numbers,
    padding: Numbers,
    dilation: Numbers,
    transposed: bool,
    output_padding: Numbers,
    groups: int,
) -> Tensor:
    """Return the convolution, or the transposed convolution, with steps, gaps, padding and groups; channels are in axis
    1.
    """
    rank = input.ndim - 2
    steps, gaps, sides = _each(stride, rank), _each(dilation, rank), _sides(padding, rank)
    # [out, in, *sizes] to [*sizes, in, out]; of a transposed one [in, out, *sizes] to [*sizes, out, in].
    kernel = weight.transpose(*range(2, weight.ndim), 1, 0)
    x = _channels_last(input)
    if transposed:
        made = windows.transposed_convolution(x, kernel, sides, steps, gaps, groups, _each(output_padding, rank))
    else:
        made = windows.convolution(x, kernel, sides, steps, gaps, groups)
    return _channels_first(made if bias is None else made + bias)


@operator("conv1d", "conv2d", "conv3d")
def conv(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Numbers = 1,
    padding: Numbers = 0,
    dilation: Numbers = 1,
    groups: int = 1,
) -> Tensor:
    """Return the convolution in one to three dimensions."""
    return convolution(input, weight, bias, stride, padding, dilation, False, 0, groups)


@operator("conv_transpose1d", "conv_transpose2d.input", "conv_transpose3d.input")
def transposed_conv(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Numbers = 1,
    padding: Numbers = 0,
    output_padding: Numbers = 0,
    groups: int = 1,
    dilation: Numbers = 1,
) -> Tensor:
    """Return the transposed convolution in one to three dimensions."""
    return convolution(input, weight, bias, stride, padding, dilation, True, output_padding, groups)


@operator("max_pool1d", "max_pool2d", "max_pool3d")
def max_pool(
    x: Tensor,
    kernel_size: Numbers,
    stride: Numbers = (),
    padding: Numbers = 0,
    dilation: Numbers = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """Return the maximum of each window; refuse windows that end outside the axis (`ceil_mode`)."""
    rank = x.ndim - 2
    _require_floor(ceil_mode)
    sizes = _each(kernel_size, rank)
    steps, gaps = (sizes if stride in ((), []) else _each(stride, rank)), _each(dilation, rank)
    return _channels_first(windows.max_pool(_channels_last(x), sizes, steps, _sides(padding, rank), gaps))


@operator("max_pool2d_with_indices")
def max_pool_with_indices(
    x: Tensor,
    kernel_size: Numbers,
    stride: Numbers = (),
    padding: Numbers = 0,
    dilation: Numbers = 1,
    ceil_mode: bool = False,
) -> list[Tensor]:
    """Return the maximum of each window; the indices of the maxima are not computed."""
    return [max_pool(x, kernel_size, stride, padding, dilation, ceil_mode)]


@operator("avg_pool1d", "avg_pool2d", "avg_pool3d")
def average_pool(
    x: Tensor,
    kernel_size: Numbers,
    stride: Numbers = (),
    padding: Numbers = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Return the mean of each window, whose count of elements includes the padding or not; refuse `ceil_mode` and a
    given divisor.
    """
    rank = x.ndim - 2
    _require_floor(ceil_mode)
    if divisor_override is not None:
        raise CircuitizeError(f"expected the mean of a window, found the divisor {divisor_override}; scale the result")
    sizes = _each(kernel_size, rank)
    steps, sides = (sizes if stride in ((), []) else _each(stride, rank)), _sides(padding, rank)
    made = windows.average_pool(_channels_last(x), sizes, steps, sides, 1, count_include_pad)
    return _channels_first(made)


@operator("adaptive_avg_pool1d", "adaptive_avg_pool2d", "_adaptive_avg_pool2d")
def adaptive_average_pool(x: Tensor, output_size: Numbers) -> Tensor:
    """Return the mean of windows of one size side by side; refuse output extents that do not divide the input's."""
    rank = x.ndim - 2
    wanted, extents = _each(output_size, rank), x.shape[2:]
    if any(extent % count for extent, count in zip(extents, wanted, strict=True)):
        raise CircuitizeError(f"expected extents that {list(wanted)} divide, found {list(extents)}; pool by windows")
    return average_pool(x, [extent // count for extent, count in zip(extents, wanted, strict=True)])


def _require_floor(ceil_mode: bool) -> None:
    if ceil_mode:
        raise CircuitizeError("expected windows inside the tensor, found ceil_mode; pad it first")

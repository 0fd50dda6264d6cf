"""Translation rules for ATen's operators that move elements, and for those that make positions and constants."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from circuitize.circuits import arrays
from circuitize.circuits.errors import CircuitizeError
from circuitize.frontends import functions, movement
from circuitize.frontends.tensor import Tensor

from .node import Known, bounded, operator

MOST_KNOWN = 1 << 24


@operator("view", "reshape", "_unsafe_view")
def view(x: Tensor, size: Sequence[int] = (), shape: Sequence[int] = ()) -> Tensor:
    """Return the elements in row-major order in another shape."""
    return x.reshape(*(size or shape))


@operator("clone", "contiguous", "alias", "detach", "lift_fresh_copy", "_to_copy", "to.dtype", "dropout", "type_as")
def same(
    x: Tensor | None = None,
    input: Tensor | None = None,
    p: float = 0.0,
    train: bool = False,
    other: object = None,
) -> Tensor:
    """Return the tensor itself, for copies, casts and dropout outside training. A dropout in training mode is
    refused.
    """
    if train and p:
        raise CircuitizeError("expected dropout outside training, found it in training; export module.eval()")
    found = x if x is not None else input
    if found is None:
        raise CircuitizeError("expected a tensor, found none; export it again")
    return found


@operator("permute")
def permute(x: Tensor, dims: Sequence[int]) -> Tensor:
    """Return the tensor with its axes in the given order."""
    return x.transpose(*dims) if dims else x


@operator("transpose.int")
def transpose(x: Tensor, dim0: int, dim1: int) -> Tensor:
    """Return the tensor with two axes exchanged."""
    order = list(range(x.ndim))
    order[dim0], order[dim1] = order[dim1], order[dim0]
    return x.transpose(*order)


@operator("t", "numpy_T")
def turned(x: Tensor) -> Tensor:
    """Return the tensor with its axes in reverse order."""
    return x.transpose()


@operator("expand")
def expand(x: Tensor, size: Sequence[int], implicit: bool = False) -> Tensor:
    """Return the tensor repeated along new axes and axes of extent 1; -1 keeps an extent."""
    new = len(size) - x.ndim
    return x.broadcast(tuple(x.shape[at - new] if extent == -1 else extent for at, extent in enumerate(size)))


@operator("unsqueeze")
def unsqueeze(x: Tensor, dim: int) -> Tensor:
    """Return the tensor with a new axis of extent 1."""
    at = dim % (x.ndim + 1)
    return x.reshape(*x.shape[:at], 1, *x.shape[at:])


@operator("squeeze", "squeeze.dim", "squeeze.dims")
def squeeze(x: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Return the tensor without axes of extent 1: without all of them, or without those named."""
    named = range(x.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    gone = {at % x.ndim for at in named if x.shape[at] == 1} if x.ndim else set[int]()
    return x.reshape(*(extent for at, extent in enumerate(x.shape) if at not in gone))


@operator("slice.Tensor")
def slice_tensor(x: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    """Return the elements from `start` up to but not including `end` along an axis, `step` apart."""
    return movement.take(x, dim, *slice(start, end, step).indices(x.shape[dim]))


@operator("select.int")
def select(x: Tensor, dim: int, index: int) -> Tensor:
    """Return the elements at one index of an axis, without that axis."""
    at, place = dim % x.ndim, index % x.shape[dim]
    return x[(slice(None),) * at + (place,)]


@operator("cat")
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Return tensors one after the other along an axis."""
    return functions.concatenate(tensors, dim)


@operator("stack")
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Return tensors one after the other along a new axis."""
    return movement.stack(tensors, dim)


@operator("split.Tensor")
def split(x: Tensor, split_size: int, dim: int = 0) -> list[Tensor]:
    """Return the parts of a tensor that have the given extent along an axis; the last part may be shorter."""
    extent = x.shape[dim]
    return split_with_sizes(x, [min(split_size, extent - at) for at in range(0, extent, split_size)], dim)


@operator("split_with_sizes")
def split_with_sizes(x: Tensor, split_sizes: Sequence[int], dim: int = 0) -> list[Tensor]:
    """Return the parts of a tensor that have the given extents along an axis, one after the other."""
    return movement.split(x, list(split_sizes), dim)


@operator("chunk")
def chunk(x: Tensor, chunks: int, dim: int = 0) -> list[Tensor]:
    """Return at most `chunks` parts of equal extent along an axis; the last part may be shorter."""
    return split(x, -(-x.shape[dim] // chunks), dim)


@operator("unbind.int")
def unbind(x: Tensor, dim: int = 0) -> list[Tensor]:
    """Return the elements at each index of an axis, without that axis."""
    return [select(x, dim, at) for at in range(x.shape[dim])]


@operator("flatten.using_ints")
def flatten(x: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Return the tensor with a range of axes merged into one."""
    first, last = start_dim % x.ndim, end_dim % x.ndim
    return x.reshape(*x.shape[:first], -1, *x.shape[last + 1 :])


@operator("unflatten.int")
def unflatten(x: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """Return the tensor with one axis split into several of the given extents."""
    at = dim % x.ndim
    return x.reshape(*x.shape[:at], *sizes, *x.shape[at + 1 :])


@operator("flip")
def flip(x: Tensor, dims: Sequence[int]) -> Tensor:
    """Return the tensor with the elements along some axes reversed."""
    return movement.flip(x, *dims)


@operator("repeat")
def repeat(x: Tensor, repeats: Sequence[int]) -> Tensor:
    """Return the tensor repeated along each axis, as often as stated for it, with new axes first."""
    return movement.tile(x.reshape(*[1] * (len(repeats) - x.ndim), *x.shape), repeats)


@operator("constant_pad_nd")
def constant_pad(x: Tensor, pad: Sequence[int], value: float = 0.0) -> Tensor:
    """Return the tensor padded by a value; `pad` holds pairs (before, after), beginning with the last axis."""
    if value or min(pad, default=0) < 0:
        raise CircuitizeError(f"expected zeros around a tensor, found {value} in {list(pad)}; concatenate or slice it")
    before, after = [0] * x.ndim, [0] * x.ndim
    for at in range(len(pad) // 2):
        before[-1 - at], after[-1 - at] = pad[2 * at], pad[2 * at + 1]
    return x.apply(arrays.Pad(tuple(before), tuple(after)))


@operator("embedding")
def embedding(
    weight: Tensor,
    indices: Tensor | Known,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Return the rows of a table at the given indices. If the indices of an embedding are known and consecutive, the
    rows are a slice of the table.
    """
    if not isinstance(indices, np.ndarray):
        return functions.gather(weight, indices)
    places = indices.astype(np.int64).reshape(-1)
    if places.size and (np.diff(places) == 1).all():
        chosen = weight[int(places[0]) : int(places[-1]) + 1]
    else:
        chosen = weight[places.tolist()]
    return chosen.reshape(*indices.shape, *weight.shape[1:])


embedding.takes_known = True  # type: ignore[attr-defined]


@operator("index_select")
def index_select(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the elements at the given indices of an axis."""
    return functions.gather(x, index, dim)


@operator("gather")
def gather(x: Tensor, dim: int, index: Tensor, sparse_grad: bool = False) -> Tensor:
    """Return for each index the element of x at that index along the axis, and at the index's own position along all
    other axes.
    """
    return movement.gather_elements(x, index, dim)


@operator("full")
def full(size: Sequence[int], fill_value: float) -> Known:
    """Return a constant whose elements all equal one number."""
    return _filled(size, fill_value)


@operator("zeros")
def zeros(size: Sequence[int]) -> Known:
    """Return zeros of the given shape."""
    return _filled(size, 0.0)


@operator("ones")
def ones(size: Sequence[int]) -> Known:
    """Return ones of the given shape."""
    return _filled(size, 1.0)


def _filled(size: Sequence[int], value: float) -> Known:
    if min(size, default=1) < 0 or np.prod(size, dtype=object) > MOST_KNOWN:
        raise CircuitizeError(f"expected at most {MOST_KNOWN} known numbers, found extents {list(size)}; shrink them")
    return np.full(tuple(size), bounded(float(value)))


@operator("arange", "arange.start", "arange.start_step")
def arange(end: float, start: float = 0, step: float = 1) -> Known:
    """Return the numbers from `start` up to but not including `end`, `step` apart; refuse more than MOST_KNOWN
    numbers.
    """
    if not step or not 0 <= (end - start) / step <= MOST_KNOWN:
        raise CircuitizeError(f"expected at most {MOST_KNOWN} known numbers, found from {start} to {end}; shrink them")
    return np.arange(start, end, step).astype(np.float64)


@operator("scalar_tensor")
def scalar_tensor(s: float) -> Known:
    """Return a number as a constant without axes."""
    return np.array(bounded(float(s)))


@operator("full_like")
def full_like(x: Tensor, fill_value: float) -> Known:
    """Return a constant in the shape of x whose elements all equal one number."""
    return _filled(x.shape, fill_value)


@operator("zeros_like")
def zeros_like(x: Tensor) -> Known:
    """Return zeros in the shape of x."""
    return _filled(x.shape, 0.0)


@operator("ones_like")
def ones_like(x: Tensor) -> Known:
    """Return ones in the shape of x."""
    return _filled(x.shape, 1.0)


@operator("tril")
def tril(x: Tensor, diagonal: int = 0) -> Tensor:
    """Return matrices with 0 above a diagonal."""
    return x * np.tril(np.ones(x.shape[-2:]), diagonal)


@operator("triu")
def triu(x: Tensor, diagonal: int = 0) -> Tensor:
    """Return matrices with 0 below a diagonal."""
    return x * np.triu(np.ones(x.shape[-2:]), diagonal)

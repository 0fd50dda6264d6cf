"""ONNX operators that write at indices: Scatter and similar operators, MaxUnpool and Col2Im."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits import arrays
from circuitize.frontends.functions import concatenate, einsum, maximum, minimum, one_hot, product, where
from circuitize.frontends.tensor import Tensor

from .elements import Known
from .node import Made, Node, Result, operator
from .places import pad, pick
from .pooling import spatial
from .reductions import greatest, least
from .whole import Interval, magnitude

REDUCTIONS = ("none", "add", "mul", "max", "min")


def counted(node: Node, index: int, extent: int) -> Tensor | NDArray[np.int64]:
    """Return an input of indices, counted from 0; negative indices count from the end. Raise an error if indices that
    are known lie outside the axis.
    """
    content = node.value(index).content
    if isinstance(content, Tensor):
        return content + (content < 0.0) * float(extent) if node.interval(index)[0] < 0 else content
    if content.size and not -extent <= int(content.min()) <= int(content.max()) < extent:
        found = f"{int(content.min())} to {int(content.max())}"
        raise node.fault(f"expected places from {-extent} to {extent - 1}, found {found}; correct the indices")
    return np.asarray(np.where(content < 0, content + extent, content), np.int64)


def _reduced(node: Node, count: int, updates: int) -> Interval:
    """Return the interval of whole numbers after at most `count` writes at one place."""
    (a, b), (c, d) = node.interval(0), node.interval(updates)
    if node.attribute("reduction", "none") == "add":
        return a + min(c, 0) * count, b + max(d, 0) * count
    if node.attribute("reduction", "none") == "mul":
        # Where it is great, the interval is refused all the same: an exponent says enough.
        most = magnitude((a, b)) * max(magnitude((c, d)), 1) ** min(count, 64)
        return -most, most
    return min(a, c), max(b, d)


def written(node: Node, data: Tensor, hot: Tensor, updates: Tensor, reduction: str) -> Tensor:
    """Return data [P, K, R] with updates [P, M, R] written into it; `hot` [P, M, K] is 1 where an update is written,
    else 0.

    Without a reduction, an ONNX scatter must write each place at most once: ONNX does not say which of several writes
    is kept.
    """
    if reduction in ("none", "add"):
        added = einsum("pmk,pmr->pkr", hot, updates)
        if reduction == "add":
            return data + added
        return where(hot.sum(1).reshape(*hot.shape[::2], 1).broadcast(data.shape), added, data)
    count, rest = updates.shape[1:]
    wide = (data.shape[0], count, data.shape[1], rest)
    node.bounded(math.prod(wide), "the updates at every place")
    mask = hot.reshape(*hot.shape, 1).broadcast(wide)
    each = updates.reshape(wide[0], count, 1, rest).broadcast(wide)
    if reduction == "mul":
        return data * product(where(mask, each, 1.0), 1)
    before = data.reshape(wide[0], 1, *data.shape[1:]).broadcast(wide)
    extreme, other = (greatest, maximum) if reduction == "max" else (least, minimum)
    return other(data, extreme(where(mask, each, before), (1,)).reshape(*data.shape))


def _replaced(data: Tensor, places: Known, updates: Tensor) -> Tensor:
    """Return rows of data [K, R] replaced by rows of updates [M, R] at known places, by wiring; of several updates the
    last is kept.
    """
    source = np.arange(data.shape[0])
    source[places] = data.shape[0] + np.arange(len(places))
    return pick(concatenate([data, updates], 0), 0, source)


def _reduction(node: Node) -> str:
    """Return how an ONNX scatter combines updates with the values at their places; truth values are only replaced."""
    found = node.choice("reduction", *REDUCTIONS)
    if found != "none" and node.element.kind == "bool":
        raise node.fault(f"expected no reduction of truth values, found {found}; cast them")
    return found


@operator("ScatterElements", "Scatter", moves=True)
def _elements(node: Node) -> Result:
    x, indices, updates = node.ranked(node.tensor(0), 1), node.value(1), node.tensor(2)
    axis = node.along(x, 0)
    reduction = _reduction(node)
    if indices.shape != updates.shape or len(indices.shape) != x.ndim:
        found = f"{list(indices.shape)} and {list(updates.shape)}"
        raise node.fault(f"expected indices and updates of one shape and {x.ndim} axes, found {found}; reshape")
    if any(n > m for a, (n, m) in enumerate(zip(indices.shape, x.shape, strict=True)) if a != axis):
        found = f"{list(indices.shape)} of {list(x.shape)}"
        raise node.fault(f"expected indices within the data beside axis {axis}, found {found}; reshape")
    places = counted(node, 1, x.shape[axis])
    if not math.prod(indices.shape):
        return node.value(0).content
    if not isinstance(places, Tensor) and reduction == "none":
        spots = np.indices(places.shape)
        spots[axis] = places
        flat = np.ravel_multi_index(tuple(spots), x.shape).reshape(-1)
        made = _replaced(x.reshape(-1, 1), flat, updates.reshape(-1, 1)).reshape(*x.shape)
        return node.kept(made, _reduced(node, 1, 2), wraps=False) if node.whole else made
    count, extent = indices.shape[axis], x.shape[axis]
    others = [a for a in range(x.ndim) if a != axis]
    part = x[tuple(slice(0, n if a != axis else None) for a, n in enumerate(indices.shape))]
    rows = math.prod(indices.shape[a] for a in others)
    node.bounded(rows * count * extent, "the places of all updates")
    flat_places = x.constant(places).transpose(*others, axis).reshape(rows, count)
    made = written(
        node,
        part.transpose(*others, axis).reshape(rows, extent, 1),
        one_hot(flat_places, extent),
        updates.transpose(*others, axis).reshape(rows, count, 1),
        reduction,
    )
    made = made.reshape(*[indices.shape[a] for a in others], extent)
    made = made.transpose(*np.argsort([*others, axis]).tolist()) if x.ndim > 1 else made
    made = _inside(x, made)
    return node.kept(made, _reduced(node, count, 2), wraps=False) if node.whole else made


def _inside(x: Tensor, part: Tensor) -> Tensor:
    """Return x with its first elements along each axis replaced by the elements of `part`."""
    if x.shape == part.shape:
        return part
    inside = np.zeros(x.shape)
    inside[tuple(slice(0, n) for n in part.shape)] = 1.0
    wide = pad(part, [0] * x.ndim, [n - m for n, m in zip(x.shape, part.shape, strict=True)])
    return where(x.constant(inside), wide, x)


def linear(node: Node, index: int, extents: Sequence[int]) -> Tensor | NDArray[np.int64]:
    """Return indices [..., axes] into axes of given extents as indices into the flattened axes."""
    content = node.value(index).content
    strides = np.cumprod([1, *extents[:0:-1]])[::-1]
    if isinstance(content, Tensor):
        sizes = np.array(extents, np.float64)
        wrapped = content + (content < 0.0) * sizes if node.interval(index)[0] < 0 else content
        return (wrapped * strides.astype(np.float64)).sum(-1)
    sizes = np.array(extents)
    if content.size and not ((content >= -sizes) & (content < sizes)).all():
        raise node.fault(f"expected places within {list(extents)}, found others; correct the indices")
    return np.asarray((np.where(content < 0, content + sizes, content) * strides).sum(-1), np.int64)


@operator("ScatterND", moves=True)
def _nd(node: Node) -> Result:
    x, indices, updates = node.ranked(node.tensor(0), 1), node.value(1), node.tensor(2)
    reduction = _reduction(node)
    depth = indices.shape[-1] if indices.shape else 0
    if not 1 <= depth <= x.ndim or updates.shape != (*indices.shape[:-1], *x.shape[depth:]):
        found = f"{list(indices.shape)} and {list(updates.shape)}"
        raise node.fault(f"expected indices and updates that fit {list(x.shape)}, found {found}; reshape")
    places = linear(node, 1, x.shape[:depth])
    count, extent = math.prod(indices.shape[:-1]), math.prod(x.shape[:depth])
    flat, each = x.reshape(extent, -1), updates.reshape(count, -1)
    if not isinstance(places, Tensor) and reduction == "none":
        made = _replaced(flat, places.reshape(-1), each)
    else:
        node.bounded(count * extent, "the places of all updates")
        hot = one_hot(x.constant(places).reshape(1, count), extent)
        made = written(node, flat.reshape(1, *flat.shape), hot, each.reshape(1, *each.shape), reduction)
    made = made.reshape(*x.shape)
    return node.kept(made, _reduced(node, count, 2), wraps=False) if node.whole else made


@operator("TensorScatter", moves=True)
def _cache(node: Node) -> Result:
    """Return the cache of ONNX's TensorScatter with a part of one axis overwritten, which begins at a different place
    for each example.
    """
    x, updates = node.ranked(node.tensor(0), 2), node.tensor(1)
    axis, circular = node.along(x, -2), node.choice("mode", "linear", "circular") == "circular"
    shape = tuple(updates.shape[a] if a == axis else n for a, n in enumerate(x.shape))
    if not axis or updates.shape != shape or shape[axis] > x.shape[axis]:
        found = f"{list(updates.shape)} along axis {axis}"
        raise node.fault(f"expected updates that fit {list(x.shape)}, found {found}; reshape")
    batch, extent, count = x.shape[0], x.shape[axis], shape[axis]
    starts = node.tensor(2) if node.has(2) else x.constant(np.zeros(batch))
    if starts.shape != (batch,):
        raise node.fault(f"expected {batch} places, one for each example, found {list(starts.shape)}; reshape")
    places = starts.reshape(batch, 1) + np.arange(count, dtype=np.float64)
    if circular:
        places = places - (1.0 - (places < float(extent))) * float(extent)
    order = [0, axis, *(a for a in range(1, x.ndim) if a != axis)]
    turned = x.transpose(*order)
    hot = one_hot(places, extent)
    made = written(
        node, turned.reshape(batch, extent, -1), hot, updates.transpose(*order).reshape(batch, count, -1), "none"
    )
    made = made.reshape(*turned.shape).transpose(*np.argsort(order).tolist())
    return Made(made, None, _reduced(node, 1, 1)) if node.element.kind == "int" else made


@operator("MaxUnpool")
def _unpooled(node: Node) -> Tensor:
    """Return the result of MaxUnpool: each element at the place from which a pooling took it, and zeros elsewhere."""
    x, indices = node.ranked(node.tensor(0), 3), node.value(1)
    sizes = node.several(node.attributes["kernel_shape"], x.ndim - 2, "kernel extents")
    if indices.shape != x.shape:
        raise node.fault(f"expected places of shape {list(x.shape)}, found {list(indices.shape)}; correct them")
    steps = node.several(node.attribute("strides", [1] * len(sizes)), len(sizes), "strides")
    pads = node.several(node.attribute("pads", [0] * (2 * len(sizes))), 2 * len(sizes), "pads")
    own = [
        (extent - 1) * step + size - pads[axis] - pads[len(sizes) + axis]
        for axis, (extent, step, size) in enumerate(zip(x.shape[2:], steps, sizes, strict=True))
    ]
    shape = [*x.shape[:2], *own]
    # The places are those in what was pooled: it is `shape`, unless more is asked for.
    wanted = node.several(node.integers(2, "the shape"), x.ndim, "extents") if node.has(2) else shape
    if min(shape) < 1 or any(n < m for n, m in zip(wanted, shape, strict=True)):
        raise node.fault(f"expected a shape of at least {shape}, found {wanted}; correct it")
    extent = node.bounded(math.prod(shape), "the result")
    places = counted(node, 1, extent)
    flat = x.reshape(-1, 1)
    if isinstance(places, Tensor):
        node.bounded(extent * x.size, "the places of all elements")
        made = einsum("mk,mr->kr", one_hot(places.reshape(-1), extent), flat)
    else:
        made = _replaced(x.constant(np.zeros((extent, 1))), places.reshape(-1), flat)
    node.bounded(math.prod(wanted), "the result")
    return pad(made.reshape(*shape), [0] * x.ndim, [n - m for n, m in zip(wanted, shape, strict=True)])


@operator("Col2Im")
def _image(node: Node) -> Tensor:
    """Return the result of Col2Im: [B, C * window, positions] to [B, C, extents...], in which windows are put back in
    their places and added.
    """
    x = node.ranked(node.tensor(0), 3, 3)
    extents, sizes = node.integers(1, "the extents"), node.integers(2, "the windows' extents")
    rank = len(sizes)
    if rank < 1 or len(extents) != rank or min((*extents, *sizes)) < 1:
        raise node.fault(f"expected extents of at least 1, found {extents} and {sizes}; correct them")
    window = math.prod(sizes)
    channels = x.shape[1] // window
    places = spatial(node, tuple(extents), tuple(sizes))
    full = [e + b + a for e, b, a in zip(extents, places.before, places.after, strict=True)]
    shape = (x.shape[0], channels, *full)
    node.bounded(math.prod(shape), "the image")
    counts = [
        (n - gap * (size - 1) - 1) // step + 1
        for n, size, step, gap in zip(full, places.sizes, places.steps, places.gaps, strict=True)
    ]
    if x.shape[1] % window or x.shape[2] != math.prod(counts):
        wanted = f"[{x.shape[0]}, C * {window}, {math.prod(counts)}]"
        raise node.fault(f"expected windows of shape {wanted}, found {list(x.shape)}; correct them")
    taken = x.reshape(x.shape[0], channels, *sizes, *counts)
    taken = taken.transpose(0, 1, *range(2 + rank, 2 + 2 * rank), *range(2, 2 + rank))
    axes = tuple(range(2, 2 + rank))
    added = taken.apply(arrays.OverlapAdd(shape, axes, places.sizes, places.steps, places.gaps))
    return pad(added, [0, 0, *(-b for b in places.before)], [0, 0, *(-a for a in places.after)])

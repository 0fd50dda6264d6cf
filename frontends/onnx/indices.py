"""ONNX operators that read at places given by tensors, or compute places: gathers, the places of extremes, and similar
operators.
"""

from __future__ import annotations

import math

import numpy as np

from circuitize.frontends.functions import argmax_one_hot, concatenate, einsum, gather, one_hot, where
from circuitize.frontends.movement import gather_elements
from circuitize.frontends.tensor import Tensor

from .node import FLOATS, NUMBERS, Made, Node, Result, operator
from .places import pick
from .reductions import least, without
from .scatter import linear
from .whole import magnitude


@operator("Gather", moves=True)
def _gather(node: Node) -> Tensor:
    x, indices = node.ranked(node.tensor(0), 1), node.value(1).content
    axis = node.along(x, 0)
    if isinstance(indices, Tensor):
        # A negative index counts from the end.
        return gather(x, indices + (indices < 0.0) * float(x.shape[axis]), axis)
    return pick(x, axis, indices)


@operator("GatherElements", moves=True)
def _gather_elements(node: Node) -> Tensor:
    x, indices = node.ranked(node.tensor(0), 1), node.tensor(1)
    axis = node.along(x, 0)
    if indices.ndim != x.ndim or any(a != axis and n > x.shape[a] for a, n in enumerate(indices.shape)):
        raise node.fault(
            f"expected indices within {list(x.shape)} beside axis {axis}, found {list(indices.shape)}; reshape"
        )
    x = x[tuple(slice(None) if a == axis else slice(0, n) for a, n in enumerate(indices.shape))]
    return gather_elements(x, indices + (indices < 0.0) * float(x.shape[axis]), axis)


@operator("GatherND", moves=True)
def _gather_nd(node: Node) -> Tensor:
    """Return the result of GatherND: the elements, or the parts behind the first axes, at indices into several axes;
    leading axes may be batch axes.
    """
    x, indices = node.ranked(node.tensor(0), 1), node.value(1)
    common = node.attribute("batch_dims", 0)
    depth = indices.shape[-1] if indices.shape else 0
    fits = 0 <= common < len(indices.shape) and x.shape[:common] == indices.shape[:common]
    if not fits or not 1 <= depth <= x.ndim - common:
        raise node.fault(f"expected indices that fit {list(x.shape)}, found shape {list(indices.shape)}; reshape")
    ends = common + depth
    places = linear(node, 1, x.shape[common:ends])
    size, batch = math.prod(x.shape[common:ends]), x.shape[:common]
    offsets = np.arange(math.prod(batch)).reshape((*batch, *[1] * (len(indices.shape) - 1 - common))) * size
    flat = x.reshape(-1, *x.shape[ends:])
    if isinstance(places, Tensor):
        return gather(flat, places + offsets.astype(np.float64) if common else places, 0)
    return pick(flat, 0, places + offsets)


@operator("OneHot", kinds=NUMBERS)
def _hot(node: Node) -> Result:
    """Return the result of OneHot: the second value at each index along a new axis and the first value elsewhere; for
    an index outside the axis only the first value.
    """
    depth = int(node.scalar(1, "the depth"))
    values = node.tensor(2)
    if values.shape != (2,) or depth < 1:
        raise node.fault(f"expected a depth from 1 on and two values, found {depth} and {values.size}; correct them")
    indices = node.ranked(node.tensor(0), 1)
    axis = node.axis(node.attribute("axis", -1), indices.ndim + 1)
    node.bounded(indices.size * depth, "the result")
    counted = indices + (indices < 0.0) * float(depth)
    wide = counted.reshape(*indices.shape[:axis], 1, *indices.shape[axis:])
    places = np.arange(depth, dtype=np.float64).reshape(-1, *[1] * (indices.ndim - axis))
    hot = 1.0 - (wide > places) - (wide < places)
    low, high = (node.value(2).low, node.value(2).high)
    return Made(where(hot, values[1], values[0]), None, (low, high))


@operator("Compress", moves=True)
def _compress(node: Node) -> Result:
    """Return the elements of an axis, or of all axes flattened, where a known condition is true."""
    x, chosen = node.tensor(0), np.asarray(node.known(1, "the condition"))
    axis = node.attribute("axis", None)
    x, at = (x.reshape(-1), 0) if axis is None else (x, node.axis(axis, x.ndim))
    if chosen.ndim != 1 or len(chosen) > x.shape[at]:
        raise node.fault(f"expected at most {x.shape[at]} truth values, found shape {list(chosen.shape)}; correct them")
    places = np.flatnonzero(chosen)
    if not len(places):
        return np.zeros((*x.shape[:at], 0, *x.shape[at + 1 :]), node.element.dtype)
    return pick(x, at, places)


@operator("ReverseSequence", moves=True)
def _reversed(node: Node) -> Tensor:
    """Return each example's sequence with its first elements reversed, as many as a length says."""
    x, lengths = node.ranked(node.tensor(0), 2), node.value(1)
    batch, time = node.axis(node.attribute("batch_axis", 1), x.ndim), node.axis(node.attribute("time_axis", 0), x.ndim)
    if batch == time or lengths.shape != (x.shape[batch],):
        raise node.fault(f"expected two axes, and a length for each example, found {list(lengths.shape)}; correct them")
    order = [batch, time, *(axis for axis in range(x.ndim) if axis not in (batch, time))]
    turned = x.transpose(*order)
    examples, extent = turned.shape[:2]
    flat, numbers = turned.reshape(examples, extent, -1), np.arange(extent)
    if isinstance(lengths.content, Tensor):
        last = lengths.content.reshape(examples, 1)
        places = where(
            last > numbers.astype(np.float64), last - 1.0 - numbers.astype(np.float64), numbers.astype(float)
        )
        made = einsum("btk,bkr->btr", one_hot(places, extent), flat)
    else:
        ends = np.asarray(lengths.content).reshape(examples, 1)
        own = np.where(numbers < ends, ends - 1 - numbers, numbers) + extent * np.arange(examples)[:, None]
        made = pick(flat.reshape(examples * extent, -1), 0, own)
    return made.reshape(*turned.shape).transpose(*np.argsort(order).tolist())


@operator("ArgMax", "ArgMin", kinds=NUMBERS)
def _place(node: Node) -> Result:
    """Return the index of the first extremum along an axis, or of the last one, which is found in the reversed axis."""
    x = node.ranked(node.tensor() if node.operator == "ArgMax" else -node.tensor(), 1)
    axis = node.along(x, 0)
    count = x.shape[axis]
    last = node.flag("select_last_index", 0)
    hot = argmax_one_hot(pick(x, axis, np.arange(count)[::-1]) if last else x, axis)
    numbers = np.arange(count)[::-1] if last else np.arange(count)
    place = (hot * numbers.reshape(-1, *[1] * (x.ndim - axis - 1)).astype(np.float64)).sum(axis, keepdims=True)
    return Made(place if node.flag("keepdims", 1) else without(place, (axis,)), None, (0, count - 1))


@operator("Hardmax", kinds=FLOATS)
def _hardmax(node: Node) -> Tensor:
    """Return the result of Hardmax: before opset 13 the elements of all axes from `axis` on compete together."""
    x = node.ranked(node.tensor(), 1)
    if node.version >= 13:
        return argmax_one_hot(x, node.along(x, -1))
    return argmax_one_hot(node.rows(x), 1).reshape(*x.shape)


@operator("TopK", kinds=NUMBERS, ignores=("sorted",))
def _top(node: Node) -> list[Result]:
    """Return the k greatest or least elements, in order, where of equal elements the first comes first; this takes k
    rounds of maximum and removal.
    """
    x = node.ranked(node.tensor(), 1)
    count = node.attributes["k"] if "k" in node.attributes else node.scalar(1, "k")
    axis = node.along(x, -1)
    if not 1 <= count <= x.shape[axis]:
        raise node.fault(f"expected k from 1 to {x.shape[axis]}, found {count}; correct it")
    sign = 1.0 if node.flag("largest", 1) else -1.0
    left, taken = x * sign, None
    numbers = np.arange(x.shape[axis], dtype=np.float64).reshape(-1, *[1] * (x.ndim - axis - 1))
    values, places = [], []
    for _ in range(count):
        # What was taken stands below everything that is left: no maximum of the rest, whatever its range.
        low = least(left, (axis,)) - 1.0
        hot = argmax_one_hot(left if taken is None else left + (low - left) * taken, axis)
        values.append((x * hot).sum(axis, keepdims=True))
        places.append((hot * numbers).sum(axis, keepdims=True))
        taken = hot if taken is None else taken + hot
    return [
        # What is taken moves below the least: the way there is as long as the interval.
        node.kept(_joined(values, axis), node.interval(), 2 * magnitude(node.interval()) + 1),
        Made(_joined(places, axis), None, (0, x.shape[axis] - 1)),
    ]


def _joined(tensors: list[Tensor], axis: int) -> Tensor:
    return concatenate(tensors, axis) if len(tensors) > 1 else tensors[0]

"""ONNX operators that move elements, and those that speak of shapes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from circuitize.circuits import arrays
from circuitize.frontends.functions import concatenate, gather
from circuitize.frontends.movement import gather_elements
from circuitize.frontends.trace import Tensor

from .node import Known, Node, Value, operator

FARTHEST = 1 << 31
"""Slices may end there, meaning the end of the axis."""


def pick(x: Tensor, axis: int, places: Known) -> Tensor:
    """The elements of an axis at known places, whose axes replace it."""
    extent = x.shape[axis]
    places = np.where(places < 0, places + extent, places)
    return gather(x, x.constant(places.astype(np.float64)), axis)


def pad(x: Tensor, before: Sequence[int], after: Sequence[int], value: float = 0.0) -> Tensor:
    """Elements before and after each axis, all of one value; negative numbers cut."""
    starts = [max(-b, 0) for b in before]
    stops = [extent - max(-a, 0) for extent, a in zip(x.shape, after, strict=True)]
    if (starts, stops) != ([0] * x.ndim, list(x.shape)):
        x = x.apply(arrays.Slice(tuple(starts), tuple(stops)))
    wide = arrays.Pad(tuple(max(b, 0) for b in before), tuple(max(a, 0) for a in after))
    if not any((*wide.before, *wide.after)):
        return x
    # Zeros, and the value added to where they are.
    inside = np.pad(np.zeros(x.shape), list(zip(wide.before, wide.after, strict=True)), constant_values=value)
    padded = x.apply(wide)
    return padded + inside if value else padded


@operator("Reshape")
def _reshape(node: Node) -> Tensor:
    x = node.tensor()
    wanted = node.integers(1, "the shape") if node.has(1) else list(node.attribute("shape", []))
    if not node.attribute("allowzero", 0):
        wanted = [x.shape[axis] if extent == 0 else extent for axis, extent in enumerate(wanted)]
    return x.reshape(*wanted)


@operator("Flatten")
def _flatten(node: Node) -> Tensor:
    x, axis = node.tensor(), node.attribute("axis", 1)
    axis = axis % x.ndim if axis < 0 else axis
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


@operator("Squeeze")
def _squeeze(node: Node) -> Tensor:
    x = node.tensor()
    axes = node.axes(x.ndim, 1, [axis for axis, extent in enumerate(x.shape) if extent == 1])
    return x.reshape(*[extent for axis, extent in enumerate(x.shape) if axis not in axes])


@operator("Unsqueeze")
def _unsqueeze(node: Node) -> Tensor:
    x = node.tensor()
    count = len(node.attributes["axes"]) if "axes" in node.attributes else len(node.integers(1, "the axes"))
    axes = node.axes(x.ndim + count, 1, [])
    extents = iter(x.shape)
    return x.reshape(*[1 if axis in axes else next(extents) for axis in range(x.ndim + count)])


@operator("Transpose")
def _transpose(node: Node) -> Tensor:
    return node.tensor().transpose(*node.attribute("perm", ()))


@operator("Expand")
def _expand(node: Node) -> Tensor:
    x = node.tensor()
    return x.broadcast(np.broadcast_shapes(x.shape, tuple(node.integers(1, "the shape"))))


@operator("Tile")
def _tile(node: Node) -> Tensor:
    x, repeats = node.tensor(), node.integers(1, "the repeats")
    shape = tuple(entry for pair in zip(repeats, x.shape, strict=True) for entry in pair)
    spread = x.apply(arrays.Broadcast(shape, tuple(range(0, 2 * x.ndim, 2))))
    return spread.reshape(*[repeat * extent for repeat, extent in zip(repeats, x.shape, strict=True)])


@operator("Concat")
def _concatenate(node: Node) -> Tensor:
    tensors = node.tensors()
    return concatenate(tensors, node.attribute("axis", 1)) if len(tensors) > 1 else tensors[0]


@operator("Split")
def _split(node: Node) -> list[Value]:
    x = node.tensor()
    axis = node.attribute("axis", 0) % x.ndim
    extent, count = x.shape[axis], node.attribute("num_outputs", node.outputs)
    sizes = node.attributes.get("split")
    if sizes is None and node.has(1):
        sizes = node.integers(1, "the sizes of the parts")
    if sizes is None:
        each = -(-extent // count)
        sizes = [min(each, extent - each * part) for part in range(count)]
    ends = np.cumsum(sizes).tolist()
    whole = [slice(None)] * axis
    return [x[(*whole, slice(end - size, end))] for size, end in zip(sizes, ends, strict=True)]


@operator("Slice")
def _slice(node: Node) -> Tensor:
    x = node.tensor()
    if "starts" in node.attributes:
        starts, stops = list(node.attributes["starts"]), list(node.attributes["ends"])
        axes, steps = list(node.attribute("axes", range(len(starts)))), [1] * len(starts)
    else:
        starts, stops = node.integers(1, "the starts"), node.integers(2, "the ends")
        axes = node.integers(3, "the axes") if node.has(3) else list(range(len(starts)))
        steps = node.integers(4, "the steps") if node.has(4) else [1] * len(starts)
    for start, stop, axis, step in zip(starts, stops, axes, steps, strict=True):
        axis %= x.ndim
        places = np.arange(x.shape[axis])[slice(start, None if stop <= -FARTHEST else stop, step)]
        if not len(places):
            raise node.fault("expected slices with elements, found an empty one")
        first, last = int(places[0]), int(places[-1]) + 1
        x = x[(*[slice(None)] * axis, slice(first, last))] if step == 1 else pick(x, axis, places)
    return x


@operator("Gather")
def _gather(node: Node) -> Tensor:
    x, indices = node.tensor(0), node.inputs[1]
    axis = node.attribute("axis", 0) % x.ndim
    if isinstance(indices, Tensor):
        # A negative index counts from the end.
        return gather(x, indices + (indices < 0.0) * float(x.shape[axis]), axis)
    return pick(x, axis, np.asarray(indices))


@operator("GatherElements")
def _gather_elements(node: Node) -> Tensor:
    x, indices = node.tensor(0), node.tensor(1)
    axis = node.attribute("axis", 0) % x.ndim
    return gather_elements(x, indices + (indices < 0.0) * float(x.shape[axis]), axis)


@operator("Pad")
def _pad(node: Node) -> Tensor:
    x = node.tensor()
    pads = node.integers(1, "the pads") if node.has(1) else list(node.attribute("pads", []))
    axes = [axis % x.ndim for axis in node.integers(3, "the axes")] if node.has(3) else list(range(x.ndim))
    before, after = [0] * x.ndim, [0] * x.ndim
    for place, axis in enumerate(axes):
        before[axis], after[axis] = pads[place], pads[place + len(axes)]
    mode = node.attribute("mode", "constant")
    if mode == "constant":
        value = float(node.known(2, "the value")) if node.has(2) else node.attribute("value", 0.0)
        return pad(x, before, after, value)
    for axis in range(x.ndim):
        places = np.pad(np.arange(x.shape[axis]), (before[axis], after[axis]), mode=mode)
        x = pick(x, axis, places) if len(places) != x.shape[axis] else x
    return x


@operator("DepthToSpace", "SpaceToDepth")
def _depth(node: Node) -> Tensor:
    x, size = node.tensor(), node.attribute("blocksize", 1)
    batch, channels, height, width = x.shape
    columns_first = node.attribute("mode", "DCR") == "DCR"
    if node.operator == "SpaceToDepth":
        blocks = x.reshape(batch, channels, height // size, size, width // size, size)
        order = (0, 3, 5, 1, 2, 4) if columns_first else (0, 1, 3, 5, 2, 4)
        return blocks.transpose(*order).reshape(batch, channels * size**2, height // size, width // size)
    kept = channels // size**2
    if columns_first:
        blocks = x.reshape(batch, size, size, kept, height, width).transpose(0, 3, 4, 1, 5, 2)
    else:
        blocks = x.reshape(batch, kept, size, size, height, width).transpose(0, 1, 4, 2, 5, 3)
    return blocks.reshape(batch, kept, height * size, width * size)


@operator("Trilu")
def _triangle(node: Node) -> Tensor:
    x = node.tensor()
    diagonal = int(node.known(1, "the diagonal")) if node.has(1) else 0
    ones = np.ones(x.shape[-2:])
    return x * (np.triu(ones, diagonal) if node.attribute("upper", 1) else np.tril(ones, diagonal))


@operator("Shape", "Size")
def _shape(node: Node) -> Known:
    shape = node.tensor().shape
    if node.operator == "Size":
        return np.array(math.prod(shape))
    return np.array(shape[node.attribute("start", 0) : node.attribute("end", None)])


@operator("Constant")
def _constant(node: Node) -> Known:
    (value,) = node.attributes.values()
    return np.asarray(value)


@operator("ConstantOfShape")
def _constant_of_shape(node: Node) -> Known:
    value = np.asarray(node.attribute("value", np.zeros(1)))
    return np.full(node.integers(0, "the shape"), value.reshape(-1)[0])


@operator("EyeLike")
def _eye(node: Node) -> Known:
    rows, columns = node.tensor().shape
    return np.eye(rows, columns, node.attribute("k", 0))


@operator("Range")
def _range(node: Node) -> Known:
    start, limit, step = (node.known(index, "the range").reshape(()) for index in range(3))
    count = max(0, math.ceil(float(limit - start) / float(step)))
    return np.asarray(start + step * np.arange(count))


@operator("CenterCropPad")
def _center(node: Node) -> Tensor:
    x, wanted = node.tensor(), node.integers(1, "the shape")
    axes = [axis % x.ndim for axis in node.attribute("axes", range(x.ndim))]
    before, after = [0] * x.ndim, [0] * x.ndim
    for axis, extent in zip(axes, wanted, strict=True):
        more = extent - x.shape[axis]
        # What cannot be halved goes after where elements are added, and before where they are cut.
        before[axis] = more // 2 if more > 0 else -(-more // 2)
        after[axis] = more - before[axis]
    return pad(x, before, after)

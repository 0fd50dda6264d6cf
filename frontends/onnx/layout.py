"""ONNX operators that move elements: they reshape, permute, repeat, join, cut and pad arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from circuitize.circuits import arrays
from circuitize.frontends.attention import MASKED
from circuitize.frontends.functions import concatenate
from circuitize.frontends.tensor import Tensor

from .channels import turn_of, turned
from .elements import Known
from .node import MASKS, Made, Node, Result, operator
from .places import pad, pick


@operator("Reshape", moves=True)
def _reshape(node: Node) -> Tensor:
    x = node.tensor()
    wanted = node.integers(1, "the shape") if node.has(1) else list(node.attribute("shape", []))
    if not node.flag("allowzero", 0):
        if any(extent == 0 and axis >= x.ndim for axis, extent in enumerate(wanted)):
            raise node.fault(f"expected extents of 0 for axes of {list(x.shape)}, found {wanted}; correct the shape")
        wanted = [x.shape[axis] if extent == 0 else extent for axis, extent in enumerate(wanted)]
    return _reshaped(node, x, wanted)


def _reshaped(node: Node, x: Tensor, wanted: Sequence[int]) -> Tensor:
    rest = math.prod(extent for extent in wanted if extent != -1)
    if any(extent < -1 for extent in wanted) or list(wanted).count(-1) > 1 or not rest or x.size % rest:
        raise node.fault(f"expected a shape of {x.size} elements, found {list(wanted)}; correct the shape")
    return x.reshape(*wanted)


@operator("Flatten", moves=True)
def _flatten(node: Node) -> Tensor:
    x = node.tensor()
    axis = node.axis(node.attribute("axis", 1), x.ndim, ends=True)
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


@operator("Squeeze", moves=True)
def _squeeze(node: Node) -> Tensor:
    x = node.tensor()
    axes = node.axes(x.ndim, 1, [axis for axis, extent in enumerate(x.shape) if extent == 1])
    if any(x.shape[axis] != 1 for axis in axes):
        raise node.fault(f"expected axes of extent 1, found axes {list(axes)} of {list(x.shape)}; correct the axes")
    return x.reshape(*[extent for axis, extent in enumerate(x.shape) if axis not in axes])


@operator("Unsqueeze", moves=True)
def _unsqueeze(node: Node) -> Tensor:
    x = node.tensor()
    given = node.attributes["axes"] if "axes" in node.attributes else node.integers(1, "the axes")
    axes = node.distinct(given, x.ndim + len(given))
    extents = iter(x.shape)
    return x.reshape(*[1 if axis in axes else next(extents) for axis in range(x.ndim + len(given))])


@operator("Transpose", moves=True)
def _transpose(node: Node) -> Tensor:
    x = node.tensor()
    order = list(node.attribute("perm", range(x.ndim)[::-1]))
    if sorted(order) != list(range(x.ndim)):
        raise node.fault(f"expected each axis of {list(x.shape)} once, found {order}; correct perm")
    return turned(x, order)


@operator("Expand", moves=True)
def _expand(node: Node) -> Tensor:
    x, wanted = node.tensor(), tuple(node.integers(1, "the shape"))
    if any(extent < 1 for extent in wanted):
        raise node.fault(f"expected extents of at least 1, found {list(wanted)}; correct the shape")
    return x.broadcast(np.broadcast_shapes(x.shape, wanted))


@operator("Tile", moves=True)
def _tile(node: Node) -> Tensor:
    x = node.tensor()
    repeats = node.several(node.integers(1, "the repeats"), x.ndim, "repeats, one for each axis")
    if any(repeat < 1 for repeat in repeats):
        raise node.fault(f"expected repeats of at least 1, found {repeats}; correct them")
    shape = tuple(entry for pair in zip(repeats, x.shape, strict=True) for entry in pair)
    spread = x.apply(arrays.Broadcast(shape, tuple(range(0, 2 * x.ndim, 2)))) if x.ndim else x
    return spread.reshape(*[repeat * extent for repeat, extent in zip(repeats, x.shape, strict=True)])


@operator("Concat", moves=True)
def _concatenate(node: Node) -> Tensor | Known:
    shapes = [value.shape for value in node.inputs if value is not None]
    ranks = {len(shape) for shape in shapes}
    if len(ranks) != 1:
        raise node.fault(f"expected inputs of one rank, found {sorted(ranks)}; reshape one")
    axis = node.axis(node.attribute("axis", 1), len(shapes[0]))
    if len({(*shape[:axis], *shape[axis + 1 :]) for shape in shapes}) > 1:
        raise node.fault(f"expected one shape beside axis {axis}, found {list(map(list, shapes))}; reshape one")
    tensors = [node.tensor(index) for index, shape in enumerate(shapes) if math.prod(shape)]
    if not tensors:
        extent = sum(shape[axis] for shape in shapes)
        return np.zeros((*shapes[0][:axis], extent, *shapes[0][axis + 1 :]), node.element.dtype)
    turns = [turn_of(tensor) for tensor in tensors]
    orders = {turn[1] for turn in turns if turn is not None}
    if None not in turns and len(orders) == 1:
        (order,) = orders
        sources = [turn[0] for turn in turns if turn is not None]
        return turned(_joined(sources, order[axis]), order)
    return _joined(tensors, axis)


def _joined(tensors: list[Tensor], axis: int) -> Tensor:
    return concatenate(tensors, axis) if len(tensors) > 1 else tensors[0]


@operator("Split", moves=True)
def _split(node: Node) -> list[Tensor | Known]:
    x = node.ranked(node.tensor(), 1)
    axis = node.along(x, 0)
    extent, count = x.shape[axis], node.attribute("num_outputs", node.outputs)
    sizes = node.attributes.get("split")
    if sizes is None and node.has(1):
        sizes = node.integers(1, "the sizes of the parts")
    if sizes is None:
        if count != node.outputs or (extent % count and "num_outputs" not in node.attributes.given):
            raise node.fault(
                f"expected {count} outputs of equal extent out of {extent}, found {node.outputs}; correct them"
            )
        each = -(-extent // count)
        sizes = [min(each, extent - each * part) for part in range(count)]
    if min(sizes, default=0) < 0 or sum(sizes) != extent or len(sizes) != node.outputs:
        raise node.fault(
            f"expected {node.outputs} parts of {extent} elements together, found {list(sizes)}; correct them"
        )
    ends = np.cumsum(sizes).tolist()
    whole = [slice(None)] * axis
    return [
        x[(*whole, slice(end - size, end))] if size else _empty(node, x, axis)
        for size, end in zip(sizes, ends, strict=True)
    ]


def _empty(node: Node, x: Tensor, axis: int) -> Known:
    """Return an array like x, but with no elements along one axis."""
    return np.zeros((*x.shape[:axis], 0, *x.shape[axis + 1 :]), node.element.dtype)


@operator("Slice", moves=True)
def _slice(node: Node) -> Tensor | Known:
    x = node.tensor()
    if "starts" in node.attributes:
        starts, stops = list(node.attributes["starts"]), list(node.attributes["ends"])
        axes, steps = list(node.attribute("axes", range(len(starts)))), [1] * len(starts)
    else:
        starts, stops = node.integers(1, "the starts"), node.integers(2, "the ends")
        axes = node.integers(3, "the axes") if node.has(3) else list(range(len(starts)))
        steps = node.integers(4, "the steps") if node.has(4) else [1] * len(starts)
    for found, what in ((stops, "ends"), (axes, "axes"), (steps, "steps")):
        node.several(found, len(starts), f"{what}, one for each start")
    for start, stop, axis, step in zip(starts, stops, node.distinct(axes, x.ndim), steps, strict=True):
        if not step:
            raise node.fault("expected steps other than 0, found 0; correct them")
        places = _range(x.shape[axis], start, stop, step)
        if not len(places):
            return _empty(node, x, axis)
        first, last = places[0], places[-1] + 1
        x = x[(*[slice(None)] * axis, slice(first, last))] if step == 1 else pick(x, axis, np.array(places))
    return x


def _range(extent: int, start: int, stop: int, step: int) -> range:
    """Return the places of a slice: negative ends count from the end, and ends are clamped to the axis."""
    start, stop = (end + extent if end < 0 else end for end in (start, stop))
    if step > 0:
        return range(min(max(start, 0), extent), min(max(stop, 0), extent), step)
    return range(min(max(start, 0), extent - 1), min(max(stop, -1), extent - 1), step)


@operator("Pad", moves=True)
def _pad(node: Node) -> Result:
    x = node.tensor()
    pads = node.integers(1, "the pads") if node.has(1) else list(node.attribute("pads", []))
    axes = node.distinct(node.integers(3, "the axes"), x.ndim) if node.has(3) else tuple(range(x.ndim))
    node.several(pads, 2 * len(axes), "pads, two for each axis")
    before, after = [0] * x.ndim, [0] * x.ndim
    for place, axis in enumerate(axes):
        before[axis], after[axis] = pads[place], pads[place + len(axes)]
    mode = node.choice("mode", "constant", "reflect", "edge", "wrap")
    value = node.scalar(2, "the value") if node.has(2) else node.attribute("value", 0.0)
    if mode == "constant":
        value = MASKED if isinstance(value, float) and value <= MASKS else value
        made, (low, high) = pad(x, before, after, float(value)), node.interval()
        return Made(made, None, (min(low, int(value)), max(high, int(value)))) if node.whole else made
    for axis in range(x.ndim):
        cut = [max(-pads, 0) for pads in (before[axis], after[axis])]
        extent = x.shape[axis] - sum(cut)
        wide = [max(before[axis], 0), max(after[axis], 0)]
        if extent < 1 or max(wide) > (extent - (mode == "reflect") if mode != "edge" else 1 << 26):
            raise node.fault(f"expected pads below the extent {extent} of axis {axis}, found {wide}; correct them")
        places = np.pad(np.arange(extent) + cut[0], wide, mode=mode)  # type: ignore[call-overload]  # of the four words
        x = pick(x, axis, places) if (before[axis], after[axis]) != (0, 0) else x
    return x


@operator("DepthToSpace", "SpaceToDepth", moves=True)
def _depth(node: Node) -> Tensor:
    x, size = node.ranked(node.tensor(), 4, 4), node.attributes["blocksize"]
    batch, channels, height, width = x.shape
    columns_first = node.choice("mode", "DCR", "CRD") == "DCR"
    if size < 1 or (channels % size**2 if node.operator == "DepthToSpace" else height % size or width % size):
        raise node.fault(f"expected a block size that divides {list(x.shape)}, found {size}; correct it")
    if node.operator == "SpaceToDepth":
        blocks = x.reshape(batch, channels, height // size, size, width // size, size)
        blocks = blocks.transpose(*((0, 3, 5, 1, 2, 4) if columns_first else (0, 1, 3, 5, 2, 4)))
        return blocks.reshape(batch, channels * size**2, height // size, width // size)
    kept = channels // size**2
    if columns_first:
        blocks = x.reshape(batch, size, size, kept, height, width).transpose(0, 3, 4, 1, 5, 2)
    else:
        blocks = x.reshape(batch, kept, size, size, height, width).transpose(0, 1, 4, 2, 5, 3)
    return blocks.reshape(batch, kept, height * size, width * size)


@operator("CenterCropPad", moves=True)
def _center(node: Node) -> Tensor:
    x, wanted = node.tensor(), node.integers(1, "the shape")
    axes = node.distinct(node.attribute("axes", range(x.ndim)), x.ndim)
    node.several(wanted, len(axes), "extents, one for each axis")
    if min(wanted, default=1) < 1:
        raise node.fault(f"expected extents of at least 1, found {wanted}; correct the shape")
    before, after = [0] * x.ndim, [0] * x.ndim
    for axis, extent in zip(axes, wanted, strict=True):
        more = extent - x.shape[axis]
        # What cannot be halved goes after where elements are added, and before where they are cut.
        before[axis] = more // 2 if more > 0 else -(-more // 2)
        after[axis] = more - before[axis]
    return pad(x, before, after)

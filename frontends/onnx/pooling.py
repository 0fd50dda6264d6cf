"""ONNX operators on sliding windows: the windows, and pooling."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits import arrays
from circuitize.frontends.functions import argmax_one_hot, exp, first_maximum, log, maximum
from circuitize.frontends.tensor import Tensor

from .channels import channels_first, channels_last
from .elements import INT64
from .model import MOST
from .node import NUMBERS, Made, Node, Result, operator
from .places import pad, pick
from .reductions import greatest

GREATEST_DEGREE = 16


@dataclass(frozen=True)
class Spatial:
    """The windows along the last axes: their sizes, the steps between them, the gaps inside them, and padding."""

    sizes: tuple[int, ...]
    steps: tuple[int, ...]
    gaps: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]


def spatial(node: Node, extents: tuple[int, ...], sizes: tuple[int, ...], whole: bool = True) -> Spatial:
    """Return an ONNX node's windows; without `whole` (ceil_mode), the last window may begin inside and end outside the
    axis.
    """
    rank = len(extents)
    node.several(sizes, rank, "kernel extents, one for each axis of positions")
    steps = tuple(positive(node, "strides", rank))
    gaps = tuple(positive(node, "dilations", rank))
    automatic = node.choice("auto_pad", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
    pads = paddings(node, rank, automatic)
    reach = [gap * (size - 1) + 1 for gap, size in zip(gaps, sizes, strict=True)]
    if automatic.startswith("SAME"):
        counts = [-(-extent // step) for extent, step in zip(extents, steps, strict=True)]
        over = [max((c - 1) * s + r - e, 0) for c, s, r, e in zip(counts, steps, reach, extents, strict=True)]
        less, more = [o // 2 for o in over], [o - o // 2 for o in over]
        pads = less + more if automatic == "SAME_UPPER" else more + less
    before, after = pads[:rank], pads[rank:]
    if not whole:
        for axis in range(rank):
            room = extents[axis] + before[axis] + after[axis] - reach[axis]
            count = -(-room // steps[axis]) + 1
            if (count - 1) * steps[axis] >= extents[axis] + before[axis]:
                count -= 1
            after[axis] += max((count - 1) * steps[axis] - room, 0)
    full = [extent + b + a for extent, b, a in zip(extents, before, after, strict=True)]
    if min(sizes) < 1 or any(r > f for r, f in zip(reach, full, strict=True)):
        raise node.fault(f"expected windows within {full}, padding included, found {reach}; correct kernel_shape")
    return Spatial(tuple(sizes), steps, gaps, tuple(before), tuple(after))


def positive(node: Node, name: str, rank: int) -> list[int]:
    """Return an attribute of an ONNX node with one number, at least 1, for each axis of positions; if the attribute is
    not given, all numbers are 1.
    """
    found = node.several(node.attribute(name, [1] * rank), rank, name)
    if min(found, default=1) < 1 or max(found, default=1) > MOST:
        raise node.fault(f"expected {name} from 1 to {MOST}, found {found}; correct them")
    return found


def paddings(node: Node, rank: int, automatic: str) -> list[int]:
    """Return the ONNX node's attribute `pads`: the padding before each axis of positions, then the padding after
    each.
    """
    pads = node.several(node.attribute("pads", [0] * (2 * rank)), 2 * rank, "pads, two for each axis of positions")
    if min(pads, default=0) < 0 or max(pads, default=0) > MOST:
        raise node.fault(f"expected pads from 0 to {MOST}, found {pads}; correct them")
    if any(pads) and automatic != "NOTSET":
        raise node.fault(f"expected pads or auto_pad, found pads {pads} and {automatic}; leave one out")
    return pads


def windows(x: Tensor, places: Spatial, repeated: bool = False) -> Tensor:
    """Return the windows [B, extents..., C] -> [B, positions..., C, window...]; the padding around x is zeros, or
    repeats a window's own elements.
    """
    rank = len(places.sizes)
    if repeated and _out_of_reach(places):
        return _window_by_window(x, places)
    axes = tuple(range(1, rank + 1))
    if repeated:
        for axis, before, after in zip(axes, places.before, places.after, strict=True):
            extent = x.shape[axis]
            if before or after:
                x = pick(x, axis, np.clip(np.arange(-before, extent + after), 0, extent - 1))
    else:
        x = pad(x, [0, *places.before, 0], [0, *places.after, 0])
    return x.apply(arrays.Window(axes, places.sizes, places.steps, places.gaps))


def _out_of_reach(places: Spatial) -> bool:
    """Return whether some window may hold padding without holding the element next to it."""
    sides = zip(places.before, places.after, places.sizes, places.gaps, strict=True)
    return any(max(before, after) >= size or (max(before, after) and gap > 1) for before, after, size, gap in sides)


def _window_by_window(x: Tensor, places: Spatial) -> Tensor:
    """Return the windows in which padding is replaced by the window's first element that is no padding."""
    for number in range(len(places.sizes)):
        axis = 1 + number
        x = pick(x, axis, own_places(x.shape[axis], places, number))
        # Behind each position axis that is done stands none of its window's: those go last.
        x = x.transpose(*range(axis + 1), *range(axis + 2, x.ndim), axis + 1)
    return x


def own_places(extent: int, places: Spatial, number: int) -> NDArray[np.int64]:
    """Return for one axis [positions, window] each element's place, or for padding the place of the window's first
    element.
    """
    before, after = places.before[number], places.after[number]
    chosen = _places(extent + before + after, places, number) - before
    inside = (chosen >= 0) & (chosen < extent)
    first = np.take_along_axis(chosen, inside.argmax(1)[:, None], 1)
    return np.where(inside, chosen, first)


def _places(extent: int, places: Spatial, number: int) -> NDArray[np.int64]:
    """Return for one axis [positions, window] the place of each element in the padded axis."""
    size, gap = places.sizes[number], places.gaps[number]
    starts = np.arange(0, extent - gap * (size - 1), places.steps[number])
    return starts[:, None] + gap * np.arange(size)


def _flat(x: Tensor, rank: int) -> Tensor:
    """Return x with the window's axes merged into one."""
    shape = x.shape[: x.ndim - rank]
    return x.reshape(*shape, math.prod(x.shape[x.ndim - rank :]))


@operator("MaxPool", kinds=NUMBERS)
def _greatest(node: Node) -> Result | list[Result]:
    """Return the maximum of each window, and on request the index of that maximum in the flattened input; of equal
    maxima the first counts.
    """
    x, places = _pooled(node)
    rank = len(places.sizes)
    flat = _flat(windows(x, places, repeated=True), rank)
    made = node.kept(channels_first(first_maximum(flat)), node.interval())
    columns = node.flag("storage_order", 0)
    if node.outputs < 2:
        return made
    extents, table, step = x.shape[1:-1], np.zeros((1,) * (2 * rank)), 1
    for number in range(rank) if columns else reversed(range(rank)):
        shape = [1] * (2 * rank)
        own = own_places(extents[number], places, number)
        shape[number], shape[rank + number] = own.shape
        table, step = table + step * own.reshape(shape), step * extents[number]
    images = np.arange(x.shape[0] * x.shape[-1]).reshape(x.shape[0], *[1] * rank, x.shape[-1]) * float(step)
    spots = table.reshape(*table.shape[:rank], 1, -1)
    found = channels_first((argmax_one_hot(flat) * spots).sum(-1) + images)
    return [made, Made(found, INT64, (0, max(x.size - 1, 0)))]


def _pooled(node: Node) -> tuple[Tensor, Spatial]:
    """Return the input of an ONNX pooling node with its channels last, and the node's windows."""
    x, sizes = node.ranked(node.tensor(), 3, 5), tuple(node.attributes["kernel_shape"])
    same = str(node.attribute("auto_pad", "")).startswith("SAME")
    if same and any(gap != 1 for gap in node.attribute("dilations", [])):
        raise node.fault("expected auto_pad or dilations, found both, which runtimes read differently; give pads")
    if same and any(step > size for step, size in zip(node.attribute("strides", []), sizes, strict=False)):
        raise node.fault("expected windows of at least the strides beside auto_pad, found smaller ones; give pads")
    return channels_last(x), spatial(node, x.shape[2:], sizes, whole=not node.flag("ceil_mode", 0))


@operator("AveragePool", "LpPool")
def _average(node: Node) -> Tensor:
    x, places = _pooled(node)
    sizes = places.sizes
    if node.operator == "LpPool":
        return channels_first(_norm(node, _flat(windows(x, places), len(sizes))))
    total = _flat(windows(x, places), len(sizes)).sum(-1)
    counts = _counts(x.shape[1:-1], places, node, node.flag("count_include_pad", 0))
    share = 1.0 / float(counts.flat[0]) if (counts == counts.flat[0]).all() else (1.0 / counts)[..., None]
    return channels_first(total * share)


def _counts(extents: tuple[int, ...], places: Spatial, node: Node, padding: bool) -> NDArray[np.float64]:
    """Return how many elements each window has: with `padding` this includes the padding that the ONNX node states, but
    never the padding that ceil_mode adds.
    """
    counts = np.ones(())
    asked = spatial(node, extents, places.sizes)
    for axis, extent in enumerate(extents):
        before, after = places.before[axis], places.after[axis]
        line = np.zeros(extent + before + after)
        line[0 if padding else before : before + extent + (asked.after[axis] if padding else 0)] = 1.0
        counts = counts[..., None] * line[_places(len(line), places, axis)].sum(-1)
    return counts


def _norm(node: Node, x: Tensor) -> Tensor:
    """Return the norm along the last axis, which the result lacks."""
    degree = int(node.attribute("p", 2))
    if not 1 <= degree <= GREATEST_DEGREE:
        raise node.fault(f"expected p from 1 to {GREATEST_DEGREE}, found {degree}; correct it")
    if degree == 2:
        return x.apply(arrays.Norm(x.ndim - 1))
    total = (maximum(x, -x) ** degree if degree % 2 else x**degree).sum(-1)
    return total if degree == 1 else exp(log(total) * (1 / degree))


@operator("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def _global(node: Node) -> Tensor:
    x = node.ranked(node.tensor(), 3, 5)
    axes = tuple(range(1, x.ndim - 1))
    if node.operator == "GlobalMaxPool":
        return channels_first(greatest(channels_last(x), axes))
    if node.operator == "GlobalLpPool":
        return _norm(node, x.reshape(*x.shape[:2], -1)).reshape(*x.shape[:2], *[1] * len(axes))
    return channels_first(channels_last(x).mean(axes, keepdims=True))

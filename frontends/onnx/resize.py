"""ONNX's Resize and Upsample: along each axis, values between elements are computed with weights that are known when
the graph is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from circuitize.frontends.tensor import Tensor

from .node import NUMBERS, Made, Node, Result, operator
from .places import pick, weighed

Reals = NDArray[np.float64]
ROUNDED: dict[str, Callable[[Reals], Reals]] = {
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}
POSITIONS = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
)


@dataclass(frozen=True)
class Axis:
    """One axis that is resized: its extent before and after, its scale, and the part of the axis that is read."""

    extent: int
    made: int
    scale: float
    begin: float = 0.0
    end: float = 1.0

    def positions(self, mode: str) -> Reals:
        """Return the position in the old axis at which each new element stands."""
        places, length = np.arange(self.made, dtype=np.float64), self.scale * self.extent
        if mode == "align_corners":
            return places * ((self.extent - 1) / (length - 1)) if length != 1 else places * 0.0
        if mode == "asymmetric":
            return places / self.scale
        if mode == "tf_crop_and_resize":
            reach = (self.end - self.begin) * (self.extent - 1)
            inside = places * (reach / (length - 1)) if length != 1 else places * 0.0 + reach / 2
            return inside + self.begin * (self.extent - 1)
        if mode == "tf_half_pixel_for_nn":
            return (places + 0.5) / self.scale
        if mode == "pytorch_half_pixel" and length == 1:
            return places * 0.0 - 0.5
        shift = self.extent / 2 * (1 - self.made / length) if mode == "half_pixel_symmetric" else 0.0
        return shift + (places + 0.5) / self.scale - 0.5


def cubic(distances: Reals, a: float) -> Reals:
    """Return the cubic convolution kernel at distances from 0 on: Keys, 1981, equation 4, with the coefficient -1/2
    replaced by a.
    """
    near = ((a + 2) * distances - (a + 3)) * distances**2 + 1
    far = ((a * distances - 5 * a) * distances + 8 * a) * distances - 4 * a
    return np.where(distances <= 1, near, np.where(distances < 2, far, 0.0))


def _weights(node: Node, axis: Axis, positions: Reals, mode: str) -> Reals:
    """Return weights [made, extent], which say how much each new element reads of each old element."""
    squeeze = min(axis.scale, 1.0) if node.flag("antialias", 0) else 1.0
    reach = (2 if mode == "cubic" else 1) / squeeze
    first = np.floor(positions - reach).astype(np.int64)
    taps = first[:, None] + np.arange(math.ceil(2 * reach) + 2)
    distances = np.abs(taps - positions[:, None]) * squeeze
    a = node.number("cubic_coeff_a", -0.75)
    kernel = cubic(distances, a) if mode == "cubic" else np.maximum(1 - distances, 0.0)
    outside = (taps < 0) | (taps >= axis.extent)
    if node.flag("exclude_outside", 0):
        kernel = np.where(outside, 0.0, kernel)
    total = kernel.sum(1, keepdims=True)
    kernel = kernel / np.where(total == 0.0, 1.0, total)
    matrix = np.zeros((axis.made, axis.extent))
    np.add.at(matrix, (np.arange(axis.made)[:, None], np.clip(taps, 0, axis.extent - 1)), kernel)
    return matrix


@operator("Resize", "Upsample", kinds=NUMBERS, ignores=("cubic_coeff_a", "exclude_outside"))
def _resize(node: Node) -> Result:
    """Return x resized; the scales or extents of Resize must be known when the ONNX graph is read. In ONNX's Resize,
    whole numbers are resized only by taking the nearest element.
    """
    x = node.tensor()
    old = node.operator == "Upsample" or node.version < 11
    mode = node.choice("mode", "nearest", "linear", *([] if old else ["cubic"]))
    if mode != "nearest" and node.element.kind != "float":
        raise node.fault(f"expected mode nearest for {node.element.name}, found {mode}; cast the input")
    position = "asymmetric" if old else node.choice("coordinate_transformation_mode", *POSITIONS)
    rounded = "floor" if old else node.choice("nearest_mode", *ROUNDED)
    if mode == "nearest" and node.flag("antialias", 0):
        raise node.fault("expected antialias for modes linear and cubic, found nearest; leave it out")
    value = node.number("extrapolation_value", 0.0)
    for place, axis in _axes(node, x, old, position).items():
        crops = position == "tf_crop_and_resize" and (axis.begin, axis.end) != (0.0, 1.0)
        if axis.scale == 1.0 and axis.made == axis.extent and not crops:
            continue
        node.bounded(x.size // axis.extent * axis.made, "the result")
        positions = axis.positions(position)
        if mode == "nearest":
            near = np.clip(ROUNDED[rounded](positions), 0, axis.extent - 1).astype(np.int64)
            x = pick(x, place, near)
        else:
            node.bounded(axis.extent * axis.made, "the weights")
            x = weighed(x, place, _weights(node, axis, positions, mode))
        beyond = (positions < 0) | (positions > axis.extent - 1)
        if position == "tf_crop_and_resize" and beyond.any():
            inside = np.where(beyond, 0.0, 1.0).reshape(-1, *[1] * (x.ndim - place - 1))
            x = x * inside + (1.0 - inside) * value
    low, high = node.interval()
    if position == "tf_crop_and_resize":
        low, high = min(low, int(value)), max(high, int(value))
    return Made(x, None, (low, high))


def _axes(node: Node, x: Tensor, old: bool, position: str) -> dict[int, Axis]:
    """Return the numbers of the axes that an ONNX node resizes."""
    given = node.attribute("axes", None)
    axes = node.distinct(given, x.ndim) if given is not None else tuple(range(x.ndim))
    scales, sizes = _scales(node, old), None
    if scales is None:
        if not node.has(3):
            raise node.fault("expected scales or sizes, found neither; give one")
        sizes = node.several(node.integers(3, "the sizes"), len(axes), "sizes, one for each axis")
    elif len(scales) != len(axes) or not all(math.isfinite(s) and s > 0 for s in scales):
        raise node.fault(f"expected {len(axes)} scales above 0, one for each axis, found {scales}; correct them")
    extents = [x.shape[axis] for axis in axes]
    policy = node.choice("keep_aspect_ratio_policy", "stretch", "not_larger", "not_smaller")
    if sizes is not None:
        scales = [size / extent for size, extent in zip(sizes, extents, strict=True)]
        if policy != "stretch":
            one = min(scales) if policy == "not_larger" else max(scales)
            scales, sizes = [one] * len(axes), [math.floor(one * extent + 0.5) for extent in extents]
    assert scales is not None
    if sizes is None:
        sizes = [math.floor(scale * extent) for scale, extent in zip(scales, extents, strict=True)]
    if min(sizes, default=1) < 1:
        raise node.fault(f"expected results of at least one element, found extents {sizes}; correct them")
    node.bounded(math.prod([*sizes, *(n for axis, n in enumerate(x.shape) if axis not in axes)]), "the result")
    parts = [0.0] * len(axes) + [1.0] * len(axes)
    if position == "tf_crop_and_resize":
        parts = [float(entry) for entry in np.asarray(node.known(1, "the part that is read")).reshape(-1)]
        if len(parts) != 2 * len(axes):
            raise node.fault(f"expected a begin and an end for each of {len(axes)} axes, found {parts}; correct roi")
    return {
        axis: Axis(*found)
        for axis, *found in zip(axes, extents, sizes, scales, parts[: len(axes)], parts[len(axes) :], strict=True)
    }


def _scales(node: Node, old: bool) -> list[float] | None:
    if old and "scales" in node.attributes:
        return [float(scale) for scale in node.attributes["scales"]]
    index = 1 if old else 2
    found = np.asarray(node.known(index, "the scales")).reshape(-1) if node.has(index) else np.zeros(0)
    return [float(scale) for scale in found] if found.size else None

"""Random inputs and attributes for every ONNX operator that is read: what `onnx_graphs` makes nodes of."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from circuitize.frontends.onnx.elements import NAMED, Element
from circuitize.frontends.onnx.schema import Signature

Random = np.random.Generator
Shape = tuple[int, ...]
NUMPY = {"float": np.float32, "double": np.float64, "float16": np.float16}
READ = sorted(name for name in NAMED if name != "tensor(bfloat16)")


class Draw:
    """One node under construction: its inputs, which of them are initializers, its attributes."""

    def __init__(self, random: Random, operator: str, opset: int, signature: Signature) -> None:
        self.random, self.operator, self.opset, self.signature = random, operator, opset, signature
        self.inputs: list[tuple[np.ndarray[Any, Any], Element, bool] | None] = []
        self.attributes: dict[str, Any] = {}
        self.outputs = 1
        self.bound: dict[str, Element] = {}

    def chance(self, share: float) -> bool:
        return bool(self.random.random() < share)

    def whole(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def one(self, choices: Sequence[Any]) -> Any:
        return choices[int(self.random.integers(len(choices)))]

    def shape(self, least: int = 0, most: int = 4, extent: int = 4) -> Shape:
        if self.chance(0.01):
            extent = 0
        return tuple(self.whole(min(1, extent), extent) for _ in range(self.whole(least, most)))

    def element(self, index: int) -> Element:
        """The element type of an input: bound by its variable, or drawn from those that the schema allows."""
        formal = self.signature.formal(index)
        found = self.bound.get(formal.variable)
        if found is None or (not formal.homogeneous):
            allowed = [name for name in READ if name in formal.types]
            name = "tensor(float)" if "tensor(float)" in allowed and self.chance(0.5) else self.one(allowed or READ)
            found = self.bound.setdefault(formal.variable, NAMED[name])
        return found

    def give(self, shape: Shape, domain: str = "any", known: float = 0.2) -> np.ndarray[Any, Any]:
        """One more input of that shape, with elements of a domain; an initializer so often."""
        element = self.element(len(self.inputs))
        array = elements(self.random, element, shape, domain)
        self.inputs.append((array, element, self.chance(known)))
        return array

    def fixed(self, values: Any, known: float = 0.95) -> None:
        """One more input with these elements: what decides about shapes."""
        element = self.element(len(self.inputs))
        array = np.asarray(values)
        array = array.astype(NUMPY.get(element.name, element.name)) if array.size else np.zeros(array.shape, np.int64)
        self.inputs.append((array, element, self.chance(known)))

    def skip(self) -> None:
        self.inputs.append(None)

    def maybe(self, name: str, value: Any, share: float = 0.5) -> Any:
        """An attribute, given so often where the opset has it; its value or None."""
        if name in self.signature.attributes and self.chance(share):
            self.attributes[name] = value
            return value
        return None

    def axis(self, rank: int) -> int:
        """An axis, negative ones among them, seldom one that there is not."""
        if self.chance(0.01):
            return self.one([rank, -rank - 1, 1 << 40, -(1 << 62)])
        return self.whole(-rank if self.opset >= 11 or self.chance(0.05) else 0, rank - 1) if rank else 0

    def axes(self, rank: int) -> list[int]:
        found = [int(axis) for axis in self.random.permutation(rank)[: self.whole(0, rank)]]
        return [axis - rank if self.opset >= 13 and self.chance(0.3) else axis for axis in found]


def elements(random: Random, element: Element, shape: Shape, domain: str) -> np.ndarray[Any, Any]:
    if element.kind == "bool":
        return random.integers(0, 2, shape).astype(np.bool_)
    if element.kind == "int":
        low, high = max(element.low, -(1 << 52)), min(element.high, 1 << 52)
        if domain == "small":
            low, high = max(low, -4), min(high, 4)
        kind = int(random.integers(3))
        near = random.integers(max(low, -9), min(high, 9), shape, endpoint=True)
        anywhere = random.integers(low, high, shape, endpoint=True)
        corners = np.array([low, high, low + 1, high - 1, 0, 1, min(high, 7)])
        chosen = (near, anywhere, corners[random.integers(0, len(corners), shape)])[kind]
        if domain == "nonzero":
            chosen = np.where(chosen == 0, 3, chosen)
        return np.asarray(chosen).astype(element.name)
    values = random.normal(0, 2, shape)
    if random.random() < 0.3:
        values = np.round(values * 2) / 2
    elif random.random() < 0.1:
        values = values * 10
    if domain == "positive":
        values = np.abs(values) + 0.1
    elif domain == "above one":
        values = np.abs(values) + 1.05
    elif domain == "inside one":
        values = np.tanh(values) * 0.9
    elif domain == "nonzero":
        values = np.where(np.abs(values) < 0.1, 0.7, values)
    elif domain == "small":
        values = np.clip(values, -4, 4)
    return np.asarray(values).astype(NUMPY[element.name])


def broadcast(draw: Draw, count: int, domain: str = "any", last: str | None = None) -> None:
    """Inputs whose shapes broadcast."""
    full = draw.shape()
    for index in range(count):
        kept = full[draw.whole(0, len(full)) if draw.chance(0.3) and index else 0 :]
        shape = tuple(1 if draw.chance(0.15) else extent for extent in kept)
        draw.give(shape, domain if index < count - 1 or last is None else last)


def unary(domain: str = "any") -> Callable[[Draw], None]:
    def recipe(draw: Draw) -> None:
        draw.give(draw.shape(), domain)
        for name in ("alpha", "beta", "gamma", "lambd", "bias"):
            draw.maybe(name, float(np.float32(draw.random.normal(0.5, 0.7))))
        draw.maybe("approximate", draw.one(["none", "tanh"]))

    return recipe


def variadic(draw: Draw) -> None:
    broadcast(draw, draw.whole(1, 4))


def divide(draw: Draw) -> None:
    broadcast(draw, 2, "any", "nonzero" if draw.chance(0.97) else "any")


def power(draw: Draw) -> None:
    base = draw.shape()
    draw.give(base, "small")
    shape = base[draw.whole(0, len(base)) :]
    exponents = draw.random.integers(0 if draw.chance(0.5) else -1, 4, shape)
    draw.fixed(exponents + (0.5 if draw.chance(0.05) else 0), 0.9)


def clip(draw: Draw) -> None:
    draw.give(draw.shape())
    if draw.opset < 11:
        draw.maybe("min", float(draw.whole(-3, 1)))
        draw.maybe("max", float(draw.whole(-1, 4)))
        return
    for _ in range(draw.whole(0, 2)):
        draw.skip() if draw.chance(0.2) else draw.give((), "small", 0.6)


def cast(draw: Draw) -> None:
    draw.give(draw.shape(), "small" if draw.chance(0.3) else "any")
    draw.attributes["to"] = draw.one([1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13])


def cast_like(draw: Draw) -> None:
    draw.give(draw.shape(), "small" if draw.chance(0.3) else "any")
    draw.give(draw.shape())


def dropout(draw: Draw) -> None:
    draw.give(draw.shape())
    draw.outputs = draw.whole(1, 2)
    draw.maybe("ratio", 0.3)


def parametric(draw: Draw) -> None:
    shape = draw.shape(1)
    draw.give(shape)
    draw.give(tuple(1 if draw.chance(0.3) else extent for extent in shape[draw.whole(0, len(shape)) :]))


def reduction(domain: str = "any") -> Callable[[Draw], None]:
    def recipe(draw: Draw) -> None:
        shape = draw.shape(0 if draw.opset >= 13 else 1, 4, 3)
        draw.give(shape, domain)
        axes = draw.axes(len(shape))
        if draw.chance(0.02):
            axes.append(draw.axis(len(shape)))
        if "axes" in draw.signature.attributes:
            if axes:
                draw.maybe("axes", axes, 0.7)
        elif draw.chance(0.7):
            draw.fixed(np.array(axes, np.int64))
        draw.maybe("keepdims", draw.whole(0, 1))
        draw.maybe("noop_with_empty_axes", draw.whole(0, 1), 0.3)

    return recipe


def along(draw: Draw) -> None:
    shape = draw.shape(1, 4)
    draw.give(shape)
    for name, share in (("axis", 0.7), ("keepdims", 0.5), ("select_last_index", 0.5)):
        draw.maybe(name, draw.axis(len(shape)) if name == "axis" else draw.whole(0, 1), share)
    draw.maybe("p", draw.one([1, 2, 2]))


def cumulative(draw: Draw) -> None:
    shape = draw.shape(1, 3)
    draw.give(shape, "small")
    draw.fixed(np.array(draw.axis(len(shape))) if draw.chance(0.9) else np.array([draw.whole(0, len(shape) - 1)]))
    draw.maybe("exclusive", draw.whole(0, 1))
    draw.maybe("reverse", draw.whole(0, 1))


def top(draw: Draw) -> None:
    shape = draw.shape(1, 3)
    axis = draw.axis(len(shape))
    array = draw.give(shape)
    extent = shape[axis] if -len(shape) <= axis < len(shape) else 1
    draw.maybe("axis", axis, 0.7)
    extent = extent if "axis" in draw.attributes else shape[-1]
    count = draw.whole(1, max(extent, 1)) if draw.chance(0.97) else extent + 1
    if draw.opset < 10:
        draw.attributes["k"] = count
    else:
        draw.fixed(np.array([count]))
    draw.maybe("largest", draw.whole(0, 1))
    draw.outputs = 2
    del array


def reshape(draw: Draw) -> None:
    shape = draw.shape()
    draw.give(shape)
    wanted = [int(extent) for extent in draw.random.permutation(shape)] if shape else []
    while draw.chance(0.5) and wanted:
        place = draw.whole(0, len(wanted) - 1)
        wanted[place : place + 2] = [math.prod(wanted[place : place + 2])]
    if draw.chance(0.3):
        wanted.append(1)
    if wanted and draw.chance(0.3):
        wanted[draw.whole(0, len(wanted) - 1)] = -1
    if wanted and draw.chance(0.05):
        wanted[0] = draw.one([0, -1, 7, 1 << 40])
    draw.fixed(np.array(wanted, np.int64))
    draw.maybe("allowzero", draw.whole(0, 1), 0.2)


def flatten(draw: Draw) -> None:
    shape = draw.shape(0)
    draw.give(shape)
    draw.maybe("axis", draw.one([*range(len(shape) + 1), draw.axis(len(shape))]))


def squeeze(draw: Draw) -> None:
    shape = tuple(1 if draw.chance(0.5) else extent for extent in draw.shape(1))
    draw.give(shape)
    ones = [a - len(shape) * (draw.opset >= 11 and draw.chance(0.3)) for a, extent in enumerate(shape) if extent == 1]
    if draw.chance(0.05):
        ones.append(draw.axis(len(shape)))
    if ones and draw.chance(0.7):
        if draw.opset < 13:
            draw.attributes["axes"] = ones
        else:
            draw.fixed(np.array(ones))


def unsqueeze(draw: Draw) -> None:
    shape, count = draw.shape(0, 3), draw.whole(1, 2)
    draw.give(shape)
    rank = len(shape) + count
    axes = [int(a) - rank * (draw.opset >= 11 and draw.chance(0.3)) for a in draw.random.permutation(rank)[:count]]
    if draw.opset < 13:
        draw.attributes["axes"] = axes
    else:
        draw.fixed(np.array(axes))


def transpose(draw: Draw) -> None:
    shape = draw.shape()
    draw.give(shape)
    if shape:
        draw.maybe("perm", [int(axis) for axis in draw.random.permutation(len(shape))], 0.7)


def expand(draw: Draw) -> None:
    full = draw.shape(1)
    kept = full[draw.whole(0, len(full)) :]
    draw.give(tuple(1 if draw.chance(0.5) else extent for extent in kept))
    wanted = [1 if draw.chance(0.1) else extent for extent in full]
    if draw.chance(0.03):
        wanted[0] = draw.one([0, -1, 1 << 40, 5])
    draw.fixed(np.array(wanted))


def tile(draw: Draw) -> None:
    shape = draw.shape(1, 3)
    draw.give(shape)
    repeats = [draw.whole(1, 3) for _ in shape]
    if draw.chance(0.03):
        repeats[0] = draw.one([0, -1, 1 << 40])
    draw.fixed(np.array(repeats))


def concatenate(draw: Draw) -> None:
    shape = list(draw.shape(1))
    axis = draw.axis(len(shape))
    for _ in range(draw.whole(1, 3)):
        if -len(shape) <= axis < len(shape):
            shape[axis] = draw.whole(1, 3)
        draw.give(tuple(shape))
    draw.attributes["axis"] = axis


def split(draw: Draw) -> None:
    shape = list(draw.shape(1, 3))
    axis = draw.axis(len(shape))
    inside = axis if -len(shape) <= axis < len(shape) else 0
    draw.outputs = draw.whole(1, 3)
    sizes = [draw.whole(1, 2) for _ in range(draw.outputs)]
    equal = draw.chance(0.5)
    shape[inside] = draw.outputs * draw.whole(1, 2) if equal else sum(sizes)
    draw.give(tuple(shape))
    draw.attributes["axis"] = axis
    if not equal and draw.opset < 13:
        draw.attributes["split"] = sizes
    elif not equal:
        draw.fixed(np.array(sizes))
    elif draw.opset >= 18:
        draw.attributes["num_outputs"] = draw.outputs


def slices(draw: Draw) -> None:
    shape = draw.shape(1, 3, 5)
    draw.give(shape)
    axes = draw.axes(len(shape)) or [0]
    far = [-(1 << 63), (1 << 63) - 1, 1 << 31]
    starts = [draw.one(far) if draw.chance(0.05) else draw.whole(-5, 5) for _ in axes]
    stops = [draw.one(far) if draw.chance(0.2) else draw.whole(-6, 6) for _ in axes]
    if draw.opset < 10:
        draw.attributes |= {"starts": starts, "ends": stops, "axes": axes}
        return
    for given in (starts, stops, axes, [draw.one([1, 1, 2, -1, -2, 3]) for _ in axes]):
        draw.fixed(np.array(given, np.int64))


def padding(draw: Draw) -> None:
    shape = draw.shape(1, 3)
    draw.give(shape)
    mode = draw.maybe("mode", draw.one(["constant", "constant", "edge", "reflect", *(["wrap"] * (draw.opset >= 19))]))
    most = 3 if mode in (None, "constant", "edge") else max(min(shape, default=1) - 1, 0)
    pads = [
        draw.whole(-1 if draw.chance(0.2) and mode in (None, "constant") else 0, most) for _ in range(2 * len(shape))
    ]
    if draw.chance(0.02):
        pads[0] = draw.one([1 << 40, -9, 7])
    if draw.opset < 11:
        draw.attributes["pads"] = pads
        draw.maybe("value", 1.5)
        return
    draw.fixed(np.array(pads))
    if draw.chance(0.5):
        draw.give((), "small", 0.9)


def depth(draw: Draw) -> None:
    size = draw.whole(1, 3)
    b, c, h, w = draw.shape(4, 4, 2) or (1, 1, 1, 1)
    down = draw.operator == "DepthToSpace"
    draw.give((b, c * size**2, h, w) if down else (b, c, h * size, w * size))
    draw.attributes["blocksize"] = size
    draw.maybe("mode", draw.one(["DCR", "CRD"]))


def centre(draw: Draw) -> None:
    shape = draw.shape(1, 3)
    draw.give(shape)
    draw.fixed(np.array([draw.whole(1, 5) for _ in shape]))


def gather(draw: Draw) -> None:
    shape = draw.shape(1, 3)
    draw.give(shape)
    axis = draw.axis(len(shape))
    draw.maybe("axis", axis)
    extent = shape[draw.attributes.get("axis", 0)] if -len(shape) <= axis < len(shape) else 1
    low = -extent if draw.opset >= 11 else 0
    wanted = draw.shape(0, 2, 3) if draw.operator == "Gather" else tuple(draw.whole(1, n) if n else 0 for n in shape)
    if draw.operator != "Gather" and wanted:
        wanted = (
            tuple(
                draw.whole(1, 4) if a == draw.attributes.get("axis", 0) % len(shape) else n
                for a, n in enumerate(wanted)
            )
            if -len(shape) <= axis < len(shape)
            else wanted
        )
    draw.fixed(draw.random.integers(low, max(extent, low + 1), wanted), 0.4)


def where(draw: Draw) -> None:
    broadcast(draw, 3)


def contraction(draw: Draw) -> None:
    inner = draw.whole(1, 4)
    batch = draw.shape(0, 2, 3)
    left, right = (*batch, draw.whole(1, 3), inner), (*batch, inner, draw.whole(1, 3))
    if draw.chance(0.3):
        left = left[len(batch) :]
    if draw.chance(0.2):
        left = left[-1:]
    if draw.chance(0.2):
        right = right[-2:-1]
    draw.give(left, "small")
    draw.give(right, "small")


def gemm(draw: Draw) -> None:
    m, k, n = (draw.whole(1, 4) for _ in range(3))
    a, b = draw.maybe("transA", draw.whole(0, 1)), draw.maybe("transB", draw.whole(0, 1))
    draw.give((k, m) if a else (m, k), "small")
    draw.give((n, k) if b else (k, n), "small")
    if draw.opset < 11 or draw.chance(0.7):
        draw.give(draw.one([(m, n), (n,), (1, n), (m, 1), (1,), ()]), "small")
    draw.maybe("alpha", draw.one([1.0, 0.5, 2.0]), 0.3)
    draw.maybe("beta", draw.one([1.0, 0.5, 0.0]), 0.3)


def einsum(draw: Draw) -> None:
    equation = draw.one(
        [
            "ij,jk->ik",
            "bij,bjk->bik",
            "i,j->ij",
            "ij,ij->",
            "ij,ij->i",
            "ij,j->",
            "ij->ji",
            "ij,jk",
            "bi,bi->b",
            "ii,i->i",
        ]
    )
    extents = {letter: draw.whole(1, 3) for letter in "bijk"}
    for letters in equation.partition("->")[0].split(","):
        draw.give(tuple(extents[letter] for letter in letters), "small")
    draw.attributes["equation"] = equation


def window(draw: Draw, rank: int, sizes: Sequence[int]) -> None:
    draw.maybe("strides", [draw.whole(1, 3) for _ in range(rank)])
    draw.maybe("dilations", [draw.whole(1, 2) for _ in range(rank)], 0.3)
    automatic = draw.maybe("auto_pad", draw.one(["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]), 0.4)
    if automatic in (None, "NOTSET"):
        draw.maybe("pads", [draw.whole(0, max(size - 1, 0)) for size in (*sizes, *sizes)])
    if draw.chance(0.01):
        draw.attributes["strides"] = draw.one([[0] * rank, [1 << 40] * rank, [-1] * rank, [1] * (rank + 1)])


def convolution(draw: Draw) -> None:
    rank, groups = draw.one([1, 1, 2, 2, 3]), draw.whole(1, 2)
    channels, made = groups * draw.whole(1, 2), groups * draw.whole(1, 2)
    sizes = [draw.whole(1, 3) for _ in range(rank)]
    draw.give((draw.whole(1, 2), channels, *(draw.whole(3, 5) for _ in range(rank))), "small")
    turned = draw.operator == "ConvTranspose"
    draw.give((channels, made // groups, *sizes) if turned else (made, channels // groups, *sizes), "small", 0.6)
    if draw.chance(0.5):
        draw.give((made,), "small", 0.6)
    draw.attributes["group"] = groups
    draw.maybe("kernel_shape", sizes)
    window(draw, rank, sizes)
    if turned and draw.chance(0.3):
        draw.attributes["output_padding"] = [
            draw.whole(0, max(s - 1, 0)) for s in draw.attributes.get("strides", [1] * rank)
        ]


def pool(draw: Draw) -> None:
    rank = draw.one([1, 2, 2, 3])
    sizes = [draw.whole(1, 3) for _ in range(rank)]
    draw.give((draw.whole(1, 2), draw.whole(1, 2), *(draw.whole(3, 6) for _ in range(rank))))
    draw.attributes["kernel_shape"] = sizes
    window(draw, rank, sizes)
    draw.maybe("ceil_mode", draw.whole(0, 1), 0.4)
    draw.maybe("count_include_pad", draw.whole(0, 1))
    draw.maybe("p", draw.one([1, 2, 3]))
    draw.maybe("storage_order", draw.whole(0, 1), 0.1)


def everywhere(draw: Draw) -> None:
    draw.give(draw.shape(3, 5, 3))
    draw.maybe("p", draw.one([1, 2, 3]))


def softmax(draw: Draw) -> None:
    shape = draw.shape(1)
    draw.give(shape)
    draw.maybe("axis", draw.axis(len(shape)), 0.7)


def channels(count: int) -> Callable[[Draw], None]:
    def recipe(draw: Draw) -> None:
        groups = draw.whole(1, 2)
        size = draw.whole(1, 3) * groups
        draw.give((draw.whole(1, 2), size, *draw.shape(1, 2, 3)), "small")
        for index in range(count):
            draw.give((size,), "positive" if index == count - 1 else "small")
        draw.maybe("epsilon", float(np.float32(draw.one([1e-5, 1e-3, 0.1]))))
        if draw.operator == "GroupNormalization":
            draw.attributes["num_groups"] = groups
        draw.maybe("momentum", 0.8, 0.1)

    return recipe


def layer(draw: Draw) -> None:
    shape = draw.shape(1, 3)
    axis = draw.axis(len(shape))
    draw.give(shape, "small")
    draw.maybe("axis", axis, 0.7)
    used = draw.attributes.get("axis", -1)
    rest = shape[used:] if -len(shape) <= used < len(shape) else shape
    draw.give(rest, "small")
    if draw.operator == "LayerNormalization" and draw.chance(0.5):
        draw.give(rest, "small")
        draw.outputs = draw.whole(1, 3)
    draw.maybe("epsilon", float(np.float32(draw.one([1e-5, 1e-3, 0.1]))))


def moments(draw: Draw) -> None:
    shape = draw.shape(4, 4, 3)
    draw.give(shape, "small")
    draw.maybe("axes", draw.axes(4) or [0])


def response(draw: Draw) -> None:
    draw.give(draw.shape(4, 4, 4), "small")
    draw.attributes["size"] = draw.whole(1, 5)
    for name, value in (("alpha", 0.3), ("beta", 0.5), ("bias", 2.0)):
        draw.maybe(name, value)


def triangle(draw: Draw) -> None:
    draw.give(draw.shape(2, 4))
    if draw.chance(0.7):
        draw.fixed(np.array(draw.one([0, 1, -1, 2, -5, 1 << 40])))
    draw.maybe("upper", draw.whole(0, 1))


def shape_of(draw: Draw) -> None:
    draw.give(draw.shape())
    draw.maybe("start", draw.whole(-5, 5), 0.3)
    draw.maybe("end", draw.whole(-5, 5), 0.3)


def eye(draw: Draw) -> None:
    draw.give(draw.shape(2, 2))
    draw.maybe("k", draw.one([0, 1, -1, 9, -(1 << 40)]))
    draw.maybe("dtype", draw.one([1, 6, 7, 9, 10, 11]))


def span(draw: Draw) -> None:
    if not draw.chance(0.02):
        for value in (draw.whole(-5, 5), draw.whole(-5, 9), draw.one([1, 2, 3, -1, -2])):
            draw.fixed(np.array(value))
    else:
        for value in (0, draw.one([1 << 14, 5]), draw.one([0, 1])):
            draw.fixed(np.array(value))


def constant_of_shape(draw: Draw) -> None:
    shape = list(draw.shape(0, 3))
    if draw.chance(0.03) and shape:
        shape[0] = draw.one([1 << 40, -1])
    draw.fixed(np.array(shape, np.int64))


def loss(draw: Draw) -> None:
    batch, classes, rest = draw.whole(1, 3), draw.whole(2, 4), draw.shape(0, 2, 3)
    draw.give((batch, classes, *rest), "small")
    draw.fixed(draw.random.integers(0, classes, (batch, *rest)), 0.3)
    if draw.chance(0.4):
        draw.give((classes,), "positive")
    draw.maybe("reduction", draw.one(["none", "mean", "sum"]))
    draw.maybe("ignore_index", draw.one([0, 1, -1]), 0.3)
    if draw.operator == "SoftmaxCrossEntropyLoss":
        draw.outputs = draw.whole(1, 2)


def optimiser(draw: Draw) -> None:
    states = {"Adagrad": 3, "Momentum": 3, "Adam": 4}[draw.operator]
    draw.bound["T1"] = NAMED["tensor(float)"]
    draw.give(())
    draw.fixed(np.array(draw.whole(0, 3)))
    shape = draw.shape(0, 2)
    for index in range(states):
        draw.give(shape, "positive" if index == states - 1 else "small")
    draw.outputs = states - 1
    if draw.operator == "Momentum":
        draw.attributes |= {
            "alpha": 0.9,
            "beta": 0.5,
            "norm_coefficient": 0.1,
            "mode": draw.one(["standard", "nesterov"]),
        }


def gated(draw: Draw) -> None:
    shape = draw.shape()
    draw.give(shape)
    draw.give(shape)


RECIPES: dict[str, Callable[[Draw], None]] = {
    **dict.fromkeys(
        ("Add", "Sub", "Mul", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal", "And", "Or", "Xor"),
        lambda draw: broadcast(draw, 2),
    ),
    **dict.fromkeys(("Sum", "Max", "Min", "Mean"), variadic),
    "Div": divide,
    "Pow": power,
    "Clip": clip,
    "Cast": cast,
    "CastLike": cast_like,
    "Dropout": dropout,
    "PRelu": parametric,
    "Where": where,
    "SwiGLU": gated,
    **dict.fromkeys(("Log", "Sqrt"), unary("positive")),
    "Reciprocal": unary("nonzero"),
    "Acosh": unary("above one"),
    "Atanh": unary("inside one"),
    **dict.fromkeys(
        (
            "ReduceSum",
            "ReduceMean",
            "ReduceL1",
            "ReduceL2",
            "ReduceSumSquare",
            "ReduceMax",
            "ReduceMin",
            "ReduceProd",
            "ReduceLogSumExp",
        ),
        reduction(),
    ),
    "ReduceLogSum": reduction("positive"),
    **dict.fromkeys(("ArgMax", "ArgMin", "LpNormalization"), along),
    "CumSum": cumulative,
    "TopK": top,
    "Reshape": reshape,
    "Flatten": flatten,
    "Squeeze": squeeze,
    "Unsqueeze": unsqueeze,
    "Transpose": transpose,
    "Expand": expand,
    "Tile": tile,
    "Concat": concatenate,
    "Split": split,
    "Slice": slices,
    "Pad": padding,
    "DepthToSpace": depth,
    "SpaceToDepth": depth,
    "CenterCropPad": centre,
    "Gather": gather,
    "GatherElements": gather,
    "MatMul": contraction,
    "Gemm": gemm,
    "Einsum": einsum,
    "Conv": convolution,
    "ConvTranspose": convolution,
    **dict.fromkeys(("MaxPool", "AveragePool", "LpPool"), pool),
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"), everywhere),
    **dict.fromkeys(("Softmax", "LogSoftmax", "Hardmax"), softmax),
    "BatchNormalization": channels(4),
    **dict.fromkeys(("InstanceNormalization", "GroupNormalization"), channels(2)),
    **dict.fromkeys(("LayerNormalization", "RMSNormalization"), layer),
    "MeanVarianceNormalization": moments,
    "LRN": response,
    "Trilu": triangle,
    **dict.fromkeys(("Shape", "Size"), shape_of),
    "EyeLike": eye,
    "Range": span,
    "ConstantOfShape": constant_of_shape,
    **dict.fromkeys(("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"), loss),
    **dict.fromkeys(("Adagrad", "Adam", "Momentum"), optimiser),
}
"""The others are functions of one tensor."""

"""Nodes of ONNX that move, contract or normalise: shapes, slices, gathers, products, convolutions, pooling, norms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from circuitize.circuits import arrays
from circuitize.frontends import convolution, functions, movement
from circuitize.frontends.attention import MASKED
from circuitize.frontends.trace import Tensor

from .nodes import Node, Outside, channels_first, channels_last, operator


@operator("Reshape")
def reshape(node: Node) -> Tensor:
    x, shape = node.tensor(0), node.static(1, "shape")
    if not node.get("allowzero", 0):
        shape = [x.shape[axis] if extent == 0 else extent for axis, extent in enumerate(shape)]
    return x.reshape(*shape)


@operator("Flatten")
def flatten(node: Node) -> Tensor:
    x = node.tensor(0)
    axis = node.get("axis", 1)
    return x.reshape(math.prod(x.shape[: axis if axis >= 0 else axis + x.ndim]), -1)


@operator("Squeeze")
def squeeze(node: Node) -> Tensor:
    x = node.tensor(0)
    axes = node.static(1, "axes")
    gone = {axis % x.ndim for axis in axes} if axes else {i for i, extent in enumerate(x.shape) if extent == 1}
    return x.reshape(*[extent for axis, extent in enumerate(x.shape) if axis not in gone])


@operator("Unsqueeze")
def unsqueeze(node: Node) -> Tensor:
    x, axes = node.tensor(0), np.atleast_1d(node.static(1, "axes")).tolist()
    rank = x.ndim + len(axes)
    new, rest = {axis % rank for axis in axes}, iter(x.shape)
    return x.reshape(*[1 if axis in new else next(rest) for axis in range(rank)])


@operator("Transpose")
def transpose(node: Node) -> Tensor:
    x = node.tensor(0)
    return x.transpose(*node.get("perm", tuple(reversed(range(x.ndim)))))


@operator("Concat")
def concat(node: Node) -> Tensor:
    return functions.concatenate([node.tensor(i) for i in range(len(node.tensors))], node.get("axis"))


@operator("Split")
def split(node: Node) -> Sequence[Tensor]:
    x, axis = node.tensor(0), node.get("axis", 0)
    extents = node.static(1, "split")
    if extents is None:
        size = -(-x.shape[axis] // node.outputs)
        extents = [size] * (node.outputs - 1) + [x.shape[axis] - size * (node.outputs - 1)]
    if min(extents) < 1:
        raise Outside("empty pieces")
    return movement.split(x, extents, axis)


@operator("Slice")
def slices(node: Node) -> Tensor:
    x = node.tensor(0)
    starts, stops = node.static(1, "starts"), node.static(2, "ends")
    axes = node.static(3, "axes") or list(range(len(starts)))
    steps = node.static(4) or [1] * len(starts)
    for axis, start, stop, step in zip(axes, starts, stops, steps, strict=True):
        extent = x.shape[axis]
        stop = None if step < 0 and stop < -extent else stop
        if not len(range(*slice(start, stop, step).indices(extent))):
            raise Outside("an empty slice")
        x = movement.strided(x, *[slice(None)] * (axis % x.ndim), slice(start, stop, step))
    return x * 1.0


@operator("Tile")
def tile(node: Node) -> Tensor:
    return movement.tile(node.tensor(0), node.static(1))


@operator("Expand")
def expand(node: Node) -> Tensor:
    x = node.tensor(0)
    return x.broadcast(np.broadcast_shapes(x.shape, tuple(node.static(1)))) * 1.0


@operator("Pad")
def pad(node: Node) -> Tensor:
    x, amounts = node.tensor(0), node.static(1, "pads")
    axes = node.static(3) or list(range(x.ndim))
    mode = node.get("mode", b"constant")
    value = np.asarray(node.static(2, "value", 0.0) or 0.0).item()
    before, after = [0] * x.ndim, [0] * x.ndim
    for k, axis in enumerate(axes):
        before[axis], after[axis] = amounts[k], amounts[len(axes) + k]
    if mode == b"constant" and min(*before, *after) >= 0:
        inside = np.pad(np.ones(x.shape), list(zip(before, after, strict=True)))
        padded = x.apply(arrays.Pad(tuple(before), tuple(after)))
        return padded if not value else padded + (1.0 - inside) * value
    for axis in range(x.ndim):
        places = np.pad(np.arange(x.shape[axis]), (before[axis], after[axis]), mode=MODES[mode])
        x = functions.concatenate([movement.take(x, axis, int(place), int(place) + 1) for place in places], axis)
    return x * 1.0


MODES: dict[bytes, Any] = {b"reflect": "reflect", b"edge": "edge", b"wrap": "wrap"}


@operator("Gather")
def gather(node: Node) -> Tensor:
    x, axis = node.tensor(0), node.get("axis", 0)
    return functions.gather(x, counted(node, 1, x.shape[axis]), axis)


@operator("GatherElements")
def gather_elements(node: Node) -> Tensor:
    x, axis = node.tensor(0), node.get("axis", 0)
    indices = counted(node, 1, x.shape[axis])
    if any(a != b for i, (a, b) in enumerate(zip(x.shape, indices.shape, strict=True)) if i != axis % x.ndim):
        raise Outside("fewer indices than elements")
    return movement.gather_elements(x, indices, axis)


def counted(node: Node, index: int, extent: int) -> Tensor:
    """Indices counted from 0: those from the end are brought there."""
    indices = node.tensor(index)
    return indices + (indices < 0.0) * float(extent)


@operator("OneHot")
def one_hot(node: Node) -> Tensor:
    depth = int(np.asarray(node.static(1)).reshape(-1)[0])
    indices, values = counted(node, 0, depth), node.tensor(2)
    found = node.values[0]
    assert found is not None
    if not ((found >= -depth) & (found < depth)).all():
        raise Outside("indices outside")
    hot = functions.one_hot(indices, depth)
    axis = node.get("axis", -1) % hot.ndim
    order = list(range(hot.ndim - 1))
    order.insert(axis, hot.ndim - 1)
    return values[0:1].reshape() + hot.transpose(*order) * (values[1:2] - values[0:1]).reshape()


@operator("EyeLike")
def eye_like(node: Node) -> Tensor:
    x = node.tensor(0)
    return x.constant(np.eye(*x.shape, k=node.get("k", 0)))


@operator("Trilu")
def trilu(node: Node) -> Tensor:
    x, k = node.tensor(0), int(node.static(1, "", 0))
    ones = np.ones(x.shape)
    return x * (np.triu(ones, k) if node.get("upper", 1) else np.tril(ones, k))


@operator("DepthToSpace")
def depth_to_space(node: Node) -> Tensor:
    x, size = node.tensor(0), node.get("blocksize")
    batch, channels, rows, columns = x.shape
    if node.get("mode", b"DCR") == b"DCR":
        cut = x.reshape(batch, size, size, channels // size**2, rows, columns).transpose(0, 3, 4, 1, 5, 2)
    else:
        cut = x.reshape(batch, channels // size**2, size, size, rows, columns).transpose(0, 1, 4, 2, 5, 3)
    return cut.reshape(batch, channels // size**2, rows * size, columns * size)


@operator("SpaceToDepth")
def space_to_depth(node: Node) -> Tensor:
    x, size = node.tensor(0), node.get("blocksize")
    batch, channels, rows, columns = x.shape
    cut = x.reshape(batch, channels, rows // size, size, columns // size, size)
    cut = cut.transpose(*((0, 3, 5, 1, 2, 4) if node.get("mode", b"DCR") == b"DCR" else (0, 1, 3, 5, 2, 4)))
    return cut.reshape(batch, channels * size**2, rows // size, columns // size)


@operator("Shape")
def shape(node: Node) -> Tensor:
    found = list(node.tensor(0).shape)[slice(node.get("start", 0), node.get("end"))]
    if not found:
        raise Outside("no axes")
    return node.tensor(0).constant(np.float64(found))


@operator("Size")
def size(node: Node) -> Tensor:
    return node.tensor(0).constant(np.float64(node.tensor(0).size))


@operator("ConstantOfShape")
def constant_of_shape(node: Node) -> Tensor:
    extents, value = node.static(0), node.get("value")
    if 0 in extents:
        raise Outside("no elements")
    return node.tensor(0).constant(np.full(extents, 0.0 if value is None else float(value.reshape(-1)[0])))


@operator("Gemm")
def gemm(node: Node) -> Tensor:
    a = node.tensor(0).T if node.get("transA", 0) else node.tensor(0)
    b = node.tensor(1).T if node.get("transB", 0) else node.tensor(1)
    product = (a @ b) * float(node.get("alpha", 1.0))
    return product + node.tensor(2) * float(node.get("beta", 1.0)) if node.has(2) else product


@operator("Einsum")
def einsum(node: Node) -> Tensor:
    equation = node.get("equation").decode().replace(" ", "")
    if equation.count(",") != 1 or "." in equation or "->" not in equation:
        raise Outside("one operand, or three dots")
    return functions.einsum(equation, node.tensor(0), node.tensor(1))


def padding_of(
    node: Node, extents: Sequence[int], sizes: Sequence[int], steps: Sequence[int], gaps: Sequence[int]
) -> Any:
    """(before, after) per axis; SAME pads so that there are ceil(extent / step) positions."""
    rank, kind = len(extents), node.get("auto_pad", b"NOTSET")
    if kind in (b"SAME_UPPER", b"SAME_LOWER"):
        found = []
        for extent, size, step, gap in zip(extents, sizes, steps, gaps, strict=True):
            total = max((-(-extent // step) - 1) * step + (size - 1) * gap + 1 - extent, 0)
            less, more = total // 2, total - total // 2
            found.append((less, more) if kind == b"SAME_UPPER" else (more, less))
        return found
    pads = node.get("pads", [0] * 2 * rank)
    return list(zip(pads[:rank], pads[rank:], strict=True))


@operator("Conv")
def conv(node: Node) -> Tensor:
    x, kernel = node.tensor(0), node.tensor(1)
    rank, sizes = x.ndim - 2, kernel.shape[2:]
    steps, gaps = node.get("strides", [1] * rank), node.get("dilations", [1] * rank)
    padding = padding_of(node, x.shape[2:], sizes, steps, gaps)
    moved = kernel.transpose(*range(2, rank + 2), 1, 0)
    made = convolution.convolution(channels_last(x), moved, padding, steps, gaps, node.get("group", 1))
    return channels_first(made + node.tensor(2) if node.has(2) else made)


@operator("ConvTranspose")
def conv_transpose(node: Node) -> Tensor:
    x, kernel = node.tensor(0), node.tensor(1)
    rank, sizes, groups = x.ndim - 2, kernel.shape[2:], node.get("group", 1)
    steps, gaps = node.get("strides", [1] * rank), node.get("dilations", [1] * rank)
    more = node.get("output_padding", [0] * rank)
    pads = node.get("pads", [0] * 2 * rank)
    padding = list(zip(pads[:rank], pads[rank:], strict=True))
    wanted = node.get("output_shape")
    if wanted is None and node.get("auto_pad", b"NOTSET").startswith(b"SAME"):
        wanted = [extent * step for extent, step in zip(x.shape[2:], steps, strict=True)]
    if wanted is not None:
        padding = []
        for axis in range(rank):
            full = steps[axis] * (x.shape[2 + axis] - 1) + more[axis] + (sizes[axis] - 1) * gaps[axis] + 1
            total = full - wanted[axis]
            half = total // 2
            other = total - half
            padding.append((half, other) if node.get("auto_pad", b"NOTSET") == b"SAME_UPPER" else (other, half))
        if any(min(side) < 0 for side in padding):
            raise Outside("negative padding")
    moved = kernel.transpose(*range(2, rank + 2), 1, 0)
    made = convolution.transposed_convolution(channels_last(x), moved, padding, steps, gaps, groups, more)
    return channels_first(made + node.tensor(2) if node.has(2) else made)


def pooled(node: Node) -> tuple[Tensor, list[int], list[int], list[int], list[tuple[int, int]]]:
    x, sizes = node.tensor(0), list(node.get("kernel_shape"))
    rank = len(sizes)
    steps, gaps = list(node.get("strides", [1] * rank)), list(node.get("dilations", [1] * rank))
    padding = padding_of(node, x.shape[2:], sizes, steps, gaps)
    if node.get("ceil_mode", 0):
        grown = []
        for extent, size, step, gap, (before, after) in zip(x.shape[2:], sizes, steps, gaps, padding, strict=True):
            room = extent + before + after - (size - 1) * gap - 1
            count = -(-room // step)
            count -= count * step >= extent + before
            grown.append((before, after + max(count * step - room, 0)))
        if grown != padding and node.get("count_include_pad", 0):
            raise Outside("padding of two kinds")
        padding = grown
    return channels_last(x), sizes, steps, gaps, padding


@operator("MaxPool")
def max_pool(node: Node) -> Tensor:
    if node.outputs > 1:
        raise Outside("indices")
    x, sizes, steps, gaps, padding = pooled(node)
    if any(max(side) >= size or (max(side) and gap > 1) for side, size, gap in zip(padding, sizes, gaps, strict=True)):
        raise Outside("dilated windows with padding")
    return channels_first(convolution.max_pool(x, sizes, steps, padding, gaps))


@operator("AveragePool")
def average_pool(node: Node) -> Tensor:
    x, sizes, steps, gaps, padding = pooled(node)
    counts = bool(node.get("count_include_pad", 0))
    return channels_first(convolution.average_pool(x, sizes, steps, padding, gaps, counts))


@operator("LpPool")
def lp_pool(node: Node) -> Tensor:
    if node.get("p", 2) != 2:
        raise Outside("other norms")
    x, sizes, steps, gaps, padding = pooled(node)
    mean = convolution.average_pool(x * x, sizes, steps, padding, gaps)
    return channels_first(functions.square_root(mean * float(math.prod(sizes))))


@operator("BatchNormalization")
def batch_normalization(node: Node) -> Tensor:
    if node.outputs > 1:
        raise Outside("running statistics")
    x, *rest = (node.tensor(i) for i in range(5))
    scale, bias, mean, variance = (r.reshape(-1, *[1] * (x.ndim - 2)) for r in rest)
    return (x - mean) / functions.square_root(variance + node.get("epsilon", 1e-5)) * scale + bias


def normalized(x: Tensor, axes: tuple[int, ...], epsilon: float) -> tuple[Tensor, Tensor, Tensor]:
    mean = x.mean(axes, keepdims=True)
    centred = x - mean
    root = functions.reciprocal_square_root((centred * centred).mean(axes, keepdims=True) + epsilon)
    return centred * root, mean, root


@operator("LayerNormalization")
def layer_normalization(node: Node) -> Sequence[Tensor]:
    x = node.tensor(0)
    axes = tuple(range(node.get("axis", -1) % x.ndim, x.ndim))
    made, mean, root = normalized(x, axes, node.get("epsilon", 1e-5))
    made = made * node.tensor(1)
    return (made + node.tensor(2) if node.has(2) else made, mean, root)


@operator("RMSNormalization")
def rms_normalization(node: Node) -> Tensor:
    x = node.tensor(0)
    axes = tuple(range(node.get("axis", -1) % x.ndim, x.ndim))
    root = functions.reciprocal_square_root((x * x).mean(axes, keepdims=True) + node.get("epsilon", 1e-5))
    return x * root * node.tensor(1)


@operator("InstanceNormalization")
def instance_normalization(node: Node) -> Tensor:
    x = node.tensor(0)
    made, _, _ = normalized(x, tuple(range(2, x.ndim)), node.get("epsilon", 1e-5))
    scale, bias = (node.tensor(i).reshape(-1, *[1] * (x.ndim - 2)) for i in (1, 2))
    return made * scale + bias


@operator("GroupNormalization")
def group_normalization(node: Node) -> Tensor:
    x, groups = node.tensor(0), node.get("num_groups")
    cut = x.reshape(x.shape[0], groups, -1)
    made, _, _ = normalized(cut, (2,), node.get("epsilon", 1e-5))
    scale, bias = (node.tensor(i).reshape(-1, *[1] * (x.ndim - 2)) for i in (1, 2))
    return made.reshape(*x.shape) * scale + bias


@operator("MeanVarianceNormalization")
def mean_variance_normalization(node: Node) -> Tensor:
    return normalized(node.tensor(0), tuple(node.get("axes", (0, 2, 3))), 1e-9)[0]


@operator("LpNormalization")
def lp_normalization(node: Node) -> Tensor:
    x = node.tensor(0)
    axis, order = node.get("axis", -1) % x.ndim, node.get("p", 2)
    norm = x.apply(arrays.Norm(axis)) if order == 2 else functions.absolute(x).sum(axis)
    found = node.values[0]
    assert found is not None
    if not np.abs(found).sum(axis=axis).all():
        raise Outside("a norm of 0")
    return x / norm.reshape(*[1 if i == axis else extent for i, extent in enumerate(x.shape)])


@operator("LRN")
def local_response_normalization(node: Node) -> Tensor:
    x, size = node.tensor(0), node.get("size")
    squares = channels_last(x * x)
    before, after = (size - 1) // 2, size - 1 - (size - 1) // 2
    ends = (0,) * (x.ndim - 1)
    wider = squares.apply(arrays.Pad((*ends, before), (*ends, after)))
    total = channels_first(wider.apply(arrays.Window((x.ndim - 1,), (size,), (1,))).sum(-1))
    scaled = total * (node.get("alpha", 1e-4) / size) + node.get("bias", 1.0)
    return x / functions.exp(functions.log(scaled) * node.get("beta", 0.75))


@operator("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss")
def negative_log_likelihood(node: Node) -> Sequence[Tensor]:
    x, labels = node.tensor(0), node.tensor(1)
    found = node.values[1]
    assert found is not None
    ignored = node.get("ignore_index")
    logs = functions.log_softmax(x, 1) if "SoftmaxCrossEntropyLoss" in node.get("kind") else x
    inside = np.ones(found.shape) if ignored is None else np.float64(found != ignored)
    kept = labels * labels.constant(inside)
    hot = functions.one_hot(kept, x.shape[1])
    hot = hot.transpose(0, hot.ndim - 1, *range(1, hot.ndim - 1))
    weights = labels.constant(inside)
    if node.has(2):
        weights = weights * functions.gather(node.tensor(2), kept)
    losses = -(logs * hot).sum(1) * weights
    kind = node.get("reduction", b"mean")
    summed = losses.sum() if kind == b"sum" else losses.sum() / weights.sum()
    return (losses if kind == b"none" else summed, logs)


@operator("Attention")
def attention(node: Node) -> Tensor:
    """Attention of ranks 3 and 4, grouped heads included, with a mask and causally; scores can be scaled and capped."""
    if node.outputs > 1 or any(node.has(i) for i in (4, 5, 6)):
        raise Outside("what is kept from token to token")
    if any("window" in name for name in node.attributes):
        raise Outside("windows")
    query, key, value = (node.tensor(i) for i in range(3))
    flat = query.ndim == 3
    if flat:
        counts = node.get("q_num_heads"), node.get("kv_num_heads"), node.get("kv_num_heads")
        query, key, value = (
            x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)
            for x, heads in zip((query, key, value), counts, strict=True)
        )
    shared = query.shape[1] // key.shape[1]
    if shared > 1:
        key, value = (movement.stack([x] * shared, 2).reshape(x.shape[0], -1, *x.shape[2:]) for x in (key, value))
    scale = node.get("scale", 1 / math.sqrt(query.shape[-1]))
    scores = functions.einsum("bhqd,bhxd->bhqx", query * float(scale), key)
    softcap = node.get("softcap", 0.0)
    mask = node.values[3] if node.has(3) else None
    seen = np.ones(scores.shape[2:])
    if node.get("is_causal", 0):
        seen = np.tril(seen)
    if softcap:
        scores = functions.tanh(scores * (1 / softcap)) * float(softcap)
    if mask is not None:
        if mask.shape[-1] != scores.shape[-1]:
            raise Outside("a mask of part of the keys")
        if mask.dtype.kind == "b":
            seen = seen * np.float64(np.broadcast_to(mask, scores.shape))
        else:
            scores = scores + node.tensor(3)
    if not np.broadcast_to(seen, scores.shape).any(-1).all():
        raise Outside("rows that see nothing")
    if not seen.all():
        scores = functions.where(scores.constant(np.broadcast_to(seen, scores.shape).copy()), scores, MASKED * 4)
    read = functions.einsum("bhqx,bhxd->bhqd", functions.softmax(scores), value)
    if flat:
        read = read.transpose(0, 2, 1, 3).reshape(read.shape[0], read.shape[2], -1)
    return read


@operator("RotaryEmbedding", "SwiGLU", "Dropout")
def left_out(node: Node) -> Tensor:
    kind = node.get("kind")
    if kind == "Dropout":
        if node.has(2) and bool(node.static(2)) and node.static(1, "", 0.5):
            raise Outside("random masks")
        if node.outputs > 1:
            return node.tensor(0) * 1.0, node.tensor(0).constant(np.ones(node.tensor(0).shape))  # type: ignore[return-value]
        return node.tensor(0) * 1.0
    raise Outside(kind)

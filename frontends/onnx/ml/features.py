"""Operators of ai.onnx.ml that prepare features."""

from __future__ import annotations

import numpy as np

from circuitize.frontends.functions import absolute, concatenate, gather, square_root
from circuitize.frontends.tensor import Tensor

from ..node import ANY, NUMBERS, Node, operator
from ..places import pick
from ..reductions import greatest


@operator("Scaler", kinds=NUMBERS)
def _scaler(node: Node) -> Tensor:
    """Return (x - offset) * scale, with one offset and scale for all features, or one for each feature."""
    x = node.ranked(node.tensor(), 1, 2)
    given = [np.asarray(node.attribute(name, None) or [], np.float64) for name in ("offset", "scale")]
    for name, values in zip(("offset", "scale"), given, strict=True):
        if values.size not in (1, x.shape[-1]):
            raise node.fault(f"expected {x.shape[-1]} numbers as {name}, or one, found {values.size}; correct it")
    offset, scale = (np.broadcast_to(values, x.shape[-1:]) for values in given)
    return (x - offset) * scale


@operator("Normalizer", kinds=NUMBERS)
def _normalizer(node: Node) -> Tensor:
    """Return the result of Normalizer: each row of x divided by its maximum, its sum of magnitudes or the root of its
    sum of squares; it is undefined if the divisor is 0.
    """
    x = node.ranked(node.tensor(), 1, 2)
    axis, norm = x.ndim - 1, node.choice("norm", "MAX", "L1", "L2")
    if norm == "MAX":
        return x / greatest(x, (axis,))
    if norm == "L1":
        return x / absolute(x).sum(axis, keepdims=True)
    return x / square_root((x * x).sum(axis, keepdims=True))


@operator("Binarizer", kinds=NUMBERS)
def _binarizer(node: Node) -> Tensor:
    return node.tensor() > node.number("threshold", 0.0)


@operator("FeatureVectorizer", kinds=NUMBERS)
def _vectorizer(node: Node) -> Tensor:
    """Return the result of FeatureVectorizer: all inputs side by side, each cut to the number of features that the node
    states for it.
    """
    rows = [x if x.ndim == 2 else x.reshape(1, -1) if x.ndim == 1 else node.ranked(x, 1, 2) for x in node.tensors()]
    extents = node.attribute("inputdimensions", None) or [x.shape[1] for x in rows]
    if len(extents) != len(rows) or any(not 0 < n <= x.shape[1] for n, x in zip(extents, rows, strict=True)):
        raise node.fault(
            f"expected extents of {[x.shape[1] for x in rows]} features at most, found {list(extents)}; correct them"
        )
    cut = [x[:, :n] for n, x in zip(extents, rows, strict=True)]
    return concatenate(cut, 1) if len(cut) > 1 else cut[0]


@operator("ArrayFeatureExtractor", kinds=ANY, moves=True)
def _extractor(node: Node) -> Tensor:
    """Return the result of ArrayFeatureExtractor: the elements of the last axis at given indices, in their order; a
    vector counts as one row.
    """
    x = node.ranked(node.tensor(), 1)
    if x.ndim == 1:
        x = x.reshape(1, *x.shape)
    places = node.value(1).content
    if not isinstance(places, Tensor):
        return pick(x, x.ndim - 1, np.asarray(places).reshape(-1))
    return gather(x, places.reshape(-1), x.ndim - 1)


@operator("OneHotEncoder", kinds=NUMBERS)
def _one_hot(node: Node) -> Tensor:
    """Return an indicator of each category of whole numbers, along a new last axis; it is all zeros for any other
    number, if `zeros` is 1.
    """
    categories = node.attribute("cats_int64s", None)
    if not categories:
        raise node.fault("expected categories that are whole numbers, found none; give cats_int64s")
    if not node.flag("zeros", 1):
        raise node.fault("expected zeros to be 1, found 0; leave it out")
    x = node.tensor()
    spread = x.reshape(*x.shape, 1)
    wanted = np.asarray(categories, np.float64)
    return (spread > wanted - 0.5) * (spread < wanted + 0.5)

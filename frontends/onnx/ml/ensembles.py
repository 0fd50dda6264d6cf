"""Operators of ai.onnx.ml that are ensembles of trees: in the form of opsets up to 3, and in that of opset 5."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from circuitize.frontends.functions import sigmoid
from circuitize.frontends.tensor import Tensor

from ..node import NUMBERS, Made, Node, operator
from .linear import rows_of
from .scores import both, labels, of_greatest, of_two, transformed
from .trees import LEAF, MODES, Integers, Reals, Trees, checked, scores

AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
"""The transforms of scores by the numbers that TreeEnsemble uses."""


def _older(node: Node, features: int) -> tuple[Trees, dict[tuple[int, int], int]]:
    """Return the trees of TreeEnsembleClassifier and TreeEnsembleRegressor, and their nodes by the numbers of tree and
    node.
    """
    named = {name: np.asarray(node.attribute(f"nodes_{name}", None) or [], np.int64) for name in _NUMBERS}
    modes: Sequence[str] = node.attribute("nodes_modes", None) or []
    values = _numbers(node, "nodes_values")
    count = len(modes)
    if not count or any(len(entries) != count for entries in (*named.values(), values)):
        found = {f"nodes_{name}": len(entries) for name, entries in named.items()} | {"nodes_values": len(values)}
        raise node.fault(f"expected {count} entries of each attribute of nodes, found {found}; correct it")
    unknown = sorted(set(modes) - {*MODES, "LEAF"})
    if unknown:
        raise node.fault(f"expected modes among {[*MODES, 'LEAF']}, found {unknown[0]!r}; correct it")
    kinds = np.array([LEAF if mode == "LEAF" else MODES.index(mode) for mode in modes], np.int64)
    keys = list(zip(named["treeids"].tolist(), named["nodeids"].tolist(), strict=True))
    places = {key: place for place, key in enumerate(keys)}
    if len(places) != count:
        raise node.fault("expected each node of each tree once, found one twice; correct the model")

    def children(name: str) -> Integers:
        pairs = zip(named["treeids"].tolist(), named[name].tolist(), kinds.tolist(), strict=True)
        return np.array([LEAF if kind == LEAF else places.get((tree, child), -2) for tree, child, kind in pairs])

    true, false = children("truenodeids"), children("falsenodeids")
    inner = kinds != LEAF
    if (np.minimum(true, false)[inner] < 0).any():
        raise node.fault("expected branches to nodes of the same tree, found one to nowhere; correct the model")
    below = np.zeros(count, bool)
    below[true[inner]] = below[false[inner]] = True
    roots = np.flatnonzero(~below)
    if len(roots) != len(set(named["treeids"].tolist())):
        raise node.fault("expected one root of each tree, found more or fewer; correct the model")
    made = Trees(kinds, named["featureids"], values, true, false, roots)
    return checked(node, made, features), places


_NUMBERS = ("treeids", "nodeids", "featureids", "truenodeids", "falsenodeids")


def _numbers(node: Node, name: str) -> Reals:
    """Return an attribute of numbers of an ONNX ensemble, or the tensor of that name that newer opsets have in its
    place.
    """
    given, tensor = node.attribute(name, None), node.attribute(f"{name}_as_tensor", None)
    if given is not None and len(given) and tensor is not None:
        raise node.fault(f"expected {name} once, found it as a tensor too; give one")
    return np.asarray(tensor.content if tensor is not None else given or [], np.float64).reshape(-1)


def _weights(
    node: Node, places: dict[tuple[int, int], int], prefix: str, targets: int
) -> tuple[Reals, NDArray[np.bool_], Integers]:
    """Return the weights [nodes, targets] of an ONNX ensemble's leaves from lists of weights, which of these weights
    are given, and all targets that are named.
    """
    ids, trees, nodes = (np.asarray(node.attribute(f"{prefix}_{name}", None) or [], np.int64) for name in _PLACED)
    values = _numbers(node, f"{prefix}_weights")
    if not len(ids) or not len(ids) == len(trees) == len(nodes) == len(values):
        raise node.fault(f"expected as many entries of each attribute {prefix}_*, at least one; correct the model")
    if not 0 <= ids.min() <= ids.max() < targets:
        raise node.fault(f"expected {prefix}_ids below {targets}, found {int(ids.max())}; correct the model")
    at = [places.get(key, -1) for key in zip(trees.tolist(), nodes.tolist(), strict=True)]
    if min(at) < 0:
        raise node.fault("expected weights of nodes that there are, found those of another; correct the model")
    weights = np.zeros((len(places), targets))
    np.add.at(weights, (np.array(at), ids), values)
    given = np.zeros(weights.shape, bool)
    given[at, ids] = True
    return weights, given, np.unique(ids)


_PLACED = ("ids", "treeids", "nodeids")

IGNORED = ("nodes_hitrates", "nodes_hitrates_as_tensor", "nodes_missing_value_tracks_true")
"""Attributes that say how often a branch was taken, and what is done if a feature is missing, which never happens."""


def _base(node: Node, *counts: int) -> Reals:
    base = _numbers(node, "base_values")
    if len(base) not in (0, *counts):
        raise node.fault(f"expected base_values of {' or '.join(map(str, counts))}, found {len(base)}; correct them")
    return base


@operator("TreeEnsembleRegressor", kinds=NUMBERS, ignores=IGNORED)
def _regressor(node: Node) -> Tensor:
    x = rows_of(node)
    targets = node.attribute("n_targets", 1)
    aggregate = node.choice("aggregate_function", "SUM", "AVERAGE", "MIN", "MAX")
    trees, places = _older(node, x.shape[1])
    weights, given, _ = _weights(node, places, "target", targets)
    made = scores(node, x, trees, weights, given, aggregate)
    base = _base(node, 1, targets)
    return transformed(node, made + np.broadcast_to(base, (targets,)) if len(base) else made)


@operator("TreeEnsembleClassifier", kinds=NUMBERS, ignores=IGNORED)
def _classifier(node: Node) -> list[Made]:
    """Return the labels and scores of a tree ensemble classifier; if all weights of two classes belong to one class,
    their sum chooses a class: by the threshold 1/2 if no weight is negative, else by 0.
    """
    x = rows_of(node)
    numbers = labels(node, "classlabels_int64s", "classlabels_strings")
    trees, places = _older(node, x.shape[1])
    weights, _, named = _weights(node, places, "class", len(numbers))
    base = _base(node, 1, len(numbers))
    if len(numbers) == 2 and len(named) == 1:
        return _two(node, scores(node, x, trees, weights, np.ones(1, bool), "SUM"), weights, base, numbers)
    made = scores(node, x, trees, weights, np.ones(1, bool), "SUM")
    if len(base):
        made = made + np.broadcast_to(base, (len(numbers),))
    return [of_greatest(made, numbers), Made(transformed(node, made))]


def _two(node: Node, made: Tensor, weights: Reals, base: Reals, numbers: list[int]) -> list[Made]:
    """Return the scores of two classes of which only one has weights, as onnxruntime reads them.

    For two classes, weights of the first class give a score of the second, whose negative is the first's score; weights
    of the second class leave the first's score at 0.
    """
    one = int(np.any(weights[:, 1]))
    if len(base) > 1 - one:
        raise node.fault("expected no base_values, or one for weights of the first class alone, found more; add them")
    positive = (weights >= 0).all()
    score = made[:, [one]] + float(base[0]) if len(base) else made[:, [one]]
    found = of_two(score, numbers, 0.5 if positive else 0.0)
    if one:
        return [found, Made(transformed(node, made))]
    transformed(node, made)  # Only to refuse what is not understood.
    if node.attribute("post_transform", "NONE") == "LOGISTIC":
        return [found, Made(both(sigmoid(-score), sigmoid(score)))]
    return [found, Made(both(1.0 - score if positive else -score, score))]


@operator("TreeEnsemble", kinds=NUMBERS, ignores=IGNORED)
def _ensemble(node: Node) -> Tensor:
    """Return an ensemble in the form of opset 5: inner nodes and leaves are numbered separately, and each child says of
    which kind it is.
    """
    x = rows_of(node)
    targets = node.attribute("n_targets", 1)

    def entries(name: str) -> Integers:
        given = node.attribute(name, None)
        if given is None:
            raise node.fault(f"expected an attribute {name!r}, found none; give it")
        return np.asarray(getattr(given, "content", given), np.int64).reshape(-1)

    modes, feature = entries("nodes_modes"), entries("nodes_featureids")
    threshold = np.asarray(node.attributes["nodes_splits"].content, np.float64).reshape(-1)
    weights = np.asarray(node.attributes["leaf_weights"].content, np.float64).reshape(-1)
    ids, roots = entries("leaf_targetids"), entries("tree_roots")
    inner, ends = len(modes), len(weights)
    children = [(entries(f"nodes_{side}nodeids"), entries(f"nodes_{side}leafs")) for side in ("true", "false")]
    lists = [feature, threshold, *(entry for pair in children for entry in pair)]
    if not inner or any(len(entry) != inner for entry in lists) or len(ids) != ends or not len(roots):
        raise node.fault("expected as many entries of each attribute of nodes and of leaves; correct the model")
    if not 0 <= ids.min() <= ids.max() < targets or not 0 <= modes.min() <= modes.max() < len(MODES):
        raise node.fault(f"expected leaf_targetids below {targets} and modes below {len(MODES)}; correct the model")
    if not 0 <= roots.min() <= roots.max() < inner:
        raise node.fault(f"expected roots below {inner}, found {roots.tolist()}; correct the model")
    # A tree that is one leaf is written as a node with that leaf on both sides: each side gets a copy of its own.
    true, false = (np.where(leaf != 0, inner + copy * ends + at, at) for copy, (at, leaf) in enumerate(children))
    count, none = inner + 2 * ends, np.zeros(2 * ends, np.int64)
    trees = Trees(
        np.concatenate([modes, none + LEAF]),
        np.concatenate([feature, none]),
        np.concatenate([threshold, none.astype(np.float64)]),
        np.concatenate([true, none]),
        np.concatenate([false, none]),
        roots,
    )
    spread, given = np.zeros((count, targets)), np.zeros((count, targets), bool)
    for copy in range(2):
        spread[inner + copy * ends + np.arange(ends), ids] = weights
        given[inner + copy * ends + np.arange(ends), ids] = True
    number, after = node.attribute("aggregate_function", 1), node.attribute("post_transform", 0)
    if number not in range(len(AGGREGATES)) or after not in (0, 1, 2):
        raise node.fault(
            f"expected an aggregate_function below 4 and a post_transform of 0 to 2, found {number} and {after}; "
            "apply another afterwards"
        )
    made = scores(node, x, checked(node, trees, x.shape[1], every=False), spread, given, AGGREGATES[number])
    return transformed(node, made, TRANSFORMS[after])

"""Ensembles of decision trees of ai.onnx.ml: comparisons of all trees at once, then products level by level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from circuitize.frontends.functions import concatenate, sigmoid
from circuitize.frontends.tensor import Tensor

from ..node import NUMBERS, Made, Node, operator
from ..reductions import greatest, least
from .linear import rows_of
from .scores import both, labels, of_greatest, of_two, transformed

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

LEAF = -1
GROUP = 256
"""Nodes of the trees that are walked together."""
MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER")
AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
"""By number, as TreeEnsemble has them."""


@dataclass(frozen=True)
class Trees:
    """Nodes of all trees in one numbering: mode (or LEAF), feature, threshold, both children; and each tree's root."""

    mode: Integers
    feature: Integers
    threshold: Reals
    true: Integers
    false: Integers
    roots: Integers


def checked(node: Node, trees: Trees, features: int, every: bool = True) -> Trees:
    """The trees. Raises CircuitizeError unless each node is one tree's, once, and tests a feature that there is."""
    inner = np.flatnonzero(trees.mode != LEAF)
    count = len(trees.mode)
    children = np.concatenate([trees.true[inner], trees.false[inner]])
    if len(children) and not 0 <= children.min() <= children.max() < count:
        raise node.fault("expected branches to nodes of the same tree, found one to nowhere; correct the model")
    tested = trees.feature[inner]
    if len(tested) and not 0 <= tested.min() <= tested.max() < features:
        raise node.fault(f"expected tests of features below {features}, found {int(tested.max())}; correct the model")
    if not np.isfinite(trees.threshold[inner]).all():
        raise node.fault("expected finite thresholds, found one that is not; correct the model")
    if (trees.mode == MODES.index("BRANCH_MEMBER")).any():
        raise node.fault("expected comparisons, found BRANCH_MEMBER; write it as several BRANCH_EQ")
    # From its root each node is reached by one path: two parents, or a cycle, would reach some twice.
    reached, level = np.zeros(count, bool), trees.roots
    while len(level):
        if len(np.unique(level)) < len(level) or reached[level].any():
            raise node.fault("expected trees, found a node with two parents; correct the model")
        reached[level] = True
        level = level[trees.mode[level] != LEAF]
        level = np.concatenate([trees.true[level], trees.false[level]])
    if not reached[: len(trees.mode) if every else 0].all():
        raise node.fault("expected nodes that a root leads to, found one that none does; correct the model")
    return trees


def leaves(x: Tensor, trees: Trees) -> tuple[Integers, Tensor]:
    """The leaves of all trees, and for each row of x which of them it comes to: 1 there, else 0.

    Trees are taken in groups, whose levels are small: what picks columns is a matrix of zeros and ones.
    """
    owner = owners(trees)
    sizes = np.bincount(owner[owner >= 0], minlength=len(trees.roots))
    group = np.cumsum(sizes) // GROUP
    found, parts = [], []
    for number in np.unique(group):
        ends, reached = _leaves(x, trees, trees.roots[group == number])
        found += ends
        parts += reached
    return np.concatenate(found), concatenate(parts, 1) if len(parts) > 1 else parts[0]


def owners(trees: Trees) -> Integers:
    """The tree of each node, by its number among the roots; -1 for a node of none."""
    owner = np.full(len(trees.mode), -1, np.int64)
    owner[trees.roots] = np.arange(len(trees.roots))
    level = trees.roots
    while len(level):
        level = level[trees.mode[level] != LEAF]
        owner[trees.true[level]] = owner[trees.false[level]] = owner[level]
        level = np.concatenate([trees.true[level], trees.false[level]])
    return owner


def _leaves(x: Tensor, trees: Trees, roots: Integers) -> tuple[list[Integers], list[Tensor]]:
    """Leaves and who comes to them, level by level: one product for each inner node."""
    level, levels = roots, []
    while len(level):
        levels.append(level)
        inner = level[trees.mode[level] != LEAF]
        level = np.concatenate([trees.true[inner], trees.false[inner]])
    every = np.concatenate([level[trees.mode[level] != LEAF] for level in levels])
    answers, columns = _answers(x, trees, every)
    found, parts, here, done = [], [], None, 0
    for level in levels:
        ends = np.flatnonzero(trees.mode[level] == LEAF)
        going = np.flatnonzero(trees.mode[level] != LEAF)
        if len(ends):
            found.append(level[ends])
            parts.append(x.constant(np.ones((x.shape[0], len(ends)))) if here is None else _columns(here, ends))
        if not len(going):
            continue
        yes = _columns(answers, columns[done : done + len(going)])
        done += len(going)
        if here is None:
            left, right = yes, 1.0 - yes
        else:
            before = _columns(here, going)
            left = before * yes
            right = before - left
        here = concatenate([left, right], 1)
    return found, parts


def _columns(x: Tensor, chosen: Integers) -> Tensor:
    """These columns of x, some perhaps more than once."""
    if len(chosen) == x.shape[1] and (chosen == np.arange(len(chosen))).all():
        return x
    return x @ np.eye(x.shape[1])[:, chosen]


def _answers(x: Tensor, trees: Trees, inner: Integers) -> tuple[Tensor, Integers]:
    """Of inner nodes, 1 where a row takes the true branch: columns, in which each test stands once, and places."""
    keys = np.stack([trees.mode[inner], trees.feature[inner], trees.threshold[inner].view(np.int64)])
    _, first, place = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    tests = inner[first]
    made = []
    # The keys are sorted by mode first, so that the tests of one mode are neighbours.
    for mode in np.unique(trees.mode[tests]).tolist():
        chosen = tests[trees.mode[tests] == mode]
        made.append(_compared(_columns(x, trees.feature[chosen]), trees.threshold[chosen], MODES[mode]))
    if not made:
        return x, np.zeros(0, np.int64)
    return concatenate(made, 1) if len(made) > 1 else made[0], place.reshape(-1)


def _compared(x: Tensor, threshold: Reals, mode: str) -> Tensor:
    if mode == "BRANCH_LEQ":
        return x <= threshold
    if mode == "BRANCH_LT":
        return x < threshold
    if mode == "BRANCH_GTE":
        return x >= threshold
    if mode == "BRANCH_GT":
        return x > threshold
    same = (x >= threshold) * (x <= threshold)
    return same if mode == "BRANCH_EQ" else 1.0 - same


def scores(node: Node, x: Tensor, trees: Trees, weights: Reals, given: NDArray[np.bool_], aggregate: str) -> Tensor:
    """What all trees together say of each target, out of what each leaf says of it: weights [nodes, targets]."""
    ends, reached = leaves(x, trees)
    targets = weights.shape[1]
    if aggregate in ("SUM", "AVERAGE"):
        share = 1.0 / len(trees.roots) if aggregate == "AVERAGE" else 1.0
        return reached @ (weights[ends] * share)
    if not given[ends].all():
        raise node.fault(f"expected a weight of each target at each leaf for {aggregate}, found none at one; give all")
    spread = np.zeros((len(ends), len(trees.roots), targets))
    spread[np.arange(len(ends)), owners(trees)[ends]] = weights[ends]
    each = (reached @ spread.reshape(len(ends), -1)).reshape(x.shape[0], len(trees.roots), targets)
    return (greatest if aggregate == "MAX" else least)(each, (1,)).reshape(x.shape[0], targets)


def _older(node: Node, features: int) -> tuple[Trees, dict[tuple[int, int], int]]:
    """The trees of TreeEnsembleClassifier and TreeEnsembleRegressor, and nodes by the numbers of tree and node."""
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
    """An attribute of numbers, or the tensor of that name that newer opsets have in its place."""
    given, tensor = node.attribute(name, None), node.attribute(f"{name}_as_tensor", None)
    if given is not None and len(given) and tensor is not None:
        raise node.fault(f"expected {name} once, found it as a tensor too; give one")
    return np.asarray(tensor.content if tensor is not None else given or [], np.float64).reshape(-1)


def _weights(
    node: Node, places: dict[tuple[int, int], int], prefix: str, targets: int
) -> tuple[Reals, NDArray[np.bool_], Integers]:
    """Weights [nodes, targets] out of lists of them, which of them are given, and all targets that are named."""
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
"""What says how often a branch was taken, and what is done where a feature is missing: none ever is."""


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
    """Where all weights are of one of two classes, they score it: above 1/2 if none is negative, else above 0."""
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
    """Two classes of which only one is weighed, as onnxruntime reads it.

    Weights of the first are a score of the second, whose opposite is the first's; those of the second leave it at 0.
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
    """As opset 5 has it: inner nodes and leaves are numbered apart, and both children say which they are."""
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

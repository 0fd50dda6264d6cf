"""A reader of scikit-learn's estimators (trees, forests and boosted trees), which checks the trees against the
estimators' own predictions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from circuitize.circuits.errors import CircuitizeError
from circuitize.frontends.operands import named

from .fitted import KNOWN, Binned, Estimator, Nodes, Tree, is_binned, is_boosted, is_forest, is_known, is_tree
from .forest import ABOVE, AT_LEAST, GREATEST, SCORES, Forest, Integers, Reals

TRIED = 64
"""The number of random inputs on which the trees as read are compared with the estimator."""


def forest_of(estimator: object) -> Forest:
    """Return the trees of a fitted scikit-learn estimator. Reading an estimator imports nothing of scikit-learn.

    Raise CircuitizeError for an object that is no estimator of trees, for an estimator that is not fitted, for
    categories and several outputs, and if the trees as read do not give the estimator's scores.
    """
    kind = type(estimator).__name__
    if not is_known(estimator):
        raise CircuitizeError(
            f"expected a tree ensemble of scikit-learn ({', '.join(KNOWN)}), found {named(estimator)}; export others "
            "as ONNX and give from_onnx"
        )
    if not hasattr(estimator, "n_features_in_"):
        raise CircuitizeError(f"expected a fitted {kind}, found one that is not; call fit first")
    outputs = getattr(estimator, "n_outputs_", 1)
    if outputs != 1:
        raise CircuitizeError(f"expected one output, found {outputs}; fit an estimator for each")
    classifies = hasattr(estimator, "classes_")
    if is_binned(estimator):
        made = _binned(estimator, classifies)
    elif is_boosted(estimator):
        rate = estimator.learning_rate
        rows = [[tree.tree_ for tree in stage] for stage in estimator.estimators_]
        made = _boosted(estimator, [[_nodes(tree, rate) for tree in stage] for stage in rows], classifies)
    else:
        trees = [tree.tree_ for tree in _single(estimator)]
        share = 1.0 / len(trees)
        made = _forest(estimator, [_nodes(tree, share, classifies) for tree in trees], classifies)
    _agrees(estimator, made, classifies)
    return made


def _single(estimator: Estimator) -> Sequence[Tree]:
    """Return the trees of a forest, or the one that an estimator is."""
    if is_forest(estimator):
        return estimator.estimators_
    assert is_tree(estimator)
    return [estimator]


Columns = tuple[Integers, Reals, Integers, Integers, Reals]
"""The nodes of a tree: feature, threshold, left, right and values of each; -1 for the children of a leaf."""


def _nodes(tree: Nodes, factor: float, normed: bool = False) -> Columns:
    values = tree.value[:, 0, :]
    if normed:
        values = values / values.sum(axis=1, keepdims=True)
    return tree.feature, tree.threshold, tree.children_left, tree.children_right, values * factor


def _binned(estimator: Binned, classifies: bool) -> Forest:
    rows: list[list[Columns]] = []
    for stage in estimator._predictors:
        rows.append([])
        for predictor in stage:
            nodes = predictor.nodes
            if nodes["is_categorical"].any():
                raise CircuitizeError("expected features that are numbers, found categories; encode them as numbers")
            leaf = nodes["is_leaf"].astype(bool)
            left, right = (np.where(leaf, -1, nodes[side].astype(np.int64)) for side in ("left", "right"))
            rows[-1].append((nodes["feature_idx"], nodes["num_threshold"], left, right, nodes["value"][:, None]))
    return _boosted(estimator, rows, classifies, narrow=False)


def _boosted(estimator: Estimator, rows: list[list[Columns]], classifies: bool, narrow: bool = True) -> Forest:
    """Return rows of trees, one tree for each score; the starting scores are the difference between the estimator's
    scores and those of the trees.
    """
    first = [place for stage in rows for place in range(len(stage))]
    count = len(rows[0])
    decides = (ABOVE if not narrow else AT_LEAST) if count == 1 else GREATEST
    made = _joined(
        estimator, [tree for stage in rows for tree in stage], first, count, decides if classifies else SCORES, narrow
    )
    zero = np.zeros((1, made.features))
    base = _judged(estimator, zero, classifies)[0] - made.scores(zero)[0]
    return _joined(estimator, [tree for stage in rows for tree in stage], first, count, made.decides, narrow, base)


def _forest(estimator: Estimator, trees: list[Columns], classifies: bool) -> Forest:
    count = trees[0][4].shape[1]
    return _joined(estimator, trees, [0] * len(trees), count, GREATEST if classifies else SCORES, True)


def _joined(
    estimator: Estimator,
    trees: list[Columns],
    first: list[int],
    count: int,
    decides: str,
    narrow: bool,
    base: Reals | None = None,
) -> Forest:
    sizes = [len(tree[0]) for tree in trees]
    starts = np.cumsum([0, *sizes[:-1]])
    feature, threshold, left, right, values = (
        np.concatenate([np.asarray(tree[column]) for tree in trees]) for column in range(5)
    )
    shift = np.repeat(starts, sizes)
    inner = left >= 0
    return Forest(
        int(estimator.n_features_in_),
        np.where(inner, feature, 0).astype(np.int64),
        np.where(inner, threshold, 0.0).astype(np.float64),
        np.where(inner, left + shift, -1).astype(np.int64),
        np.where(inner, right + shift, -1).astype(np.int64),
        np.asarray(values, np.float64),
        starts.astype(np.int64),
        np.array(first, np.int64),
        np.zeros(count) if base is None else base,
        decides,
        narrow,
    )


def _judged(estimator: Estimator, x: Reals, classifies: bool) -> Reals:
    """Return the scores that a scikit-learn estimator gives, [rows, scores]."""
    if not classifies:
        found = estimator.predict(x)
    elif hasattr(estimator, "decision_function"):
        found = estimator.decision_function(x)
    else:
        found = estimator.predict_proba(x)
    return np.asarray(found, np.float64).reshape(len(x), -1)


def _agrees(estimator: Estimator, made: Forest, classifies: bool) -> None:
    """Raise CircuitizeError unless scores on random inputs, thresholds among them, equal the scikit-learn estimator's
    to within 1e-9.
    """
    random = np.random.default_rng(0)
    tested = made.threshold[made.inner] if made.inner.any() else np.zeros(1)
    x = random.choice(tested, (TRIED, made.features))
    x += random.choice([0.0, 0.5, -0.5], x.shape)
    wanted, found = _judged(estimator, x, classifies), made.scores(x)
    if wanted.shape != found.shape or np.abs(wanted - found).max() > 1e-9 * max(1.0, np.abs(wanted).max()):
        raise CircuitizeError(
            f"expected trees that score as {type(estimator).__name__} does, found other scores; use one whose scores "
            "are a constant and the sum of its trees, or export it as ONNX"
        )

"""Ensembles of decision trees of ai.onnx.ml: comparisons of all trees at once, then products level by level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from circuitize.frontends.functions import concatenate
from circuitize.frontends.tensor import Tensor

from ..node import Node
from ..reductions import greatest, least

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

LEAF = -1
GROUP = 256
"""The number of nodes of the trees that are walked together."""
MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER")


@dataclass(frozen=True)
class Trees:
    """The nodes of all trees in one numbering, each with its mode (or LEAF), feature, threshold and both children, and
    each tree's root.
    """

    mode: Integers
    feature: Integers
    threshold: Reals
    true: Integers
    false: Integers
    roots: Integers


def checked(node: Node, trees: Trees, features: int, every: bool = True) -> Trees:
    """Return the trees of an ONNX ensemble after checking them. Raise CircuitizeError unless each node of an ensemble
    belongs to exactly one tree, once, and tests a feature that exists.
    """
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
    """Return the leaves of all trees, and for each row of x an indicator that is 1 at the leaf that the row reaches in
    each tree, else 0.

    The trees of an ensemble are evaluated in groups whose levels are small, since columns are picked by multiplying
    with a matrix of zeros and ones.
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
    """Return the tree of each node, by the tree's number among the roots; -1 for a node of no tree."""
    owner = np.full(len(trees.mode), -1, np.int64)
    owner[trees.roots] = np.arange(len(trees.roots))
    level = trees.roots
    while len(level):
        level = level[trees.mode[level] != LEAF]
        owner[trees.true[level]] = owner[trees.false[level]] = owner[level]
        level = np.concatenate([trees.true[level], trees.false[level]])
    return owner


def _leaves(x: Tensor, trees: Trees, roots: Integers) -> tuple[list[Integers], list[Tensor]]:
    """Return the leaves of some trees and the indicators of the rows that reach them, level by level: one product for
    each inner node.
    """
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
    """Return the given columns of x, in which a column may occur several times."""
    if len(chosen) == x.shape[1] and (chosen == np.arange(len(chosen))).all():
        return x
    return x @ np.eye(x.shape[1])[:, chosen]


def _answers(x: Tensor, trees: Trees, inner: Integers) -> tuple[Tensor, Integers]:
    """Return for each inner node 1 where a row takes the true branch: in columns, one for each distinct test, with the
    place of each node's test among the columns.
    """
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
    """Return the value of each target summed over all trees, given the weights [nodes, targets] of each leaf."""
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

"""Fitted estimators of scikit-learn (`sklearn.tree`, `sklearn.ensemble`), described by the attributes that are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

BOOSTED = ("GradientBoostingClassifier", "GradientBoostingRegressor")
BINNED = ("HistGradientBoostingClassifier", "HistGradientBoostingRegressor")
FORESTS = ("RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor")
TREES = ("DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier", "ExtraTreeRegressor")
KNOWN = (*BOOSTED, *BINNED, *FORESTS, *TREES)


class Estimator(Protocol):
    """An estimator of one output."""

    n_features_in_: int

    def predict(self, x: NDArray[np.float64], /) -> NDArray[np.generic]:
        """Return the prediction for each row."""

    def predict_proba(self, x: NDArray[np.float64], /) -> NDArray[np.float64]:
        """Return the probability of each class for each row; only a classifier does."""


class Nodes(Protocol):
    """The nodes of a tree (`sklearn.tree._tree.Tree`); the children of a leaf are -1."""

    feature: NDArray[np.int64]
    threshold: NDArray[np.float64]
    children_left: NDArray[np.int64]
    children_right: NDArray[np.int64]
    value: NDArray[np.float64]


class Tree(Estimator, Protocol):
    """A single tree."""

    tree_: Nodes


class Forest(Estimator, Protocol):
    """A forest of trees."""

    estimators_: Sequence[Tree]


class Boosted(Estimator, Protocol):
    """Trees that correct each other: in each stage one for each score."""

    learning_rate: float
    estimators_: Sequence[Sequence[Tree]]


class Predictor(Protocol):
    """A tree on binned features, as an array of records."""

    nodes: NDArray[np.void]


class Binned(Estimator, Protocol):
    """Boosted trees on binned features."""

    _predictors: Sequence[Sequence[Predictor]]


def is_known(found: object) -> TypeGuard[Estimator]:
    """Return whether an object is one of the estimators that are read; nothing of scikit-learn is imported."""
    return type(found).__module__.startswith("sklearn.") and type(found).__name__ in KNOWN


def is_tree(found: Estimator) -> TypeGuard[Tree]:
    """Return whether an estimator that is read is a single tree."""
    return type(found).__name__ in TREES


def is_forest(found: Estimator) -> TypeGuard[Forest]:
    """Return whether an estimator that is read is a forest of trees."""
    return type(found).__name__ in FORESTS


def is_boosted(found: Estimator) -> TypeGuard[Boosted]:
    """Return whether an estimator that is read is boosted, on features as they are."""
    return type(found).__name__ in BOOSTED


def is_binned(found: Estimator) -> TypeGuard[Binned]:
    """Return whether an estimator that is read is boosted, on binned features."""
    return type(found).__name__ in BINNED

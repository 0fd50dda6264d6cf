"""Linear models of ai.onnx.ml."""

from __future__ import annotations

import numpy as np

from circuitize.frontends.functions import sigmoid
from circuitize.frontends.tensor import Tensor

from ..elements import Known
from ..node import NUMBERS, Made, Node, operator
from .scores import both, labels, of_greatest, of_two, transformed


def rows_of(node: Node) -> Tensor:
    """Return the first input of an ONNX node as rows of features; a vector counts as one row."""
    x = node.ranked(node.tensor(), 1, 2)
    return x if x.ndim == 2 else x.reshape(1, *x.shape)


def affine(node: Node, x: Tensor) -> Tensor:
    """Return a linear model's scores x @ coefficients^T + intercepts, with one result for each row of coefficients."""
    given: Known = np.asarray(node.attributes["coefficients"], np.float64)
    features = x.shape[1]
    if not given.size or given.size % features:
        raise node.fault(f"expected a coefficient for each of {features} features, found {given.size}; correct them")
    made = x @ given.reshape(-1, features).T
    intercepts = node.attribute("intercepts", None)
    if not intercepts:
        return made
    if len(intercepts) not in (1, made.shape[1]):
        raise node.fault(f"expected {made.shape[1]} intercepts, found {len(intercepts)}; correct them")
    return made + np.broadcast_to(np.asarray(intercepts, np.float64), (made.shape[1],))


@operator("LinearRegressor", kinds=NUMBERS)
def _regressor(node: Node) -> Tensor:
    targets = node.attribute("targets", 1)
    made = affine(node, rows_of(node))
    if made.shape[1] != targets:
        raise node.fault(f"expected coefficients of {targets} targets, found those of {made.shape[1]}; correct them")
    return transformed(node, made)


@operator("LinearClassifier", kinds=NUMBERS, ignores=("multi_class",))
def _classifier(node: Node) -> list[Made]:
    """Return the labels and scores of a linear classifier: a single row of coefficients gives the score of the second
    of two classes, and the first class has 1 minus that score, as in onnxruntime; of several rows each gives the score
    of a class.
    """
    numbers = labels(node, "classlabels_ints", "classlabels_strings")
    scores = affine(node, rows_of(node))
    if scores.shape[1] == 1 and len(numbers) == 2:
        found = of_two(scores, numbers)
        wanted = node.attribute("post_transform", "NONE")
        if wanted == "LOGISTIC":
            return [found, Made(both(sigmoid(-scores), sigmoid(scores)))]
        transformed(node, scores)  # Only to refuse what is not understood.
        return [found, Made(both(1.0 - scores, scores))]
    if scores.shape[1] != len(numbers):
        raise node.fault(
            f"expected coefficients of {len(numbers)} classes, found those of {scores.shape[1]}; correct them"
        )
    return [of_greatest(scores, numbers), Made(transformed(node, scores))]

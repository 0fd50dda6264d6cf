"""Support vector machines of ai.onnx.ml."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from circuitize.frontends.functions import exp, power, sigmoid, tanh
from circuitize.frontends.tensor import Tensor

from ..elements import Known
from ..node import NUMBERS, Made, Node, operator
from .linear import rows_of
from .scores import both, labels, of_greatest, transformed

Reals = NDArray[np.float64]


def kernel(node: Node, x: Tensor, vectors: Reals) -> Tensor:
    """Return the kernel function of each row of x and each support vector: [N, vectors]."""
    kind = node.choice("kernel_type", "LINEAR", "POLY", "RBF", "SIGMOID")
    parameters = [*(node.attribute("kernel_params", None) or []), 0.0, 0.0, 0.0][:3]
    gamma, offset, degree = (float(entry) for entry in parameters)
    products = x @ vectors.T
    if kind == "LINEAR":
        return products
    if kind == "RBF":
        far = (x * x).sum(1, keepdims=True) - 2.0 * products + (vectors * vectors).sum(1)
        return exp(far * -gamma)
    moved = products * gamma + offset
    if kind == "SIGMOID":
        return tanh(moved)
    if degree != int(degree) or not 1 <= degree <= 64:
        raise node.fault(f"expected a whole degree from 1 to 64, found {degree}; use another kernel")
    return power(moved, int(degree))


def _listed(node: Node, name: str) -> Reals:
    return np.asarray(node.attribute(name, None) or [], np.float64)


def _vectors(node: Node, count: int, features: int) -> Reals:
    found = _listed(node, "support_vectors")
    if found.size != count * features:
        raise node.fault(
            f"expected {count} support vectors of {features} features, found {found.size} numbers; correct"
        )
    return found.reshape(count, features)


@operator("SVMRegressor", kinds=NUMBERS)
def _regressor(node: Node) -> Tensor:
    """Return the decision of a support vector machine: the kernels with its support vectors, times coefficients, plus
    rho; for a single class 1 where that sum is above 0, else -1.
    """
    x = rows_of(node)
    count, coefficients, rho = node.attribute("n_supports", 0), _listed(node, "coefficients"), _listed(node, "rho")
    if len(rho) != 1 or coefficients.size != (count or x.shape[1]):
        raise node.fault(
            f"expected {count or x.shape[1]} coefficients and a rho, found {coefficients.size} and {len(rho)}; correct"
        )
    vectors = _vectors(node, count, x.shape[1])
    products = (
        kernel(node, x, vectors) @ coefficients.reshape(-1, 1)
        if count
        else kernel(node, x, coefficients.reshape(1, -1))
    )
    made = products + float(rho[0])
    if node.flag("one_class", 0):
        made = (made > 0.0) * 2.0 - 1.0
    return transformed(node, made)


@operator("SVMClassifier", kinds=NUMBERS)
def _classifier(node: Node) -> list[Made]:
    """Return the labels and scores of a support vector classifier, in which each pair of classes votes by its decision,
    as in LIBSVM; if votes are equal, the first class wins.
    """
    x = rows_of(node)
    numbers = labels(node, "classlabels_ints", "classlabels_strings")
    if _listed(node, "prob_a").size or _listed(node, "prob_b").size:
        raise node.fault("expected decisions, found probabilities (prob_a); export without them")
    counts: list[int] = node.attribute("vectors_per_class", None) or []
    rho, coefficients = _listed(node, "rho"), _listed(node, "coefficients")
    if not counts:
        return _linear(node, x, numbers, coefficients, rho)
    classes, total = len(numbers), sum(counts)
    if len(counts) != classes or coefficients.size != (classes - 1) * total or rho.size != classes * (classes - 1) // 2:
        raise node.fault(
            f"expected counts of {classes} classes, {(classes - 1) * total} coefficients and a rho for each pair, "
            f"found {len(counts)}, {coefficients.size} and {rho.size}; correct the model"
        )
    decisions = _decisions(kernel(node, x, _vectors(node, total, x.shape[1])), counts, coefficients, rho)
    first, second = np.triu_indices(classes, 1)
    won = decisions > 0.0
    # Of a pair, the first class has a vote where it won, the second where it did not.
    tally = np.zeros((len(first), classes))
    pairs = np.arange(len(first))
    tally[pairs, first], tally[pairs, second] = 1.0, -1.0
    votes = won @ tally + np.bincount(second, minlength=classes).astype(np.float64)
    found = of_greatest(votes, numbers)
    if classes == 2:
        return [found, Made(_two(node, decisions))]
    return [found, Made(transformed(node, decisions))]


def _decisions(kernels: Tensor, counts: list[int], coefficients: Reals, rho: Reals) -> Tensor:
    """Return the decision of each pair of classes: [N, pairs]."""
    classes, ends = len(counts), np.cumsum([0, *counts])
    table: Known = coefficients.reshape(classes - 1, -1)
    weights = np.zeros((table.shape[1], len(rho)))
    for pair, (i, j) in enumerate(zip(*np.triu_indices(classes, 1), strict=True)):
        weights[ends[i] : ends[i + 1], pair] = table[j - 1, ends[i] : ends[i + 1]]
        weights[ends[j] : ends[j + 1], pair] = table[i, ends[j] : ends[j + 1]]
    return kernels @ weights + rho


def _two(node: Node, decision: Tensor) -> Tensor:
    if node.attribute("post_transform", "NONE") == "LOGISTIC":
        return both(sigmoid(-decision), sigmoid(decision))
    return transformed(node, both(-decision, decision))


def _linear(node: Node, x: Tensor, numbers: list[int], coefficients: Reals, rho: Reals) -> list[Made]:
    """Return the scores of a support vector machine without support vectors, which has a row of coefficients for each
    class.
    """
    rows = coefficients.size // x.shape[1]
    if rows != len(numbers) or coefficients.size % x.shape[1] or len(rho) < 1:
        raise node.fault(f"expected coefficients of {len(numbers)} classes, found those of {rows}; correct the model")
    made = kernel(node, x, coefficients.reshape(rows, -1)) + float(rho[0])
    return [of_greatest(made, numbers), Made(transformed(node, made))]

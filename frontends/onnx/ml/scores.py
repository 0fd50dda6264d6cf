"""Scores of classes: the transform that is applied to the scores at the end, and the labels that they choose."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from circuitize.frontends.functions import argmax_one_hot, concatenate, sigmoid, softmax
from circuitize.frontends.tensor import Tensor

from ..elements import INT64
from ..node import Made, Node


def transformed(node: Node, scores: Tensor, named: str | None = None) -> Tensor:
    """Return the scores [N, C] after the transform that the attribute post_transform names. Raise CircuitizeError for
    the two values of the attribute post_transform that are not read.
    """
    wanted = named or node.choice("post_transform", "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
    if wanted in ("SOFTMAX_ZERO", "PROBIT"):
        raise node.fault(f"expected post_transform NONE, SOFTMAX or LOGISTIC, found {wanted}; apply it afterwards")
    return softmax(scores) if wanted == "SOFTMAX" else sigmoid(scores) if wanted == "LOGISTIC" else scores


def labels(node: Node, *names: str) -> list[int]:
    """Return the class labels from attributes of the given names: whole numbers, or the places of labels that are
    texts.
    """
    given = [node.attributes.get(name) or [] for name in names]
    if sum(bool(found) for found in given) != 1:
        raise node.fault(f"expected class labels by one of {list(names)}, found {len(names)} of them; give one")
    (found,) = (found for found in given if found)
    if len(set(found)) != len(found):
        raise node.fault("expected distinct class labels, found one twice; correct them")
    return [int(label) for label in found] if isinstance(found[0], int) else list(range(len(found)))


def label(chosen: Tensor, numbers: Sequence[int]) -> Made:
    """Return the label of the class that each row of indicators [N, C] names."""
    content = (chosen * np.asarray(numbers, np.float64)).sum(1)
    return Made(content, INT64, (min(numbers), max(numbers)))


def of_greatest(scores: Tensor, numbers: Sequence[int]) -> Made:
    """Return the label of the greatest score of each row, the first such label if several scores are greatest."""
    return label(argmax_one_hot(scores, 1), numbers)


def of_two(score: Tensor, numbers: Sequence[int], threshold: float = 0.0) -> Made:
    """Return the label of the second of two classes where its scores [N, 1] are above the threshold, else of the
    first.
    """
    first, second = numbers
    content = (score > threshold).sum(1) * float(second - first) + float(first)
    return Made(content, INT64, (min(numbers), max(numbers)))


def both(first: Tensor, second: Tensor) -> Tensor:
    """Return the scores of two classes as columns of one array."""
    return concatenate([first, second], 1)

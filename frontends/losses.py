"""Losses: functions of predictions and targets that give one number."""

from __future__ import annotations

from circuitize.circuits import arrays

from .functions import one_hot, square
from .trace import Tensor


def mean_squared_error(predictions: Tensor, targets: Tensor) -> Tensor:
    """The mean over all elements of (prediction - target)^2."""
    return square(predictions - targets).mean()


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """The mean over examples of -sum of target * log softmax(logits): both [B, C], rows of targets sum to 1.

    Its derivative is (softmax(logits) - targets) / B, whatever the targets are.
    """
    return logits.apply(arrays.CrossEntropy(), targets)


def label_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """The cross-entropy of logits [B, C] and labels [B], whole numbers from 0 to C - 1; undefined for others.

    Use it with `training_step(..., targets=formats.labels(C), target_shape=())`.
    """
    return cross_entropy(logits, one_hot(labels, logits.shape[-1]))


def binary_cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """The mean over all elements of the cross-entropy of targets from 0 to 1 and sigmoid(logits).

    Its derivative is (sigmoid(logits) - targets) / count.
    """
    return logits.apply(arrays.BinaryCrossEntropy(), targets)

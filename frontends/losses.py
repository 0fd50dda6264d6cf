"""Losses: functions of predictions and targets that give one number."""

from __future__ import annotations

from circuitize.circuits import arrays

from .functions import log, maximum, one_hot, square
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


def huber(predictions: Tensor, targets: Tensor, delta: float = 1.0) -> Tensor:
    """The mean over all elements of r^2 / 2 where |r| <= delta, else delta * (|r| - delta / 2), r their difference.

    Its derivative is r between -delta and delta, over the count. Huber, "Robust estimation of a location parameter",
    1964.
    """
    return predictions.apply(arrays.Huber(delta), targets)


def kullback_leibler(logits: Tensor, targets: Tensor, least: float = 2.0**-12) -> Tensor:
    """The mean over examples of the sum of t * (log t - log softmax(logits)): both [B, C], rows of targets sum to 1.

    Targets below `least` have its logarithm, so that 0 counts as 0. The derivative of the logits is that of
    `cross_entropy`.
    """
    entropy = (targets * log(maximum(targets, least))).sum() * (1.0 / targets.shape[0])
    return cross_entropy(logits, targets) + entropy

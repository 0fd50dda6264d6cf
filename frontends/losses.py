"""Losses: functions of predictions and targets that give one number."""

from __future__ import annotations

from circuitize.circuits import arrays

from .functions import log, maximum, one_hot, square
from .provenance import refused
from .tensor import Tensor


def mean_squared_error(predictions: Tensor, targets: Tensor) -> Tensor:
    """Return the mean over all elements of (prediction - target)^2."""
    _require_one_shape(predictions, targets)
    return square(predictions - targets).mean()


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Return the mean over examples of -sum of target * log softmax(logits): logits and targets are [B, C], and rows of
    targets sum to 1.

    The derivative of `cross_entropy` is (softmax(logits) - targets) / B, whatever the targets are.
    """
    _require_indicators(logits, targets)
    return logits.apply(arrays.CrossEntropy(), targets)


def label_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the cross-entropy of logits [B, C] and labels [B], whole numbers from 0 to C - 1; undefined for other
    labels.

    Use a loss of labels with `training_step(..., targets=formats.labels(C), target_shape=())`.
    """
    _require_rows(logits)
    if labels.shape != logits.shape[:1]:
        raise refused(
            f"expected labels of shape {list(logits.shape[:1])}, a class number for each example, found "
            f"{list(labels.shape)}; give training_step targets=formats.labels({logits.shape[-1]}), target_shape=()"
            + (", or use cross_entropy for indicators (one-hot)" if labels.shape == logits.shape else "")
        )
    return cross_entropy(logits, one_hot(labels, logits.shape[-1]))


def binary_cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Return the mean over all elements of the cross-entropy of sigmoid(logits) and targets from 0 to 1.

    The derivative of `binary_cross_entropy` is (sigmoid(logits) - targets) / count.
    """
    _require_one_shape(logits, targets)
    return logits.apply(arrays.BinaryCrossEntropy(), targets)


def huber(predictions: Tensor, targets: Tensor, delta: float = 1.0) -> Tensor:
    """Return the mean over all elements of Huber's loss: r^2 / 2 where |r| <= delta, else delta * (|r| - delta / 2),
    where r is the difference of prediction and target.

    The derivative of `huber` is r clipped to [-delta, delta], divided by the number of elements, where r is the
    difference of prediction and target. `huber` is from Huber, "Robust estimation of a location parameter", 1964.
    """
    _require_one_shape(predictions, targets)
    return predictions.apply(arrays.Huber(delta), targets)


def kullback_leibler(logits: Tensor, targets: Tensor, least: float = 2.0**-12) -> Tensor:
    """Return the mean over examples of the sum of t * (log t - log softmax(logits)): logits and targets are [B, C], and
    rows of targets sum to 1.

    For a target below `least` the logarithm of `least` is used, so that the term of a target 0 is 0. The derivative of
    `kullback_leibler` with respect to the logits is that of `cross_entropy`.
    """
    _require_indicators(logits, targets)
    entropy = (targets * log(maximum(targets, least))).sum() * (1.0 / targets.shape[0])
    return cross_entropy(logits, targets) + entropy


def _require_one_shape(predictions: Tensor, targets: Tensor) -> None:
    """Raise TypingError, with the user's line, for targets that do not have the shape of the predictions."""
    if predictions.shape != targets.shape:
        classes = targets.shape == predictions.shape[:-1] and len(predictions.shape) > 1
        remedy = (
            "leave target_shape out, and give indicators (numpy.eye(classes)[labels]) for class numbers"
            if classes
            else "leave target_shape out, or reshape predictions to one value for each target"
        )
        raise refused(
            f"expected targets of the shape of predictions, {list(predictions.shape)}, found {list(targets.shape)}; "
            f"{remedy}"
        )


def _require_rows(logits: Tensor) -> None:
    if logits.ndim != 2:
        raise refused(
            f"expected logits of two axes, example and class, found {list(logits.shape)}; end the model with dense, or "
            "flatten it"
        )


def _require_indicators(logits: Tensor, targets: Tensor) -> None:
    """Raise TypingError, with the user's line, unless targets are rows of indicators or of probabilities."""
    _require_rows(logits)
    if targets.shape != logits.shape:
        raise refused(
            f"expected targets of shape {list(logits.shape)}, an indicator (one-hot) for each class, found "
            f"{list(targets.shape)}; "
            + (
                "use label_cross_entropy for class numbers"
                if targets.shape == logits.shape[:1]
                else "leave target_shape out"
            )
        )

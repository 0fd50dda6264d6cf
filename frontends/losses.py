"""Losses: functions of predictions and targets that give one number."""

from __future__ import annotations

from .functions import square
from .trace import Tensor


def mean_squared_error(predictions: Tensor, targets: Tensor) -> Tensor:
    """The mean over all elements of (prediction - target)^2."""
    return square(predictions - targets).mean()

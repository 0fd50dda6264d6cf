"""The width of a wire's numbers: the wire's interval says whether 32 bits hold them, which are twice as fast as 64."""

from __future__ import annotations

import numpy as np

from circuitize.circuits.types import Fixed

Width = type[np.int32] | type[np.int64]


def width(*formats: Fixed) -> Width:
    """Return the narrower of int32 and int64 that holds every value of given formats."""
    return np.int32 if all(holds(np.int32, format.low, format.high) for format in formats) else np.int64


def holds(kind: Width | np.dtype[np.signedinteger], low: int, high: int) -> bool:
    """Return whether a dtype of signed integers holds an interval."""
    end = 1 << (8 * np.dtype(kind).itemsize - 1)
    return -end <= low and high < end

"""ONNX graphs as arrows of the real array language."""

from . import (
    arithmetic,
    einsum,
    elementwise,
    indices,
    layout,
    linear,
    logic,
    losses,
    normalization,
    pooling,
    reductions,
    shapes,
)
from .graph import Imported, UnknownValue, arrow
from .node import OPERATORS

__all__ = ["OPERATORS", "Imported", "UnknownValue", "arrow"]

_FAMILIES = (
    arithmetic,
    einsum,
    elementwise,
    indices,
    layout,
    linear,
    logic,
    losses,
    normalization,
    pooling,
    reductions,
    shapes,
)
"""Importing them fills OPERATORS."""

"""ONNX graphs as arrows of the real array language."""

from . import elementwise, layout, linear, losses, normalization, pooling, reductions
from .graph import Imported, UnknownValue, arrow
from .node import OPERATORS

__all__ = ["OPERATORS", "Imported", "UnknownValue", "arrow"]

_FAMILIES = (elementwise, layout, linear, losses, normalization, pooling, reductions)
"""Importing them fills OPERATORS."""

"""ONNX graphs as arrows of the real array language."""

from importlib import import_module

from .graph import Imported, UnknownValue, arrow
from .node import OPERATORS

__all__ = ["OPERATORS", "Imported", "UnknownValue", "arrow"]

# Importing a family of operators fills OPERATORS.
for _family in (
    "arithmetic",
    "einsum",
    "elementwise",
    "indices",
    "layout",
    "linear",
    "logic",
    "losses",
    "normalization",
    "pooling",
    "reductions",
    "shapes",
):
    import_module(f".{_family}", __name__)

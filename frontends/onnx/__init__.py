"""ONNX graphs as arrows of the real array language."""

from importlib import import_module
from pkgutil import iter_modules

from .graph import Imported, UnknownValue, arrow
from .node import OPERATORS

__all__ = ["OPERATORS", "Imported", "UnknownValue", "arrow"]

# The modules beside this one fill OPERATORS.
for _module in iter_modules(__path__):
    import_module(f".{_module.name}", __name__)

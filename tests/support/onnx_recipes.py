"""Random inputs and attributes for every ONNX operator that is read: what `onnx_graphs` makes nodes of."""

from __future__ import annotations

from onnx_element_recipes import ELEMENTS
from onnx_layout_recipes import LAYOUT
from onnx_linear_recipes import LINEAR
from onnx_reduction_recipes import REDUCTIONS
from onnx_training_recipes import TRAINING

RECIPES = ELEMENTS | LAYOUT | LINEAR | REDUCTIONS | TRAINING
"""The others are functions of one tensor."""

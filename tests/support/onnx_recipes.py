"""Random inputs and attributes for every ONNX operator that is read: what `onnx_graphs` makes nodes of."""

from __future__ import annotations

from onnx_element_recipes import ELEMENTS
from onnx_layout_recipes import LAYOUT
from onnx_linear_recipes import LINEAR
from onnx_place_recipes import PLACES
from onnx_reduction_recipes import REDUCTIONS
from onnx_sequence_recipes import SEQUENCES
from onnx_training_recipes import TRAINING

RECIPES = ELEMENTS | LAYOUT | LINEAR | PLACES | REDUCTIONS | SEQUENCES | TRAINING
"""The others are functions of one tensor."""

"""ONNX operators that compute angles: the inverses of sine, cosine and tangent."""

from __future__ import annotations

import math

from circuitize.frontends.functions import clip, relu, square_root
from circuitize.frontends.tensor import Tensor

from .node import Node, operator

TERMS = 9
"""The number of terms of the series for arguments up to tan(pi / 8): the series is right to 2e-9."""


def arctangent(x: Tensor) -> Tensor:
    """Return the angle whose tangent is x, computed as four times the series of a quarter of the angle."""
    quarter = _halved(_halved(x))
    square = quarter * quarter
    total = square * ((-1.0) ** (TERMS - 1) / (2 * TERMS - 1))
    for term in range(TERMS - 2, 0, -1):
        total = (total + (-1.0) ** term / (2 * term + 1)) * square
    return (total + 1.0) * quarter * 4.0


def _halved(tangent: Tensor) -> Tensor:
    """Return the tangent of half the angle whose tangent is given."""
    return tangent / (square_root(tangent * tangent + 1.0) + 1.0)


def arcsine(x: Tensor) -> Tensor:
    """Return the angle whose sine is x: twice the angle whose tangent is x / (1 + sqrt(1 - x^2)); x is clipped to [-1,
    1].
    """
    inside = clip(x, -1.0, 1.0)
    return arctangent(inside / (square_root(relu(1.0 - inside * inside)) + 1.0)) * 2.0


ANGLES = {"Asin": arcsine, "Acos": lambda x: math.pi / 2 - arcsine(x), "Atan": arctangent}


@operator(*ANGLES)
def _angle(node: Node) -> Tensor:
    return ANGLES[node.operator](node.tensor())

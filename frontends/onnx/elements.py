"""ONNX's element types, and the values that carry element types through the importer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from circuitize.circuits.operation import Values
from circuitize.circuits.types import Shape
from circuitize.frontends.tensor import Tensor

Known: TypeAlias = Values

EXACT = 1 << 52
"""The greatest magnitude of whole numbers in arithmetic: float64 holds such numbers, and those one bit longer, exactly.
"""


@dataclass(frozen=True)
class Element:
    """An element type: ONNX's name for it, its kind (float, int or bool) and, unless it is a float, its interval."""

    name: str
    kind: str
    low: int = 0
    high: int = 0

    @property
    def bits(self) -> int:
        """Return the width of an ONNX element type of whole numbers, which wrap modulo 2^bits."""
        return (self.high - self.low).bit_length()

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Return the dtype of known values of an ONNX element type: floats have dtype float64, whatever their width,
        and no whole numbers have fewer than 8 bits.
        """
        if self.kind == "int" and self.bits < 8:
            return np.dtype(np.int8 if self.low else np.uint8)
        return np.dtype(np.float64 if self.kind == "float" else self.name)

    @property
    def tensor(self) -> str:
        """Return the element type as ONNX's schemas write it."""
        return f"tensor({self.name})"


def _whole(signed: bool, bits: int) -> Element:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return Element(f"{'' if signed else 'u'}int{bits}", "int", low, high)


FLOAT, BOOL, INT64 = Element("float", "float"), Element("bool", "bool", 0, 1), _whole(True, 64)
ELEMENTS = {
    1: FLOAT,
    2: _whole(False, 8),
    3: _whole(True, 8),
    4: _whole(False, 16),
    5: _whole(True, 16),
    6: _whole(True, 32),
    7: INT64,
    9: BOOL,
    10: Element("float16", "float"),
    11: Element("double", "float"),
    12: _whole(False, 32),
    13: _whole(False, 64),
    16: Element("bfloat16", "float"),
    21: _whole(False, 4),
    22: _whole(True, 4),
    25: _whole(False, 2),
    26: _whole(True, 2),
}
"""The element types, by ONNX's number. Strings, complex numbers and floats of 8 bits and fewer are not among the
element types.
"""
CODES = {element: code for code, element in ELEMENTS.items()}
STRING = 8
"""ONNX's number for texts, which are read only as labels of classes, by their places."""
NAMED = {element.tensor: element for element in ELEMENTS.values()}


@dataclass(frozen=True)
class Value:
    """The value of a name in an ONNX graph: a wire or a known array, its element type, and the interval of its numbers.

    A known array has the dtype of its ONNX element type; a wire holds the same numbers as reals.
    """

    content: Tensor | Known
    element: Element
    low: int = 0
    high: int = 0

    @property
    def shape(self) -> Shape:
        """Return the shape of the content of an ONNX value."""
        return self.content.shape

    @staticmethod
    def of(array: Known, element: Element) -> Value:
        """Return a known array as an ONNX Value, whose interval is that of its elements."""
        held = np.asarray(array).astype(element.dtype)
        if element.kind == "float" or not held.size:
            return Value(held, element)
        return Value(held, element, int(held.min()), int(held.max()))

"""The real array language: each operation one class with its type, float meaning, derivative and lowering."""

from .comparison import ArgMaxOneHot, Greater, Max, ReLU, Select
from .composite import Composite, expand_composites
from .composites import Mean, Softmax, Square
from .constant import Constant
from .einsum import Einsum, matmul
from .elementwise import Add, Multiply, Negate, Scale, Subtract
from .exponential import Exp
from .language import LinearOperation, RealOperation, Rounding
from .layout import Broadcast, Concatenate, Pad, Reshape, Slice, Sum, Transpose
from .reciprocal import Reciprocal

__all__ = [
    "Add",
    "ArgMaxOneHot",
    "Broadcast",
    "Composite",
    "Concatenate",
    "Constant",
    "Einsum",
    "Exp",
    "Greater",
    "LinearOperation",
    "Max",
    "Mean",
    "Multiply",
    "Negate",
    "Pad",
    "ReLU",
    "RealOperation",
    "Reciprocal",
    "Reshape",
    "Rounding",
    "Scale",
    "Select",
    "Slice",
    "Softmax",
    "Square",
    "Subtract",
    "Sum",
    "Transpose",
    "expand_composites",
    "matmul",
]

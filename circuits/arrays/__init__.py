"""The real array language: each operation one class with its type, float meaning, derivative and lowering."""

from .comparison import ArgMaxOneHot, Greater, Max, ReLU, Select
from .composite import Composite, expand_composites
from .composites import Maximum, Mean, Softmax, Square
from .constant import Constant
from .cross_entropy import BinaryCrossEntropy, CrossEntropy, LogSoftmax, LogSumExp
from .division import Divide
from .einsum import Einsum, matmul
from .elementwise import Add, Multiply, Negate, Scale, Subtract
from .exponential import Exp
from .indexing import Gather, ScatterAdd
from .language import LinearOperation, RealOperation, Rounding
from .layout import Broadcast, Concatenate, Pad, Reshape, Slice, Sum, Transpose
from .logarithm import Log
from .reciprocal import Reciprocal
from .sigmoid import Sigmoid, Tanh
from .square_root import SquareRoot
from .window import OverlapAdd, Window

__all__ = [
    "Add",
    "ArgMaxOneHot",
    "BinaryCrossEntropy",
    "Broadcast",
    "Composite",
    "Concatenate",
    "Constant",
    "CrossEntropy",
    "Divide",
    "Einsum",
    "Exp",
    "Gather",
    "Greater",
    "LinearOperation",
    "Log",
    "LogSoftmax",
    "LogSumExp",
    "Max",
    "Maximum",
    "Mean",
    "Multiply",
    "Negate",
    "OverlapAdd",
    "Pad",
    "ReLU",
    "RealOperation",
    "Reciprocal",
    "Reshape",
    "Rounding",
    "Scale",
    "ScatterAdd",
    "Select",
    "Sigmoid",
    "Slice",
    "Softmax",
    "Square",
    "SquareRoot",
    "Subtract",
    "Sum",
    "Tanh",
    "Transpose",
    "Window",
    "expand_composites",
    "matmul",
]

"""The real array language: each operation one class with its type, float meaning, derivative and lowering."""

from .comparison import ArgMaxOneHot, Greater, Max, ReLU, Select
from .composite import Composite, expand_composites
from .composites import Maximum, Mean, Softmax, Square
from .constant import Constant
from .cross_entropy import BinaryCrossEntropy, CrossEntropy, LogSoftmax, LogSumExp
from .division import Divide
from .einsum import Einsum, matmul
from .elementwise import Add, Multiply, Negate, Scale, Subtract
from .error_function import GELU, Erf, GELUSlope
from .exponential import Exp
from .indexing import Gather, ScatterAdd
from .language import LinearOperation, RealOperation, Rounding
from .layout import Broadcast, Concatenate, Pad, Reshape, Slice, Sum, Transpose
from .logarithm import Log
from .normalization import Normalize, RootMeanSquareNormalize
from .reciprocal import Reciprocal
from .reciprocal_root import ReciprocalSquareRoot
from .sigmoid import Sigmoid, Tanh
from .spherical import Norm, SphericalAttention
from .square_root import SquareRoot
from .tanh_gelu import TanhGELU, TanhGELUSlope
from .window import OverlapAdd, Window

__all__ = [
    "GELU",
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
    "Erf",
    "Exp",
    "GELUSlope",
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
    "Norm",
    "Normalize",
    "OverlapAdd",
    "Pad",
    "ReLU",
    "RealOperation",
    "Reciprocal",
    "ReciprocalSquareRoot",
    "Reshape",
    "RootMeanSquareNormalize",
    "Rounding",
    "Scale",
    "ScatterAdd",
    "Select",
    "Sigmoid",
    "Slice",
    "Softmax",
    "SphericalAttention",
    "Square",
    "SquareRoot",
    "Subtract",
    "Sum",
    "Tanh",
    "TanhGELU",
    "TanhGELUSlope",
    "Transpose",
    "Window",
    "expand_composites",
    "matmul",
]

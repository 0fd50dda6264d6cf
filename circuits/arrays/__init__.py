"""The real array language: each operation one class with its type, float meaning, derivative and lowering."""

from .clip import Clip
from .comparison import ArgMaxOneHot, Greater, Max, ReLU, Select
from .composite import Composite, expand_composites
from .composites import Maximum, Mean, Softmax, Square
from .constant import Constant
from .cross_entropy import BinaryCrossEntropy, CrossEntropy, LogSoftmax, LogSumExp
from .division import Divide
from .einsum import Einsum, matmul
from .elementwise import Add, Multiply, Negate, Scale, Subtract
from .error_function import GELU, Erf, GELUSlope
from .exponential import Exp, Exp2
from .huber import Huber
from .indexing import Gather, OneHot, ScatterAdd
from .language import LinearOperation, RealOperation, Rounding
from .layout import Broadcast, Concatenate, Flip, Pad, Reshape, Slice, Sum, Transpose
from .logarithm import Log, Log2
from .magnitude import ELU, Abs, Minimum, Sign
from .normalization import Normalize, RootMeanSquareNormalize, Variance
from .power import Power
from .reciprocal import Reciprocal
from .reciprocal_root import ReciprocalSquareRoot
from .reductions import CumulativeSum, Min, Product, TopKOneHot
from .sigmoid import Sigmoid, Tanh
from .softplus import Softplus
from .spherical import Norm, SphericalAttention
from .square_root import SquareRoot
from .tanh_gelu import TanhGELU, TanhGELUSlope
from .waves import Cos, Sin
from .whole import Ceil, Floor, Round
from .window import OverlapAdd, Window

__all__ = [
    "ELU",
    "GELU",
    "Abs",
    "Add",
    "ArgMaxOneHot",
    "BinaryCrossEntropy",
    "Broadcast",
    "Ceil",
    "Clip",
    "Composite",
    "Concatenate",
    "Constant",
    "Cos",
    "CrossEntropy",
    "CumulativeSum",
    "Divide",
    "Einsum",
    "Erf",
    "Exp",
    "Exp2",
    "Flip",
    "Floor",
    "GELUSlope",
    "Gather",
    "Greater",
    "Huber",
    "LinearOperation",
    "Log",
    "Log2",
    "LogSoftmax",
    "LogSumExp",
    "Max",
    "Maximum",
    "Mean",
    "Min",
    "Minimum",
    "Multiply",
    "Negate",
    "Norm",
    "Normalize",
    "OneHot",
    "OverlapAdd",
    "Pad",
    "Power",
    "Product",
    "ReLU",
    "RealOperation",
    "Reciprocal",
    "ReciprocalSquareRoot",
    "Reshape",
    "RootMeanSquareNormalize",
    "Round",
    "Rounding",
    "Scale",
    "ScatterAdd",
    "Select",
    "Sigmoid",
    "Sign",
    "Sin",
    "Slice",
    "Softmax",
    "Softplus",
    "SphericalAttention",
    "Square",
    "SquareRoot",
    "Subtract",
    "Sum",
    "Tanh",
    "TanhGELU",
    "TanhGELUSlope",
    "TopKOneHot",
    "Transpose",
    "Variance",
    "Window",
    "expand_composites",
    "matmul",
]

"""The integer array language, which every target implements: exact, closed, every wire with an interval."""

from .arithmetic import Add, IsNegative, Multiply, ReLU, Scale, Shift, Subtract
from .check import Check
from .constant import Constant
from .contraction import Contract
from .division import Divide, SquareRoot
from .expand import expand, operation_classes
from .expansion import Expansion
from .indexing import Gather, ScatterAdd
from .language import IntegerOperation
from .lookup import Lookup
from .selection import ArgMax, ArgMaxOneHot, Clamp, Maximum, Select
from .steps import Affine, Regroup
from .view import View
from .wiring import Concatenate, Reindex, Sum

__all__ = [
    "Add",
    "Affine",
    "ArgMax",
    "ArgMaxOneHot",
    "Check",
    "Clamp",
    "Concatenate",
    "Constant",
    "Contract",
    "Divide",
    "Expansion",
    "Gather",
    "IntegerOperation",
    "IsNegative",
    "Lookup",
    "Maximum",
    "Multiply",
    "ReLU",
    "Regroup",
    "Reindex",
    "Scale",
    "ScatterAdd",
    "Select",
    "Shift",
    "SquareRoot",
    "Subtract",
    "Sum",
    "View",
    "expand",
    "operation_classes",
]

"""The integer array language, which every target implements: its operations are exact, their results are integers, and
every wire has an interval.
"""

from .arithmetic import Add as Add
from .arithmetic import IsNegative as IsNegative
from .arithmetic import Multiply as Multiply
from .arithmetic import ReLU as ReLU
from .arithmetic import Scale as Scale
from .arithmetic import Shift as Shift
from .arithmetic import Subtract as Subtract
from .check import Check as Check
from .constant import Constant as Constant
from .contraction import Contract as Contract
from .division import Divide as Divide
from .division import SquareRoot as SquareRoot
from .expand import expand as expand
from .expand import operation_classes as operation_classes
from .expansion import Expansion as Expansion
from .indexing import Gather as Gather
from .indexing import ScatterAdd as ScatterAdd
from .language import IntegerOperation as IntegerOperation
from .lookup import Lookup as Lookup
from .partial import PARTIAL as PARTIAL
from .selection import ArgMax as ArgMax
from .selection import ArgMaxOneHot as ArgMaxOneHot
from .selection import Clamp as Clamp
from .selection import Maximum as Maximum
from .selection import Select as Select
from .selection import Wrap as Wrap
from .steps import Affine as Affine
from .steps import Regroup as Regroup
from .view import View as View
from .wiring import Concatenate as Concatenate
from .wiring import Reindex as Reindex
from .wiring import Sum as Sum

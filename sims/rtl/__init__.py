"""Simulation of emitted Verilog, with random gaps and backpressure, and comparison of its outputs with the integer
executor's.
"""

from .compare import Comparison as Comparison
from .compare import Expected as Expected
from .compare import check_design as check_design
from .compare import compare as compare
from .compare import expected as expected
from .compare import state_names as state_names
from .simulate import Frames as Frames
from .simulate import Simulation as Simulation
from .simulate import simulate as simulate
from .simulators import REMEDIES as REMEDIES
from .simulators import SIMULATORS as SIMULATORS
from .simulators import Simulator as Simulator
from .simulators import available as available
from .simulators import find as find
from .target import Verilog as Verilog

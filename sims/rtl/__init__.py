"""Runs emitted Verilog in a simulator, with random gaps and backpressure, beside the integer executor."""

from .compare import Comparison, Expected, check_design, compare, expected, state_names
from .simulate import Frames, Simulation, simulate
from .simulators import SIMULATORS, Simulator, available, find

__all__ = [
    "SIMULATORS",
    "Comparison",
    "Expected",
    "Frames",
    "Simulation",
    "Simulator",
    "available",
    "check_design",
    "compare",
    "expected",
    "find",
    "simulate",
    "state_names",
]

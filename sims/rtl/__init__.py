"""Runs emitted Verilog in a simulator, with random gaps and backpressure, beside the integer executor."""

from .compare import Comparison, Expected, check_design, compare, expected, state_names
from .simulate import Frames, Simulation, simulate
from .simulators import REMEDIES, SIMULATORS, Simulator, available, find
from .target import Verilog

__all__ = [
    "REMEDIES",
    "SIMULATORS",
    "Comparison",
    "Expected",
    "Frames",
    "Simulation",
    "Simulator",
    "Verilog",
    "available",
    "check_design",
    "compare",
    "expected",
    "find",
    "simulate",
    "state_names",
]

"""Runs emitted Verilog in a simulator, with random gaps and backpressure, beside the integer executor."""

from .compare import Comparison, Expected, check_design, compare, expected, state_names
from .designs import DesignRun, check_designs
from .frames import bound_somehow, example_frames, frames_to_try, right_frames, vectors
from .resets import Resets, check_resets
from .simulate import Frames, Simulation, simulate
from .simulators import REMEDIES, SIMULATORS, Simulator, available, find
from .target import Verilog

__all__ = [
    "REMEDIES",
    "SIMULATORS",
    "Comparison",
    "DesignRun",
    "Expected",
    "Frames",
    "Resets",
    "Simulation",
    "Simulator",
    "Verilog",
    "available",
    "bound_somehow",
    "check_design",
    "check_designs",
    "check_resets",
    "compare",
    "example_frames",
    "expected",
    "find",
    "frames_to_try",
    "right_frames",
    "simulate",
    "state_names",
    "vectors",
]

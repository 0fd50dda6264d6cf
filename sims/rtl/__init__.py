"""Runs emitted Verilog in a simulator, with random gaps and backpressure, beside the integer executor."""

from .simulate import Frames, Simulation, simulate
from .simulators import SIMULATORS, available, find

__all__ = ["SIMULATORS", "Frames", "Simulation", "available", "find", "simulate"]

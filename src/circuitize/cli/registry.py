"""The targets and schedulers that the command line knows: one line each."""

from __future__ import annotations

from types import MappingProxyType

TARGETS = MappingProxyType(
    {
        "r1cs": "circuitize.backends.r1cs",
        "plonkish": "circuitize.backends.plonkish",
        "verilog": "circuitize.backends.verilog",
    }
)

SCHEDULERS = MappingProxyType(
    {"parallel": "circuitize.backends.verilog.parallel", "folded": "circuitize.backends.verilog.folded"}
)
SCHEDULER_OPTIONS = MappingProxyType(
    {"parallel": ("levels_per_stage", "multiplication"), "folded": ("dsp_budget", "interval_budget", "lanes")}
)
"""By scheduler, the options of its `schedule` that the command line offers."""
SIMULATORS = ("icarus", "verilator")

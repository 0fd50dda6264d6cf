"""The targets, provers and schedulers that the command line knows: one line each."""

from __future__ import annotations

from types import MappingProxyType

from circuitize.provers.names import KEYED

TARGETS = MappingProxyType(
    {
        "r1cs": "circuitize.backends.r1cs",
        "plonkish": "circuitize.backends.plonkish",
        "verilog": "circuitize.backends.verilog",
    }
)
PROVERS = MappingProxyType({name: f"circuitize.provers.{name}" for name in KEYED})

SCHEDULERS = MappingProxyType(
    {"parallel": "circuitize.backends.verilog.parallel", "folded": "circuitize.backends.verilog.folded"}
)
SCHEDULER_OPTIONS = MappingProxyType(
    {"parallel": ("levels_per_stage", "multiplication"), "folded": ("dsp_budget", "interval_budget", "lanes")}
)
"""By scheduler, the options of its `schedule` that the command line offers."""
SIMULATORS = ("icarus", "verilator")

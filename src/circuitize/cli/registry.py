"""The targets, provers and schedulers that the command line knows: one line each."""

from __future__ import annotations

from types import MappingProxyType

TARGETS = MappingProxyType(
    {
        "r1cs": "circuitize.backends.r1cs",
        "plonkish": "circuitize.backends.plonkish",
        "verilog": "circuitize.backends.verilog",
    }
)
PROVERS = MappingProxyType(
    {
        "groth16": "circuitize.provers.groth16",
        "mirage": "circuitize.provers.mirage",
        "halo2": "circuitize.provers.halo2",
    }
)
KEYLESS = MappingProxyType({"tensor": "circuitize.provers.tensor"})
"""Provers that need no setup: the verifier holds the program."""

KEY_FILES = (
    "proving.key",
    "verifying.key",
    "verification_key.json",
    "program.arrow",
    "INSECURE-DEVELOPMENT-KEYS.txt",
)
"""Everything that `setup` writes, by whichever prover."""

PROOF_FILES = (
    "statement.json",
    "proof.json",
    "public.json",
    "NOT-ZERO-KNOWLEDGE.txt",
    *(f"proof.{name}" for name in (*PROVERS, *KEYLESS)),
)
"""Everything that `prove` writes into a proof's folder, by whichever prover."""

SCHEDULERS = MappingProxyType(
    {"parallel": "circuitize.backends.verilog.parallel", "folded": "circuitize.backends.verilog.folded"}
)
SCHEDULER_OPTIONS = MappingProxyType(
    {"parallel": ("levels_per_stage", "multiplication"), "folded": ("dsp_budget", "interval_budget", "lanes")}
)
"""By scheduler, the options of its `schedule` that the command line offers."""
SIMULATORS = ("icarus", "verilator")

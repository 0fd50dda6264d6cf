"""The targets and provers that the command line knows: one line each."""

from __future__ import annotations

from types import MappingProxyType

TARGETS = MappingProxyType({"r1cs": "circuitize.backends.r1cs"})
PROVERS = MappingProxyType({"groth16": "circuitize.provers.groth16"})

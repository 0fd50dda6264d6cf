"""The targets there are, by name, in the order in which they are shown."""

from __future__ import annotations

from typing import Any

from circuitize.circuits.errors import CircuitizeError

from .contract import Target
from .mirage import mirage
from .plonkish import plonkish
from .r1cs import r1cs
from .tensor import tensor_proof
from .verilog import verilog

TARGETS: dict[str, Target[Any]] = {}
"""One entry for each kind of circuit; several provers may take the same."""


def register(target: Target[Any]) -> None:
    """Add a target: compile, estimate, check, accuracy, their help and the generic tests have it from then on.

    Raises CircuitizeError where another one has its name.
    """
    if target.name in TARGETS:
        raise CircuitizeError(f"expected a target with a name of its own, found {target.name!r}; rename it")
    TARGETS[target.name] = target


for _target in (r1cs, mirage, plonkish, tensor_proof, verilog):
    register(_target)

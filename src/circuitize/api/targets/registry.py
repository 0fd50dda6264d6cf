"""Return all registered targets by name, in the order in which they are shown."""

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
"""The map of targets has one entry for each kind of circuit; several provers may take the same kind."""


def register(target: Target[Any]) -> None:
    """Add a target: compile, estimate, check, accuracy, their help and the generic tests include it from then on.

    Raise CircuitizeError if another target has its name, or another option has the name of one of its options.
    """
    known = {option.name: option for other in TARGETS.values() for option in other.options}
    taken = [option.flag for option in target.options if known.get(option.name, option) != option]
    if target.name in TARGETS or taken:
        found = taken[0] if taken else repr(target.name)
        raise CircuitizeError(f"expected a target with names of its own, found {found}, which another has; rename it")
    TARGETS[target.name] = target


for _target in (r1cs, mirage, plonkish, tensor_proof, verilog):
    register(_target)

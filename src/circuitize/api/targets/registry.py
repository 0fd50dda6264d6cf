"""The registry of all targets by name, in the order in which lists show them."""

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


def register(target: Target[object]) -> None:
    """Add a target to the registry: from then on compile, estimate, check and accuracy, their help texts and the
    generic tests include it.

    Raise CircuitizeError if a registered target has the same name, or if a registered option has the name of one of the
    new target's options.
    """
    known = {option.name: option for other in TARGETS.values() for option in other.options}
    taken = [option.flag for option in target.options if known.get(option.name, option) != option]
    if target.name in TARGETS or taken:
        found = taken[0] if taken else repr(target.name)
        raise CircuitizeError(f"expected a target with names of its own, found {found}, which another has; rename it")
    TARGETS[target.name] = target


for _target in (r1cs, mirage, plonkish, tensor_proof, verilog):
    register(_target)

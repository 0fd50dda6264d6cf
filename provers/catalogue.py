"""The provers there are, by name: a folder each, whose `descriptor` is imported when it is needed."""

from __future__ import annotations

from importlib import import_module

from circuitize.circuits.errors import CircuitizeError

from .contract import Prover
from .names import KEYED, KEYLESS

NAMES = (*KEYED, *KEYLESS)


def prover(name: str) -> Prover:
    """The prover of that name. Raises CircuitizeError where there is none."""
    if name not in NAMES:
        raise CircuitizeError(f"expected a prover among {', '.join(NAMES)}, found {name!r}; choose one of them")
    found: Prover = import_module(f"circuitize.provers.{name}.descriptor").PROVER
    return found

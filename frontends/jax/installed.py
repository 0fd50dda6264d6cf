"""The package jax, an optional extra that is imported when a function of JAX is read."""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType

from circuitize.circuits.errors import CircuitizeError

REMEDY = "pip install 'circuitize[jax]'"
OLDEST = (0, 7)
"""The oldest release of JAX that is supported: older ones have other primitives and other names of parameters."""


@cache
def package() -> ModuleType:
    """Return the installed package jax. Raise CircuitizeError if jax is missing or too old."""
    try:
        jax = importlib.import_module("jax")
    except ImportError:
        raise CircuitizeError(f"expected the package jax to trace a function, found none; {REMEDY}") from None
    found = jax.__version_info__
    if tuple(found[:2]) < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise CircuitizeError(f"expected jax {wanted} or newer, found jax {jax.__version__}; {REMEDY}")
    return jax

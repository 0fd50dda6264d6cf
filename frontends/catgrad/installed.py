"""The installed catgrad: checks of its version, and what must be prepared before it can be imported."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType

from circuitize.circuits.errors import CircuitizeError

VERSION = "0.2.2"
REMEDY = "pip install 'circuitize[catgrad]'"
_TORCH_BACKEND = "catgrad.target.python.array_backend.torch"


def prepare() -> None:
    """Let `import catgrad` work without torch, which catgrad imports but does not require; this is harmless if catgrad
    is missing.

    The replacement for torch has an effect only if torch is not installed: catgrad's backend for torch is then an empty
    class.
    """
    if _TORCH_BACKEND not in sys.modules and not importlib.util.find_spec("torch"):
        module = ModuleType(_TORCH_BACKEND)
        module.__dict__["Torch"] = type("Torch", (), {})
        sys.modules[_TORCH_BACKEND] = module


def require(package: str, wanted: str) -> None:
    """Raise CircuitizeError unless a package is installed with the known version."""
    try:
        found = version(package)
    except PackageNotFoundError:
        raise CircuitizeError(f"expected {package} {wanted}, found none; {REMEDY}") from None
    if found != wanted:
        raise CircuitizeError(f"expected {package} {wanted}, found {package} {found}; {REMEDY}")


@cache
def module(name: str) -> ModuleType:
    """Import and return a module of catgrad, or of the open hypergraphs that catgrad uses. Raise CircuitizeError unless
    catgrad is installed with the known version.
    """
    require("catgrad", VERSION)
    numpy = version("numpy")
    if int(numpy.partition(".")[0]) >= 2:
        raise CircuitizeError(f"expected numpy below 2, as catgrad {VERSION} needs, found numpy {numpy}; {REMEDY}")
    prepare()
    return importlib.import_module(name)

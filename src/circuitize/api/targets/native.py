"""Targets that need the native part of the package, and their message if it is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .contract import LeftOut

MISSING = "left out, there is no native prover for this Python; install a wheel, or in a checkout: make build"


@contextmanager
def native_part() -> Iterator[None]:
    """Import the modules that need the native part. Raise LeftOut if the native part is missing."""
    try:
        yield
    except ImportError as error:
        if error.name != "circuitize._native":
            raise
        raise LeftOut(MISSING) from None

"""The message that a target gives if it needs the native part of the package and that part is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .contract import LeftOut

MISSING = "left out, there is no native prover for this Python; install a wheel, or in a checkout: make build"


@contextmanager
def native_part() -> Iterator[None]:
    """Run the block of a `with` statement that imports modules of the package's native part. Raise LeftOut if the
    native part of the package is missing.
    """
    try:
        yield
    except ImportError as error:
        if error.name != "circuitize._native":
            raise
        raise LeftOut(MISSING) from None

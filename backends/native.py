"""What backends take from the native part of the package, which is quicker, where it is installed."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray


class Boxes(Protocol):
    """A permutation of S-boxes x^5 over BN254."""

    def trace(self, inputs: NDArray[np.uint64]) -> bytes:
        """Return for each group of inputs, given as limbs, x^2, x^4 and x^5 of each S-box and then the output, 32 bytes
        each. Raise ValueError for an input that is not below the prime, and for a group that is not whole.
        """


class Native(Protocol):
    """The functions of the native part that backends call; each has a definition in Python that it equals."""

    def failing_rows(self, system: object, witness: NDArray[np.uint64]) -> list[int]:
        """Return the rows of a constraint system over BN254 that a witness breaks, in ascending order."""

    def Boxes(  # noqa: N802
        self,
        offsets: NDArray[np.int64],
        sources: NDArray[np.int64],
        coefficients: NDArray[np.uint64],
        inputs: int,
    ) -> Boxes:
        """Return the permutation whose row i, the input of S-box i or at the end the output, is the sum of coefficients
        times the values in `sources` from offsets[i] to offsets[i + 1].
        """


@cache
def native() -> Native | None:
    """Return the native part of the package, or None if it is not installed."""
    try:
        return cast(Native, import_module("circuitize._native"))
    except ImportError as error:
        if error.name != "circuitize._native":
            raise
        return None

"""The vector instructions that native tensor proofs are computed with."""

from __future__ import annotations

import circuitize._native as _native
from circuitize.circuits.errors import CircuitizeError


def instructions() -> str:
    """`portable`, `avx2` or `avx512`: the widest that the processor has and the variable CIRCUITIZE_SIMD allows.

    Proofs do not depend on the instructions. The environment is read once in a process. Raise CircuitizeError if the
    variable holds anything else.
    """
    try:
        return _native.tensor_instructions()
    except ValueError as error:
        raise CircuitizeError(str(error)) from None

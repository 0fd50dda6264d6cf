"""The vector instructions with which tensor proofs are computed natively."""

from __future__ import annotations

import circuitize._native as _native
from circuitize.circuits.errors import CircuitizeError


def instructions() -> str:
    """Return `portable`, `avx2` or `avx512`, the widest instructions that the processor has and the variable
    CIRCUITIZE_SIMD allows.

    The bytes of proofs do not depend on the vector instructions. The environment variable CIRCUITIZE_SIMD is read once
    in a process. Raise CircuitizeError if CIRCUITIZE_SIMD holds any other value.
    """
    try:
        return _native.tensor_instructions()
    except ValueError as error:
        raise CircuitizeError(str(error)) from None

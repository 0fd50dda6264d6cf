"""The processor's vector instructions with which tensor proofs are computed natively."""

from __future__ import annotations

import circuitize._native as _native
from circuitize.circuits.errors import CircuitizeError


def instructions() -> str:
    """Return `portable`, `avx2` or `avx512`: the widest vector instructions that the processor has and the environment
    variable CIRCUITIZE_SIMD allows.

    The bytes of a proof do not depend on the vector instructions with which it is computed. The environment variable
    CIRCUITIZE_SIMD is read only once in a process. Raise CircuitizeError if CIRCUITIZE_SIMD is set to anything but
    `portable`, `avx2` or `avx512`.
    """
    try:
        return _native.tensor_instructions()
    except ValueError as error:
        raise CircuitizeError(str(error)) from None

"""Numbers as files of weights store them: BF16, halves, floats and whole numbers."""

from __future__ import annotations

import numpy as np

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.operation import Values

KINDS: dict[str, np.dtype[np.generic]] = {
    "BOOL": np.dtype("|b1"),
    "U8": np.dtype("|u1"),
    "I8": np.dtype("|i1"),
    "I16": np.dtype("<i2"),
    "U16": np.dtype("<u2"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype("<u2"),
    "I32": np.dtype("<i4"),
    "U32": np.dtype("<u4"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
    "I64": np.dtype("<i8"),
    "U64": np.dtype("<u8"),
}
"""The numpy dtype that holds each type, by its name in safetensors, narrow ones first. BF16, which numpy does not have,
is held by its bits.
"""

FLOATS = ("F16", "BF16", "F32", "F64")


def kind_of(array: Values, where: str) -> str:
    """Return the name in safetensors of the type of an array's numbers. Raise CircuitizeError for an array of a type
    that safetensors does not have.
    """
    for kind, dtype in KINDS.items():
        if kind != "BF16" and array.dtype == dtype:
            return kind
    raise CircuitizeError(f"{where}: expected numbers of {', '.join(KINDS)}, found dtype {array.dtype}; convert it")


def decoded(kind: str, stored: Values) -> Values:
    """Return the numbers in types that numpy has: BF16 as float32, which represents each of its numbers exactly."""
    if kind != "BF16":
        return stored
    return (stored.astype("<u4") << np.uint32(16)).view("<f4")


def encoded(kind: str, array: Values, where: str) -> Values:
    """Return numbers as a safetensors file stores them, each rounded once, half to even.

    Raise CircuitizeError for a finite number beyond the type's range, and for a fraction in a type of whole numbers.
    """
    dtype = KINDS[kind]
    if kind in FLOATS:
        with np.errstate(over="ignore", invalid="ignore"):
            stored = _upper_bits(array) if kind == "BF16" else np.asarray(array, dtype, order="C")
            past = ~np.isfinite(decoded(kind, stored)) & np.isfinite(array)
    else:
        with np.errstate(invalid="ignore", over="ignore"):
            stored = np.asarray(array, dtype, order="C")
        past = stored != array
    if np.any(past):
        found = np.asarray(array)[past].flat[0]
        raise CircuitizeError(f"{where}: expected numbers that {kind} holds, found {found}; choose another kind")
    return stored


def _upper_bits(array: Values) -> Values:
    """Return the upper sixteen bits of the float32 nearest to each number, among the float32 whose lower sixteen bits
    are zero.
    """
    single = np.asarray(array, "<f4", order="C")
    bits = single.view("<u4")
    if not np.array_equal(single, array, equal_nan=True) or np.any(bits & np.uint32(0xFFFF)):
        wide = np.asarray(array, np.float64)
        # Eight bits of significand, and no unit below 2^-133.
        unit = np.maximum(np.frexp(wide)[1] - 8, -133)
        bits = np.ldexp(np.rint(np.ldexp(wide, -unit)), unit).astype("<f4").view("<u4")
    return (bits >> np.uint32(16)).astype("<u2")

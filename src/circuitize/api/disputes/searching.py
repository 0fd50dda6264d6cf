"""The search for the values behind a wrong hash of a part of a tensor: values that differ from the right ones in one
bit, or another example of the dataset.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from ..exact import Integers

MOST = 1 << 17
"""The most changes of one bit that are tried: all changes in a chunk of 2,048 elements."""


@dataclass(frozen=True)
class Found:
    """The place in a chunk of a tensor where a side's value differs from the right one, and the side's value there."""

    at: int
    claimed: int


def found_values(right: Integers, wanted: bytes) -> Found | None:
    """Return the change of a single bit that gives a chunk of a tensor the wanted hash, or None if no such change does,
    or if the chunk is too large to try.
    """
    content = bytearray(np.ascontiguousarray(right, "<i8").tobytes())
    if 8 * len(content) > MOST:
        return None
    for byte in range(len(content)):
        for bit in range(8):
            content[byte] ^= 1 << bit
            if hashlib.sha256(content).digest() == wanted:
                at = byte // 8
                return Found(at, int.from_bytes(content[8 * at : 8 * at + 8], "little", signed=True))
            content[byte] ^= 1 << bit
    return None


def found_example(data: Integers, wanted: bytes) -> int | None:
    """Return the number of the example in a dataset that has the wanted hash, or None if no example has it."""
    for number, values in enumerate(data):
        if hashlib.sha256(np.ascontiguousarray(values, "<i8").tobytes()).digest() == wanted:
            return number
    return None

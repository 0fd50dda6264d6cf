"""Starting values that anybody can draw again from a public seed: the draws use integers, and are the same on every
machine.
"""

from __future__ import annotations

import hashlib
from math import prod
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import TypingError
from circuitize.circuits.types import Shape

DOMAIN = b"circuitize start 1"
SUMMED = 12
"""How many uniform numbers are added up to a sum of variance 1, and is nearly normal."""


class Draws:
    """A source of random numbers for initializers, used instead of numpy's generator, whose streams change from version
    to version.

    Draw k = 0, 1, ... takes its numbers from SHAKE-256(DOMAIN || length of the seed || seed || k), with lengths and k
    as 8 bytes, little-endian. A normal number is the sum of 12 words of 16 bits, less the sum's mean, over 2^16: an
    Irwin-Hall distribution of variance 1, within [-6, 6]. A uniform number is a word of 32 bits over 2^32. Normal and
    uniform numbers are exact in float64; one multiplication then scales them and one addition moves them, each rounded
    as IEEE 754 says.
    """

    def __init__(self, seed: bytes) -> None:
        self._head = DOMAIN + len(seed).to_bytes(8, "little") + seed
        self._drawn = 0

    def __getattr__(self, name: str) -> NoReturn:
        raise TypingError(f"expected an initializer that draws by normal or uniform, found {name!r}; give another seed")

    def standard_normal(self, size: Shape) -> NDArray[np.float64]:
        """Return normal numbers of mean 0 and deviation 1; the method has the name that numpy's generators give it."""
        return self.normal(0.0, 1.0, size)

    def normal(self, loc: float, scale: float, size: Shape) -> NDArray[np.float64]:
        """Return normal numbers, each a sum of 12 words: no number is further than 6 deviations from the mean."""
        words = self._words(prod(size) * SUMMED, "<u2").reshape(*size, SUMMED)
        # The mean of a word is half of 2^16 - 1; twelve of them have a whole one.
        sums = words.astype(np.int64).sum(-1) - SUMMED // 2 * 0xFFFF
        made: NDArray[np.float64] = np.ldexp(sums.astype(np.float64), -16) * scale + loc
        return made

    def uniform(self, low: float, high: float, size: Shape) -> NDArray[np.float64]:
        """Return uniform numbers in [low, high), multiples of (high - low) / 2^32 from `low` on."""
        words = self._words(prod(size), "<u4").reshape(size)
        made: NDArray[np.float64] = np.ldexp(words.astype(np.float64), -32) * (high - low) + low
        return made

    def _words(self, count: int, type: str) -> NDArray[np.unsignedinteger]:
        head = self._head + self._drawn.to_bytes(8, "little")
        self._drawn += 1
        return np.frombuffer(hashlib.shake_256(head).digest(count * np.dtype(type).itemsize), type)

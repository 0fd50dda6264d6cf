"""The verifier's end of the channel: reads messages out of a proof, and derives challenges by BLAKE3."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from blake3 import blake3

from .arithmetic import Elements, Numbers, elements
from .goldilocks import PRIME


@lru_cache
def hashed_for(use: str) -> Callable[[bytes], bytes]:
    """BLAKE3 with a context for each use."""
    begun = blake3(derive_key_context=f"circuitize 2026 tensor {use} 2").copy
    return lambda content: begun().update(content).digest()


def hashed(use: str, content: bytes) -> bytes:
    return hashed_for(use)(content)


class Refused(Exception):
    """The proof does not hold, for the reason given."""


class Transcript:
    """state = H(state, tag, label, ...): tag 1 absorbs a message, 2 draws a challenge, 3 expands it."""

    def __init__(self, messages: bytes, degree: int) -> None:
        self.degree = degree
        self.state = bytes(32)
        self.messages = messages
        self.at = 0

    def _head(self, tag: int, label: str) -> bytes:
        name = label.encode()
        return self.state + bytes([tag, len(name)]) + name

    def absorb(self, label: str, content: bytes) -> None:
        self.state = hashed("transcript", self._head(1, label) + struct.pack("<Q", len(content)) + content)

    def challenge(self, label: str) -> Elements:
        """An element: 16 bytes a coordinate, two coordinates of the new state and a third, if any, of its expansion."""
        self.state = hashed("transcript", self._head(2, label))
        drawn = self.state
        if self.degree > 2:
            drawn += self._expanded(label, 0)
        coordinates = [int.from_bytes(drawn[16 * k : 16 * (k + 1)], "little") % PRIME for k in range(self.degree)]
        return elements(np.array(coordinates, np.uint64))

    def _expanded(self, label: str, counter: int) -> bytes:
        return hashed("transcript", self._head(3, label) + struct.pack("<I", counter))

    def positions(self, label: str, count: int, bits: int) -> list[int]:
        """Distinct places below 2^bits, in order, out of `count` draws."""
        self.state = hashed("transcript", self._head(2, label))
        drawn: list[int] = []
        for counter in range((count + 3) // 4):
            drawn += [number % (1 << bits) for number in struct.unpack("<4Q", self._expanded(label, counter))]
        return sorted(set(drawn[:count]))

    def bytes(self, label: str, length: int) -> bytes:
        found = self.messages[self.at : self.at + length]
        if len(found) != length:
            raise Refused(f"the proof ends inside {label}")
        self.at += length
        self.absorb(label, found)
        return found

    def numbers(self, label: str, count: int) -> Numbers:
        """Elements of the base field, each in its one encoding."""
        words = np.frombuffer(self.bytes(label, 8 * count), "<u8")
        if (words >= PRIME).any():
            raise Refused(f"a word of {label} is not below p")
        return elements(words)

    def elements(self, label: str, count: int) -> Elements:
        return self.numbers(label, self.degree * count).reshape(count, self.degree)

    def finish(self) -> None:
        if self.at != len(self.messages):
            raise Refused(f"the proof has {len(self.messages) - self.at} bytes too many")

"""What a cheating prover is made of: a channel, words in Merkle trees, messages that fit challenges known before."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from independent_verifier.arithmetic import (
    Elements,
    Field,
    Numbers,
    interpolated,
    inverse,
    inverted,
    multiply,
    one,
    scale,
    total,
)
from independent_verifier.opening import SYMBOLS, root_of_unity, roots_to
from independent_verifier.transcript import Transcript, hashed


class Deaf(Transcript):
    """A channel that does not absorb what has these labels."""

    labels: frozenset[str] = frozenset()

    def absorb(self, label: str, content: bytes) -> None:
        if label not in self.labels:
            super().absorb(label, content)


class Sending(Deaf):
    """The prover's end: a message is put into the proof and read from it again."""

    def send(self, label: str, content: bytes) -> None:
        self.messages += content
        self.bytes(label, len(content))

    def peek(self, label: str) -> Elements:
        """The challenge that comes next, if what is sent before it is not absorbed."""
        state = self.state
        found = self.challenge(label)
        self.state = state
        return found

    def send_numbers(self, label: str, values: Any) -> None:
        self.send(label, np.asarray(values).reshape(-1).astype("<u8").tobytes())


def transform(values: Elements) -> Elements:
    """Values at all powers of the root of unity, in bit-reversed order; the first axis holds coefficients."""
    shape, size = values.shape, len(values)
    own = (-1,) if values.ndim == 1 else (-1, 1)
    while size > 1:
        blocks = values.reshape(-1, size, *shape[1:])
        low, high = blocks[:, : size // 2], blocks[:, size // 2 :]
        roots = roots_to(root_of_unity(size.bit_length() - 1), list(range(size // 2))).reshape(own)
        values = np.concatenate([low + high, (low - high) * roots], axis=1)
        size //= 2
    return values.reshape(shape)


class Tree:
    """A word on a domain twice the size of its polynomial or more, in leaves of 16 symbols."""

    def __init__(self, coefficients: Elements, bits: int, secret: bytes | None) -> None:
        padded = Field.zeros((1 << bits, *coefficients.shape[1:]))
        padded[: len(coefficients)] = coefficients
        self.set_word(transform(padded), secret)

    def set_word(self, word: Elements, secret: bytes | None) -> None:
        self.leaves = word.reshape(len(word) // SYMBOLS, SYMBOLS, -1)
        count = len(self.leaves)
        self.salts = [hashed("salt", secret + bytes([i % 256, i // 256]))[:16] if secret else b"" for i in range(count)]
        contents = [np.asarray(leaf).reshape(-1).astype("<u8").tobytes() for leaf in self.leaves]
        use = "leaf" if secret else "folded leaf"
        level = [hashed(use, x + salt) for x, salt in zip(contents, self.salts, strict=True)]
        self.levels = [level]
        while len(level) > 1:
            level = [hashed("node", level[i] + level[i + 1]) for i in range(0, len(level), 2)]
            self.levels.append(level)
        self.top = level[0]

    def missing(self, places: Iterable[int]) -> list[bytes]:
        found, known = [], sorted(places)
        for level in self.levels[:-1]:
            found += [level[place ^ 1] for place in known if place ^ 1 not in known]
            known = sorted({place // 2 for place in known})
        return found


def padded(values: Any, shape: tuple[int, ...]) -> Any:
    """Flat values of a tensor where its axes are padded to powers of two with zeros, flat; elements of either field."""
    more = tuple(values.shape[1:])
    made = Field.zeros((*(1 << (extent - 1).bit_length() for extent in shape), *more))
    made[tuple(slice(extent) for extent in shape)] = values.reshape((*shape, *more))
    return made.reshape(-1, *more)


def power_weights(factors: Elements, z: Numbers, size: int) -> Elements:
    """For each b below size, the sum of factors times z^b."""
    table, square = Field.ones((len(z), 1)), z
    while table.shape[1] < size:
        table = np.concatenate([table, table * square[:, None]], axis=1)
        square = square * square
    return total(scale(factors[:, None], table))


def divide(x: Elements, y: Elements) -> Elements:
    return multiply(x, inverse(y))


def adapted(message: Elements, claim: Elements, r: Elements, true: Elements) -> Elements:
    """The message of a false claim that leaves a true one at r, where r is known before: h(0) is moved."""
    made = message.copy()
    without = interpolated(message[None], claim, r[None])
    made[0] = made[0] + one(len(r))
    step = interpolated(made[None], claim, r[None]) - without
    made[0] = message[0] + divide(true - without, step)
    return made


def combination(elements: Elements, target: Elements) -> Numbers:
    """The numbers of the base field that elements, as many as the degree, times them sum up to the target with.

    Targets may be many, in a first axis, and are these numbers then.
    """
    return target @ inverted(elements)

"""The order of a run's examples: a permutation for each epoch, drawn from a public seed in a way that anyone can
repeat.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError

DOMAIN = b"circuitize batches 1"
SPARE = 64
"""How many words are drawn beyond one for each draw; a word is rejected with a chance below size / 2^64."""


@lru_cache(maxsize=4)
def permutation(seed: bytes, epoch: int, size: int) -> NDArray[np.int64]:
    """Return the order of `size` examples in an epoch, where epochs are numbered from 0: a Fisher-Yates shuffle with
    draws from SHAKE-256.

    The random stream of an epoch is SHAKE-256(DOMAIN || length of the seed || seed || epoch), with numbers as 8
    little-endian bytes; it is read as words of 8 little-endian bytes. The order of an epoch begins as 0, 1, ...; then,
    for i from size - 1 down to 1, the next word w below the greatest multiple of i + 1 that is at most 2^64 gives j = w
    mod (i + 1), and the entries i and j change places; words that are not below that multiple are rejected, so that
    every j is equally likely.
    """
    head = DOMAIN + len(seed).to_bytes(8, "little") + seed + epoch.to_bytes(8, "little")
    stream = hashlib.shake_256(head).digest(8 * (size + SPARE))
    drawn = draws(np.frombuffer(stream, "<u8").astype(np.uint64), size)
    order = list(range(size))
    for i, j in zip(range(size - 1, 0, -1), drawn.tolist(), strict=True):
        order[i], order[j] = order[j], order[i]
    made = np.array(order, np.int64)
    made.flags.writeable = False
    return made


def draws(words: NDArray[np.uint64], size: int) -> NDArray[np.int64]:
    """Return the draws of a Fisher-Yates shuffle: for i = size - 1 down to 1 a number j, uniform in [0, i], from a
    stream of uniform words.
    """
    bounds = np.arange(size, 1, -1, dtype=np.uint64)
    top = np.uint64(2**64 - 1)
    last = top - (top % bounds + np.uint64(1)) % bounds
    made = np.zeros(len(bounds), np.int64)
    done = at = 0
    while done < len(bounds):
        left = words[at : at + len(bounds) - done]
        over = np.flatnonzero(left > last[done : done + len(left)])
        count = int(over[0]) if len(over) else len(left)
        if len(left) == 0:
            raise CircuitizeError("expected a seed whose stream draws every batch, found one passed over; take another")
        made[done : done + count] = left[:count] % bounds[done : done + count]
        done, at = done + count, at + count + 1
    return made


def rows(seed: bytes, size: int, batch: int, step: int) -> NDArray[np.int64]:
    """Return the numbers of the examples that a step takes, where steps are numbered from 1; examples that do not fill
    a batch at the end of an epoch are left out of that epoch.
    """
    epoch, place = divmod(step - 1, size // batch)
    return permutation(seed, epoch, size)[place * batch : (place + 1) * batch]

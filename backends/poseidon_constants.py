"""The round constants and matrices of the Poseidon permutation, generated in the same way as by its authors' reference
script.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError

from .field import BN254, Field

PARTIAL_ROUNDS = (56, 57, 56, 60, 60, 63, 64, 63, 60, 66, 60, 65, 70, 60, 64, 68)
"""Partial rounds of widths 2 to 17 over BN254, as circomlib has them (128-bit security, rounded up)."""

FULL_ROUNDS = 8


@dataclass(frozen=True, slots=True, eq=False)
class PoseidonParameters:
    """A Poseidon permutation with the S-box x^5: half of the full rounds, then the partial rounds, then the other half
    of the full rounds.

    The number `constants[r][i]` is added to lane i in round r; `matrix` is applied after the S-boxes of each round. The
    constants and the matrix of the permutation are integers in [0, prime).
    """

    field: Field
    width: int
    full_rounds: int
    partial_rounds: int
    constants: tuple[tuple[int, ...], ...]
    matrix: tuple[tuple[int, ...], ...]

    @property
    def rounds(self) -> int:
        """Return the number of rounds, which are full or partial."""
        return self.full_rounds + self.partial_rounds

    def is_full(self, number: int) -> bool:
        """Return whether a round applies the S-box to every lane, instead of to the first lane only."""
        half = self.full_rounds // 2
        return number < half or number >= half + self.partial_rounds


@cache
def poseidon_parameters(
    width: int, field: Field = BN254, full_rounds: int = FULL_ROUNDS, partial_rounds: int | None = None
) -> PoseidonParameters:
    """Return the parameters of circom's Poseidon hash for `width` lanes, 2 to 17, which is one more than its inputs.

    The source is Grassi, Khovratovich, Rechberger, Roy and Schofnegger, Poseidon (eprint 2019/458), section 2.3 (Cauchy
    matrix) and the appendix on the Grain generator; the script is generate_parameters_grain.sage with field 1 and S-box
    0. Poseidon over other fields, or with other numbers of rounds, is for tests of circuits over small primes, and
    promises no security. Raise CircuitizeError for a width outside 2 to 17, unless the number of partial rounds is
    given.
    """
    if partial_rounds is None:
        if field != BN254 or not 2 <= width < 2 + len(PARTIAL_ROUNDS):
            raise CircuitizeError(
                f"expected 1 to {len(PARTIAL_ROUNDS)} Poseidon inputs over BN254, found {width - 1} over the prime "
                f"{field.prime}; remedy: hash in several steps, or give the number of partial rounds"
            )
        partial_rounds = PARTIAL_ROUNDS[width - 2]
    if full_rounds < 2 or full_rounds % 2 or partial_rounds < 0 or field.prime < 2 * width:
        raise ValueError(f"{full_rounds} full rounds, {partial_rounds} partial ones, {width} lanes, {field}")
    numbers = _Grain(field, width, full_rounds, partial_rounds).numbers()
    rounds = range(full_rounds + partial_rounds)
    below = (number for number in numbers if number < field.prime)
    constants = tuple(tuple(next(below) for _ in range(width)) for _ in rounds)
    return PoseidonParameters(
        field, width, full_rounds, partial_rounds, constants, _cauchy_matrix(numbers, field, width)
    )


def _cauchy_matrix(numbers: Iterator[int], field: Field, width: int) -> tuple[tuple[int, ...], ...]:
    """Return the first Cauchy matrix 1 / (x[i] + y[j]) whose 2 * width elements x and y are distinct and whose sums
    x[i] + y[j] are not zero.
    """
    while True:
        drawn = [next(numbers) % field.prime for _ in range(2 * width)]
        xs, ys = drawn[:width], drawn[width:]
        sums = [[(x + y) % field.prime for y in ys] for x in xs]
        if len(set(drawn)) == 2 * width and all(map(all, sums)):
            return tuple(tuple(pow(total, -1, field.prime) for total in line) for line in sums)


class _Grain:
    """The Grain generator of random bits in self-shrinking mode: of each pair of bits, the second is used if the first
    is 1.
    """

    TAPS = (62, 51, 38, 23, 13, 0)

    def __init__(self, field: Field, width: int, full_rounds: int, partial_rounds: int) -> None:
        self.bits = field.prime.bit_length()
        text = f"{1:02b}{0:04b}{self.bits:012b}{width:012b}{full_rounds:010b}{partial_rounds:010b}" + 30 * "1"
        self.seed = np.array([int(bit) for bit in text], dtype=np.uint8)

    def numbers(self) -> Iterator[int]:
        """Yield random numbers with as many bits as the prime, the most significant bit first; a number may exceed the
        prime.
        """
        done, length = 0, 1 << 12
        while True:
            pairs = self._stream(length)[80 + 160 :].reshape(-1, 2)
            kept = pairs[pairs[:, 0] == 1, 1]
            rows = np.packbits(kept[: len(kept) // self.bits * self.bits].reshape(-1, self.bits), axis=1)
            padding = -self.bits % 8
            for row in rows[done:]:
                yield int.from_bytes(row.tobytes(), "big") >> padding
            done, length = len(rows), 2 * length

    def _stream(self, length: int) -> NDArray[np.uint8]:
        """Return the bits of the Grain generator: the seed, and the bits that follow, where bit[i + 80] is the sum of
        bit[i + tap] over the taps; squaring the recurrence over GF(2) doubles every distance, so that ever longer runs
        of bits are computed at once.
        """
        stream = np.empty(length, dtype=np.uint8)
        stream[:80] = self.seed
        at, scale = 80, 1
        while at < length:
            if 160 * scale <= at:
                scale *= 2
            run = min(18 * scale, length - at)
            first = at - 80 * scale
            stream[at : at + run] = np.bitwise_xor.reduce(
                [stream[first + tap * scale : first + tap * scale + run] for tap in self.TAPS], axis=0
            )
            at += run
        return stream

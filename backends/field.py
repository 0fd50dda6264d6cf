"""Prime fields below 2^256, and arrays of their elements as four little-endian 64-bit limbs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError

SMALL = 1 << 62
"""The bound of small field elements: the signed representative of a small element is below the bound in magnitude."""

Limbs = NDArray[np.uint64]
"""`uint64[n, 4]`: element i is the sum of limbs[i, j] * 2^(64 j), in normal form (below the prime)."""


def _is_prime(number: int) -> bool:
    """Return whether a number passes the Miller-Rabin test with the first twenty primes as bases, which guards against
    mistakes, not against an adversary.
    """
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71)
    if number < 2 or any(number % base == 0 for base in bases):
        return number in bases
    twos = ((number - 1) & -(number - 1)).bit_length() - 1
    for base in bases:
        power = pow(base, (number - 1) >> twos, number)
        if power in (1, number - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % number
            if power == number - 1:
                break
        else:
            return False
    return True


@dataclass(frozen=True, slots=True)
class Field:
    """A prime field: the integers modulo an odd prime below 2^256. Raise CircuitizeError for a modulus that is not an
    odd prime below 2^256.
    """

    prime: int

    def __post_init__(self) -> None:
        if not (2 < self.prime < 1 << 256 and _is_prime(self.prime)):
            raise CircuitizeError(
                f"expected an odd prime below 2^256 as the field's modulus, found {self.prime}; "
                "remedy: use the scalar field of a curve, such as BN254"
            )

    @property
    def bytes(self) -> int:
        """Return the number of bytes that a field element takes in a file: the least multiple of eight bytes that can
        hold the prime.
        """
        return 8 * -(-self.prime.bit_length() // 64)

    @property
    def limbs(self) -> NDArray[np.uint64]:
        """Return the prime of the field itself as limbs, `uint64[4]`."""
        return np.frombuffer(self.prime.to_bytes(32, "little"), dtype="<u8")

    def signed(self, value: int) -> int:
        """Return the representative of an integer in (-prime/2, prime/2]."""
        value %= self.prime
        return value - self.prime if value > self.prime // 2 else value

    def from_int64(self, values: NDArray[np.int64]) -> Limbs:
        """Return the field elements, in normal form, for integers `int64[n]` of any sign."""
        values = np.asarray(values, dtype=np.int64)
        limbs = np.zeros((len(values), 4), dtype=np.uint64)
        if self.prime < 1 << 63:
            limbs[:, 0] = values % self.prime
            return limbs
        limbs[:, 0] = values.view(np.uint64)
        negative = values < 0
        if negative.any():
            limbs[negative] = self.negate(_magnitude_limbs(values[negative]))
        return limbs

    def from_integers(self, values: Iterable[int]) -> Limbs:
        """Return the field elements, in normal form, for Python integers of any size and sign."""
        raw = b"".join((int(value) % self.prime).to_bytes(32, "little") for value in values)
        return np.frombuffer(raw, dtype="<u8").reshape(-1, 4).copy()

    def to_integers(self, limbs: Limbs) -> list[int]:
        """Return the field elements as Python integers in [0, prime)."""
        raw = np.ascontiguousarray(limbs, dtype="<u8").tobytes()
        return [int.from_bytes(raw[at : at + 32], "little") for at in range(0, len(raw), 32)]

    def to_int64(self, limbs: Limbs) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return field elements as a pair of arrays: their signed representatives as `int64[n]`, and, as `bool[n]`,
        whether each representative fits in 64 bits and is therefore exact.

        If an element's signed representative does not fit in 64 bits, the first array has 0 for it. The given limbs
        must be in normal form, which means below the prime.
        """
        limbs = np.asarray(limbs, dtype=np.uint64)
        if self.prime < SMALL:
            values = limbs[:, 0].astype(np.int64)
            values = np.where(values > self.prime // 2, values - self.prime, values)
            return values, np.ones(len(limbs), np.bool_)
        small = _below(limbs, SMALL)
        values = np.where(small, limbs[:, 0], 0).astype(np.int64)
        others = np.flatnonzero(~small)
        if len(others):
            negated = self.negate(limbs[others])
            below = _below(negated, SMALL)
            values[others[below]] = -negated[below, 0].astype(np.int64)
            small[others[below]] = True
        if self.prime < 2 * SMALL:
            values = np.where(values > self.prime // 2, values - self.prime, values)
        return values, small

    def negate(self, limbs: Limbs) -> Limbs:
        """Return prime - x for each element x in normal form; for x = 0 this gives the prime itself, which is not in
        normal form.
        """
        result = np.empty_like(limbs)
        borrow = np.zeros(len(limbs), dtype=np.uint64)
        for place, modulus in enumerate(self.limbs):
            difference = modulus - limbs[:, place]
            result[:, place] = difference - borrow
            borrow = ((modulus < limbs[:, place]) | (difference < borrow)).astype(np.uint64)
        return result

    def canonical(self, limbs: Limbs) -> NDArray[np.bool_]:
        """Return whether each element is in normal form, that is, below the prime, as `bool[n]`."""
        below = np.zeros(len(limbs), dtype=np.bool_)
        equal = np.ones(len(limbs), dtype=np.bool_)
        modulus = self.limbs
        for place in (3, 2, 1, 0):
            below |= equal & (limbs[:, place] < modulus[place])
            equal &= limbs[:, place] == modulus[place]
        return below


def _below(limbs: Limbs, bound: int) -> NDArray[np.bool_]:
    """Return whether each element, as a natural number, is below a bound of at most 64 bits."""
    below: NDArray[np.bool_] = (limbs[:, 1] | limbs[:, 2] | limbs[:, 3] == 0) & (limbs[:, 0] < bound)
    return below


def _magnitude_limbs(negative: NDArray[np.int64]) -> Limbs:
    limbs = np.zeros((len(negative), 4), dtype=np.uint64)
    limbs[:, 0] = -negative.view(np.uint64)
    return limbs


BN254 = Field(21888242871839275222246405745257275088548364400416034343698204186575808495617)
"""The scalar field of the curve BN254 (also called alt_bn128), where Ethereum verifies proofs."""

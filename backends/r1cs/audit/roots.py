"""Square roots and quadratic equations over a prime field."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=1 << 16)
def quadratic_roots(linear: int, constant: int, prime: int) -> tuple[int, ...]:
    """Return all x in [0, prime) with x^2 + linear x + constant = 0, of which there are none, one or two, in ascending
    order.
    """
    half = (prime + 1) // 2
    root = square_root((linear * linear - 4 * constant) % prime, prime)
    if root is None:
        return ()
    return tuple(sorted({(-linear + root) * half % prime, (-linear - root) * half % prime}))


def square_root(number: int, prime: int) -> int | None:
    """Return a square root modulo an odd prime, by the algorithm of Tonelli and Shanks, or None for a non-residue."""
    if number in (0, 1):
        return number
    if pow(number, (prime - 1) // 2, prime) != 1:
        return None
    odd, twos = prime - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    other = next(n for n in range(2, prime) if pow(n, (prime - 1) // 2, prime) == prime - 1)
    factor, rest, root = pow(other, odd, prime), pow(number, odd, prime), pow(number, (odd + 1) // 2, prime)
    while rest != 1:
        order, power = 0, rest
        while power != 1:
            power, order = power * power % prime, order + 1
        step = pow(factor, 1 << (twos - order - 1), prime)
        twos, factor = order, step * step % prime
        rest, root = rest * factor % prime, root * step % prime
    return root

"""Points of BN254 in half their size: one coordinate and the sign of the other, in the format of arkworks."""

from __future__ import annotations

from circuitize.circuits.errors import FormatError

from .config import COORDINATE_PRIME as Q

Pair = tuple[int, int]
"""A pair (c0, c1) stands for c0 + c1 u in the quadratic extension, u^2 = -1."""

NEGATIVE, INFINITY = 0x80, 0x40
"""The flags in the two top bits of a compressed point's last byte: y is the greater of y and -y; the point at infinity,
which is never valid here.
"""

LAYOUT = (("A", 1), ("B", 2), ("C", 1), ("D", 1))
"""The points of a proof in order, each with the degree of the field in which its coordinates lie."""


def compress(points: bytes) -> bytes:
    """Return the affine points of a proof compressed to the coordinate x and the sign of y: 32 bytes for each of A, C
    and D, and 64 for B.

    Each coordinate has 32 little-endian bytes; in the quadratic extension the component c0 comes first, and c1 decides
    which of y and -y is greater. Only points that `verify` accepts may be compressed.
    """
    made, at = [], 0
    for _, degree in LAYOUT:
        if at == len(points):
            break
        x, y = points[at : at + 32 * degree], points[at + 32 * degree : at + 64 * degree]
        at += 64 * degree
        sign = NEGATIVE if _is_greater(_numbers(y)) else 0
        made.append(x[:-1] + bytes([x[-1] | sign]))
    return b"".join(made)


def decompress(content: bytes) -> bytes:
    """Return the affine points that compressed points stand for, computed from x and the sign of y. Raise FormatError,
    naming the point, for bytes that `compress` cannot have written.
    """
    made, at = [], 0
    for name, degree in LAYOUT:
        if at == len(content):
            break
        part = content[at : at + 32 * degree]
        at += 32 * degree
        if len(part) != 32 * degree or part[-1] & INFINITY:
            raise FormatError(f"expected a compressed point {name}, found one cut short or at infinity")
        x = part[:-1] + bytes([part[-1] & ~NEGATIVE & 0xFF])
        numbers = _numbers(x)
        if max(numbers) >= Q:
            raise FormatError(f"expected coordinates of {name} below the prime, found a greater one")
        y = _root(numbers)
        if y is None:
            raise FormatError(f"expected a point {name} on the curve, found none with that coordinate")
        if _is_greater(y) != bool(part[-1] & NEGATIVE):
            y = [-number % Q for number in y]
        made.append(x + b"".join(number.to_bytes(32, "little") for number in y))
    return b"".join(made)


def _numbers(content: bytes) -> list[int]:
    return [int.from_bytes(content[at : at + 32], "little") for at in range(0, len(content), 32)]


def _is_greater(y: list[int]) -> bool:
    """Return whether a coordinate y is greater than -y; for elements of the extension, the last component is compared
    first.
    """
    negated = [-number % Q for number in y]
    return y[::-1] > negated[::-1]


def _root(x: list[int]) -> list[int] | None:
    """Return a y with (x, y) on the curve y^2 = x^3 + 3, or on its twist y^2 = x^3 + 3 / (9 + u), or None if there is
    none.
    """
    if len(x) == 1:
        y = _square_root(x[0] ** 3 + 3)
        return None if y is None else [y]
    (a, b), inverse = x, pow(82, -1, Q)
    # (a + b u)^3 + 3 (9 - u) / 82
    cube = (a**3 - 3 * a * b * b + 27 * inverse, 3 * a * a * b - b**3 - 3 * inverse)
    found = _extension_root((cube[0] % Q, cube[1] % Q))
    return None if found is None else list(found)


def _square_root(number: int) -> int | None:
    root = pow(number, (Q + 1) // 4, Q)
    return root if root * root % Q == number % Q else None


def _extension_root(number: Pair) -> Pair | None:
    """Return a square root in the quadratic extension, computed by the complex method for q = 3 modulo 4, or None if
    there is none.
    """
    c0, c1 = number
    norm = _square_root(c0 * c0 + c1 * c1)
    if norm is None:
        return None
    half = pow(2, -1, Q)
    for sign in (1, -1):
        real = _square_root((c0 + sign * norm) * half)
        if real is None:
            continue
        if not real:
            imaginary = _square_root(-c0)
            if imaginary is None:
                continue
        else:
            imaginary = c1 * pow(2 * real, -1, Q) % Q
        if ((real * real - imaginary * imaginary) % Q, 2 * real * imaginary % Q) == number:
            return real, imaginary
    return None

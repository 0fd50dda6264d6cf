"""What answers to queries say: opened leaves, their folds, and the weights that powers of their points are."""

from __future__ import annotations

import math

import numpy as np

from .arithmetic import (
    GENERATOR,
    HALF,
    PRIME,
    Elements,
    Field,
    Numbers,
    lift,
    line,
    multiply,
    numbers,
    one,
    powers_of,
    scale,
    total,
    words,
)
from .transcript import Transcript, hashed_for

FOLD = 4
SYMBOLS = 1 << FOLD
QUERY_BITS = 106
FOREIGN = "an opened leaf does not belong to its commitment"


def root_of_unity(bits: int) -> int:
    """A generator of the subgroup of order 2^bits."""
    return pow(GENERATOR, (PRIME - 1) >> bits, PRIME)


def roots_to(root: int, exponents: list[int]) -> Numbers:
    """root^e for each exponent."""
    return powers_of(numbers(root), np.array(exponents, np.int64))


def reversed_bits(number: int, bits: int) -> int:
    return int(format(number, f"0{bits}b")[::-1], 2) if bits else 0


def queries_at(rate_bits: int) -> int:
    return math.ceil(QUERY_BITS / -math.log2((1 + 2.0**-rate_bits) / 2))


def enough(queries: int, rate: float) -> bool:
    """Whether ((1 + rate) / 2)^queries is at most 2^-106."""
    return -queries * math.log2((1 + rate) / 2) >= QUERY_BITS


def below_enough(rate: float) -> int:
    """The fewest queries that are enough, or one fewer."""
    return math.floor(QUERY_BITS / -math.log2((1 + rate) / 2))


def powers_at(factors: Elements, z: Numbers, length: int, point: Elements) -> Elements:
    """The extension of the sum of factors times z^b, of all b below the length.

    Over all b, sum_b eq(point, b) z^b is the product of 1 - r + r z^(2^i). Of b below 2^m + l, m the highest bit, those
    without bit m are all; those with it are the b below l, times r z^(2^m).
    """
    found, whole = Field.zeros(factors.shape), factors
    for bit, r in enumerate(point):
        without, high = one(len(r)) - r, scale(r[None], z)
        if length >> bit & 1:
            found = multiply(whole, without[None]) + multiply(found, high)
        else:
            found = multiply(found, without[None])
        whole = multiply(whole, without + high)
        z = z * z
    return total(whole if length >> len(point) else found)


def opened_leaves(
    transcript: Transcript, places: list[int], depth: int, width: int, carried: int = 0, salted: bool = True
) -> tuple[Numbers, Numbers, bytes]:
    """By leaf its words, so many of them, and those carried beside them; and the top of the tree that they are in."""
    count = len(places)
    own = transcript.numbers("whir.leaves", count * width).reshape(count, width)
    beside = transcript.numbers("whir.carried", count * carried) if carried else Field.zeros(0)
    beside = beside.reshape(count, carried)
    salts = transcript.bytes("whir.salts", 16 * count) if salted else b""
    contents = words(np.concatenate([own, beside], axis=1)).astype("<u8")
    hashed = hashed_for("leaf" if salted else "folded leaf")
    known = {
        place: hashed(content.tobytes() + salts[16 * i : 16 * (i + 1)])
        for i, (place, content) in enumerate(zip(places, contents, strict=True))
    }
    return own, beside, merkle_top(known, transcript.bytes("whir.nodes", 32 * absent(places, depth)), depth)


def symbols(leaves: Numbers, bits: int, degree: int) -> Elements:
    """The 2^bits symbols of each leaf, of the base field or of the extension."""
    return lift(leaves, degree) if leaves.shape[1] == 1 << bits else leaves.reshape(len(leaves), 1 << bits, degree)


def merkle_top(known: dict[int, bytes], nodes: bytes, depth: int) -> bytes:
    """The top that the hashes of leaves at their places give, and the nodes that do not follow from them."""
    used, known, hashed = 0, dict(sorted(known.items())), hashed_for("node")
    for _ in range(depth):
        above: dict[int, bytes] = {}
        for place, own in known.items():  # in order, as those above them then are
            if place >> 1 in above:
                continue
            other = known.get(place ^ 1)
            if other is None:
                other = nodes[32 * used : 32 * (used + 1)]
                used += 1
            above[place >> 1] = hashed(other + own if place & 1 else own + other)
        known = above
    return known[0]


def absent(places: list[int], depth: int) -> int:
    """How many nodes do not follow from the leaves at these places."""
    known, count = set(places), 0
    for _ in range(depth):
        count += sum(place ^ 1 not in known for place in known)
        known = {place // 2 for place in known}
    return count


def fold(leaves: Elements, indices: list[int], domain: int, folded: Elements) -> Elements:
    """For each leaf the value at x^(2^k) of f folded along k numbers, from f's at the 2^k points with that power.

    Symbol j of the leaf of index i is the value at w^(i + 2^(domain - k) rev(j)), w of order 2^domain; symbols 2 m and
    2 m + 1 are those at x and at -x.
    """
    bits = len(folded)
    inverse = pow(root_of_unity(domain), -1, PRIME)
    inner = pow(inverse, 1 << (domain - bits), PRIME)
    steps = roots_to(inner, [reversed_bits(j, bits) for j in range(0, 1 << bits, 2)])
    inverses = roots_to(inverse, indices)[:, None] * steps
    for r in folded:
        at_x, at_minus_x = leaves[:, ::2], leaves[:, 1::2]
        even = (at_x + at_minus_x) * HALF
        odd = scale(at_x - at_minus_x, inverses * HALF)
        leaves = line(even, odd, r)
        inverses = (inverses * inverses)[:, ::2]
    return leaves[:, 0]

"""Checking a WHIR opening: that a committed polynomial has a weighted sum."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .arithmetic import (
    FIELD,
    GENERATOR,
    HALF,
    PRIME,
    Elements,
    Numbers,
    dot,
    equality,
    interpolated,
    lift,
    line,
    multiply,
    numbers,
    one,
    powers,
    same,
    scale,
    total,
)
from .transcript import Refused, Transcript, hashed

FOLD = 4
SHRINK = 2
SYMBOLS = 1 << FOLD
LAST = 6
QUERY_BITS = 106


def root_of_unity(bits: int) -> int:
    """A generator of the subgroup of order 2^bits."""
    return pow(GENERATOR, (PRIME - 1) >> bits, PRIME)


def roots_to(root: int, exponents: list[int], bits: int) -> Numbers:
    """root^e for each exponent below 2^bits."""
    places = np.array(exponents, np.int64)
    made, square = FIELD.Ones(len(exponents)), numbers(root)
    for bit in range(bits):
        made = np.where(places >> bit & 1 == 1, made * square, made).view(FIELD)
        square = square * square
    return made


def reversed_bits(number: int, bits: int) -> int:
    return int(format(number, f"0{bits}b")[::-1], 2) if bits else 0


def query_count(round: int) -> int:
    rate = 2.0 ** -(1 + (FOLD - SHRINK) * round)
    return math.ceil(QUERY_BITS / -math.log2((1 + rate) / 2))


def sumcheck(
    transcript: Transcript, label: str, degree: int, variables: int, claim: Elements
) -> tuple[Elements, Elements]:
    """The claim that is left, and the point where it is about."""
    messages, drawn = [], []
    for _ in range(variables):
        messages.append(transcript.elements(label, degree))
        drawn.append(transcript.challenge(label))
    if not drawn:
        return claim, FIELD.Zeros((0, transcript.degree))
    point = np.stack(drawn)
    return interpolated(np.stack(messages), claim, point), point


def check_opening(
    transcript: Transcript,
    variables: int,
    root: bytes,
    root_of: Callable[[bytes], bytes],
    claim: Elements,
    weight_at: Callable[[Elements], Elements],
) -> None:
    """Raises Refused unless sum_b f(b) w(b) = claim; `weight_at` is w's multilinear extension.

    `root_of` makes the root out of the top of the tree.
    """
    rounds = max(1, math.ceil((variables - LAST) / FOLD))
    point: Elements = FIELD.Zeros((0, transcript.degree))
    asked: list[tuple[int, Elements, Numbers]] = []
    last: Elements = FIELD.Zeros((0, transcript.degree))
    domain = variables + 1
    for round in range(rounds):
        claim, folded = sumcheck(transcript, "whir.fold", 2, FOLD, claim)
        point = np.concatenate([point, folded])
        next_root = b""
        if round < rounds - 1:
            next_root = transcript.bytes("whir.root", 32)
        else:
            last = transcript.elements("whir.last", 1 << (variables - len(point)))
        depth = domain - FOLD
        places = transcript.positions("whir.queries", query_count(round), depth)
        leaves, top = opened_leaves(transcript, places, depth, first=round == 0)
        if (root_of(top) if round == 0 else top) != root:
            raise Refused("an opened leaf does not belong to its commitment")
        factors = powers(transcript.challenge("whir.combine"), len(places))
        indices = [reversed_bits(place, depth) for place in places]
        claim = claim + dot(factors, fold(leaves, indices, domain, folded))
        asked.append((len(point), factors, roots_to(root_of_unity(depth), indices, depth)))
        root, domain = next_root, domain - SHRINK
    claim, rest = sumcheck(transcript, "whir.fold", 2, variables - len(point), claim)
    point = np.concatenate([point, rest])
    weight = weight_at(point)
    for start, factors, z in asked:
        # sum_b eq(point, b) z^b is the product of 1 - r + r z^(2^i).
        for r in point[start:]:
            factors = multiply(factors, one(transcript.degree) - r + scale(r[None], z))
            z = z * z
        weight = weight + total(factors)
    if not same(multiply(dot(equality(rest), last), weight), claim):
        raise Refused("a commitment does not open to the claimed values")


def opened_leaves(transcript: Transcript, places: list[int], depth: int, first: bool) -> tuple[Elements, bytes]:
    """The symbols of the leaves at these places, and the top of the tree that they are shown to be in."""
    count, degree = len(places), transcript.degree
    width = 8 * SYMBOLS * (1 if first else degree)
    words = transcript.numbers("whir.leaves", count * width // 8)
    contents = words.view(np.ndarray).astype("<u8").tobytes()
    salts = transcript.bytes("whir.salts", 16 * count) if first else b""
    use = "leaf" if first else "folded leaf"
    known = {
        place: hashed(use, contents[width * i : width * (i + 1)] + salts[16 * i : 16 * (i + 1)])
        for i, place in enumerate(places)
    }
    nodes = transcript.bytes("whir.nodes", 32 * absent(places, depth))
    symbols = lift(words.reshape(count, SYMBOLS), degree) if first else words.reshape(count, SYMBOLS, degree)
    return symbols, merkle_top(known, nodes, depth)


def merkle_top(known: dict[int, bytes], nodes: bytes, depth: int) -> bytes:
    """The top that the hashes of leaves at their places give, and the nodes that do not follow from them."""
    used = 0
    for _ in range(depth):
        above: dict[int, bytes] = {}
        for place in sorted(known):
            if place // 2 in above:
                continue
            other = known.get(place ^ 1)
            if other is None:
                other = nodes[32 * used : 32 * (used + 1)]
                used += 1
            pair = known[place] + other if place % 2 == 0 else other + known[place]
            above[place // 2] = hashed("node", pair)
        known = above
    return known[0]


def absent(places: list[int], depth: int) -> int:
    """How many nodes do not follow from the leaves at these places."""
    known, count = set(places), 0
    for _ in range(depth):
        count += sum(place ^ 1 not in known for place in known)
        known = {place // 2 for place in known}
    return count


def fold(symbols: Elements, indices: list[int], domain: int, folded: Elements) -> Elements:
    """For each leaf the folded polynomial's value at x^16, from f's at the 16 points with that power.

    Symbol j of the leaf of index i is the value at w^(i + 2^(domain - 4) rev(j)), w of order 2^domain; symbols 2 m and
    2 m + 1 are those at x and at -x.
    """
    inverse = pow(root_of_unity(domain), -1, PRIME)
    inner = pow(inverse, 1 << (domain - FOLD), PRIME)
    own = roots_to(inverse, indices, domain)
    steps = numbers([pow(inner, reversed_bits(j, FOLD), PRIME) for j in range(0, SYMBOLS, 2)])
    inverses = own[:, None] * steps[None, :]
    for r in folded:
        at_x, at_minus_x = symbols[:, ::2], symbols[:, 1::2]
        even = (at_x + at_minus_x) * HALF
        odd = scale(at_x - at_minus_x, inverses * HALF)
        symbols = line(even, odd, r)
        inverses = (inverses * inverses)[:, ::2]
    return symbols[:, 0]

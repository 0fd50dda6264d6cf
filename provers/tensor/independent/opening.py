"""Checking a WHIR opening: that a committed polynomial has a weighted sum."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from blake3 import blake3

from .arithmetic import ONE, PRIME, Element, add, dot, equality, interpolate, line, multiply, scale, subtract
from .transcript import Refused, Transcript

FOLD = 4
SYMBOLS = 1 << FOLD
LAST = 6
QUERY_BITS = 106
GENERATOR = 7


def root_of_unity(bits: int) -> int:
    """A generator of the subgroup of order 2^bits."""
    return pow(GENERATOR, (PRIME - 1) >> bits, PRIME)


def reversed_bits(number: int, bits: int) -> int:
    return int(format(number, f"0{bits}b")[::-1], 2) if bits else 0


def query_count(round: int) -> int:
    rate = 2.0 ** -(1 + (FOLD - 1) * round)
    return math.ceil(QUERY_BITS / -math.log2((1 + rate) / 2))


def sumcheck(
    transcript: Transcript, label: str, degree: int, variables: int, claim: Element
) -> tuple[Element, list[Element]]:
    """The claim that is left, and the point where it is about."""
    point: list[Element] = []
    for _ in range(variables):
        message = transcript.elements(label, degree)
        r = transcript.challenge(label)
        claim = interpolate(claim, message, r)
        point.append(r)
    return claim, point


def check_opening(
    transcript: Transcript,
    variables: int,
    root: bytes,
    claim: Element,
    weight_at: Callable[[list[Element]], Element],
) -> None:
    """Raises Refused unless sum_b f(b) w(b) = claim; `weight_at` is w's multilinear extension."""
    rounds = max(1, math.ceil((variables - LAST) / FOLD))
    point: list[Element] = []
    powers: list[tuple[int, Element, int]] = []
    last: list[Element] = []
    domain = variables + 1
    for round in range(rounds):
        claim, folded = sumcheck(transcript, "whir.fold", 2, FOLD, claim)
        point += folded
        next_root = b""
        if round < rounds - 1:
            next_root = transcript.bytes("whir.root", 32)
        else:
            last = transcript.elements("whir.last", 1 << (variables - len(point)))
        depth = domain - FOLD
        places = transcript.positions("whir.queries", query_count(round), depth)
        leaves = _leaves(transcript, places, depth, root, first=round == 0)
        gamma = transcript.challenge("whir.combine")
        factor = gamma
        for place, symbols in zip(places, leaves, strict=True):
            index = reversed_bits(place, depth)
            claim = add(claim, multiply(factor, _fold(symbols, index, domain, folded)))
            z = pow(root_of_unity(depth), index, PRIME)
            powers.append((len(point), factor, z))
            factor = multiply(factor, gamma)
        root, domain = next_root, domain - 1
    claim, rest = sumcheck(transcript, "whir.fold", 2, variables - len(point), claim)
    point += rest
    weight = weight_at(point)
    for start, factor, z in powers:
        # sum_b eq(point, b) z^b is the product of 1 - r + r z^(2^i).
        term = factor
        for r in point[start:]:
            term = multiply(term, add(subtract(ONE, r), scale(r, z)))
            z = z * z % PRIME
        weight = add(weight, term)
    if multiply(dot(equality(rest), last), weight) != claim:
        raise Refused("a commitment does not open to the claimed values")


def _leaves(transcript: Transcript, places: list[int], depth: int, root: bytes, first: bool) -> list[list[Element]]:
    """The symbols of the leaves at these places, shown to belong to the root."""
    count = len(places)
    if first:
        numbers = transcript.numbers("whir.leaves", count * SYMBOLS)
        symbols: list[Element] = [(number, 0) for number in numbers]
        salts = transcript.bytes("whir.salts", 16 * count)
    else:
        symbols, salts = transcript.elements("whir.leaves", count * SYMBOLS), b""
    width = 1 if first else 2
    leaves = [symbols[i * SYMBOLS : (i + 1) * SYMBOLS] for i in range(count)]
    known: dict[int, bytes] = {}
    for i, (place, leaf) in enumerate(zip(places, leaves, strict=True)):
        content = b"".join(word.to_bytes(8, "little") for symbol in leaf for word in symbol[:width])
        known[place] = blake3(content + salts[16 * i : 16 * (i + 1)]).digest()
    absent = _absent(places, depth)
    nodes = transcript.bytes("whir.nodes", 32 * absent)
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
            above[place // 2] = blake3(pair).digest()
        known = above
    if known[0] != root:
        raise Refused("an opened leaf does not belong to its commitment")
    return leaves


def _absent(places: list[int], depth: int) -> int:
    """How many nodes do not follow from the leaves at these places."""
    known, count = set(places), 0
    for _ in range(depth):
        count += sum(place ^ 1 not in known for place in known)
        known = {place // 2 for place in known}
    return count


def _fold(symbols: list[Element], index: int, domain: int, folded: Sequence[Element]) -> Element:
    """The folded polynomial's value at x^16, from f's at the 16 points with that power, in bit-reversed order."""
    step = 1 << (domain - FOLD)
    half = pow(2, -1, PRIME)
    generator = root_of_unity(domain)
    points = [pow(generator, index + step * reversed_bits(j, FOLD), PRIME) for j in range(SYMBOLS)]
    for r in folded:
        made: list[Element] = []
        for j in range(0, len(symbols), 2):
            x = points[j]
            assert points[j + 1] == PRIME - x
            even = scale(add(symbols[j], symbols[j + 1]), half)
            odd = scale(subtract(symbols[j], symbols[j + 1]), half * pow(x, -1, PRIME) % PRIME)
            made.append(line(even, odd, r))
        points = [x * x % PRIME for x in points[::2]]
        symbols = made
    return symbols[0]

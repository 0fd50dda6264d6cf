"""Sizes of proofs: of tables and their domains, and of the vectors that they are folded into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .opening import FOLD, SYMBOLS, queries_at

SMALL = 17
"""A domain of at most 2^17 points at rate 1/4 has that rate."""
SPARSE = 13
"""But that of a table has rate 1/2, unless it then has 2^13 points."""
LEAST = 8
LAST, LAST_SENT = 1 << 10, 3 << 10
"""A vector of so many elements, besides random ones, is the last one: in zero knowledge, and where it is sent."""
CARRIED = 2 * FOLD
"""Numbers that are sent in the four rounds of a fold."""
TWO_ADICITY = 32
MOST_VARIABLES = 29


def bits_for(size: int) -> int:
    return (size - 1).bit_length()


@dataclass(frozen=True)
class Geometry:
    """2^bits elements: what is there, random ones from `end` on, and zeros; their domain has 2^(bits + rate) points.

    A leaf holds 2^fold of its values.
    """

    end: int
    random: int
    fold: int
    bits: int
    rate: int
    queries: int

    @property
    def domain(self) -> int:
        return self.bits + self.rate

    @property
    def depth(self) -> int:
        """Of its tree."""
        return self.domain - self.fold

    @property
    def length(self) -> int:
        return self.end + self.random


@dataclass(frozen=True)
class Block:
    offset: int
    bits: int


@dataclass(frozen=True)
class Vector:
    """Where the fold of each table, or of the vector before, lies in it; and where carried pads do, if it hides."""

    folds: tuple[Block, ...]
    carried: Block | None
    geometry: Geometry
    last: bool


def sized(end: int, each: int, rate: int) -> Geometry:
    """With so many random elements for each query."""
    random = each * queries_at(rate)
    return Geometry(end, random, FOLD, max(LEAST, bits_for(end + random)), rate, queries_at(rate))


def small_or_large(end: int, each: int, sparse: int = 0) -> Geometry:
    quarter = sized(end, each, 2)
    return quarter if sparse <= quarter.domain <= SMALL else sized(end, each, 1)


def table(words: int, openings: int) -> Geometry:
    """A table for so many openings, of the narrowest leaves; for any number of them, 0, where nothing is hidden."""
    widest = small_or_large(-(-words // SYMBOLS) * SYMBOLS, SYMBOLS * openings, SPARSE)
    for fold in range(1, FOLD) if openings else ():
        random, bits = openings * widest.queries << fold, widest.bits - FOLD + fold
        if widest.end + random <= 1 << bits:
            return replace(widest, random=random, fold=fold, bits=bits)
    return widest


def vector(sizes: Sequence[int], queries: int, number: int) -> Vector:
    """The vector, 1 for the first, that folds of these sizes make; a tree that carries pads has `queries`."""
    bits = [*sizes, bits_for(CARRIED + queries)] if queries else [*sizes]
    offsets, end = [0] * len(bits), 0
    for i in sorted(range(len(bits)), key=lambda i: -bits[i]):
        offsets[i], end = end, end + (1 << bits[i])
    blocks = [Block(offset, size) for offset, size in zip(offsets, bits, strict=True)]
    if not queries:
        last = end <= LAST_SENT
        geometry = Geometry(end, 0, 0, bits_for(end), 0, 0) if last else sized(end, 0, 1 + number)
        return Vector(tuple(blocks), None, geometry, last)
    *folds, carried = blocks
    last = end <= LAST
    geometry = replace(small_or_large(end, 1), fold=0) if last else sized(end, SYMBOLS, 1 + number)
    return Vector(tuple(folds), carried, geometry, last)


def vectors(tables: Sequence[Geometry], hides: bool) -> list[Vector]:
    """Of an opening of these tables, the last of which carries pads if it hides."""
    made = [vector([one.bits - one.fold for one in tables], hides * tables[-1].queries, 1)]
    while not made[-1].last:
        before = made[-1].geometry
        made.append(vector([before.bits - FOLD], hides * before.queries, len(made) + 1))
    return made


def fit(tables: Sequence[Geometry], made: Sequence[Vector]) -> bool:
    """Whether there are such domains, and carried pads have a rate as low as the tree that carries them."""
    trees = [tables[-1], *(one.geometry for one in made)]
    pairs = [(tree, one.carried) for tree, one in zip(trees, made, strict=False) if one.carried is not None]
    carried = all(block.bits + tree.rate <= tree.depth for tree, block in pairs)
    return carried and all(one.bits <= MOST_VARIABLES and one.domain <= TWO_ADICITY for one in [*tables, *trees])

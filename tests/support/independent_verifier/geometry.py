"""Sizes of proofs: of tables and their domains, and of the vectors that they are folded into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from .opening import FOLD, SYMBOLS, below_enough, enough, queries_at

SMALL = 17
"""A domain of at most 2^17 points at rate 1/4 has that rate."""
SPARSE = 13
"""But that of a table has rate 1/2, unless it then has 2^13 points."""
LEAST = 8
LAST = 3 << 10
"""A vector of so many elements, besides random ones, is the last one."""
CARRIED = 2 * FOLD
"""Numbers that are sent in the four rounds of a fold."""
TWO_ADICITY = 32
MOST_VARIABLES = 29


def bits_for(size: int) -> int:
    return (size - 1).bit_length()


def hiding_length(end: int, random: int, fold: int) -> int:
    """Polynomials that hide have so many coefficients: more than pads that are carried beside a limb."""
    return max(end, CARRIED << fold) + random


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
    def filled(self) -> int:
        return self.end + self.random

    @property
    def length(self) -> int:
        return hiding_length(self.end, self.random, self.fold)


@dataclass(frozen=True)
class Block:
    """The first elements of 2^bits of a vector; none but these are the block's."""

    offset: int
    bits: int
    length: int


@dataclass(frozen=True)
class Vector:
    """Where the fold of each table, or of the vector before, lies in it; and where carried pads do, if it hides."""

    folds: tuple[Block, ...]
    carried: Block | None
    geometry: Geometry
    last: bool


def hiding(end: int, openings: int, fold: int, bits: int, more: int) -> Geometry | None:
    """Random elements for so many openings, leaves of 2^fold, 2^(bits + more) points; None where they do not fit."""
    queries = 1
    while True:
        random = openings * queries << fold
        length = hiding_length(end, random, fold)
        if length > 1 << bits:
            return None
        rate = length / (1 << bits + more)
        if enough(queries, rate):
            return Geometry(end, random, fold, bits, more, queries)
        queries = max(queries + 1, below_enough(rate))  # The rate grows with them, so none below these are enough.


def sized(end: int, openings: int, fold: int, more: int) -> Geometry:
    """The smallest; where there are no random elements, of a rate of powers of two."""
    if not openings:
        return Geometry(end, 0, fold, max(LEAST, bits_for(end)), more, queries_at(more))
    return next(found for bits in count(LEAST) if (found := hiding(end, openings, fold, bits, more)))


def small_or_large(end: int, openings: int, fold: int, sparse: int = 0) -> Geometry:
    quarter = sized(end, openings, fold, 2)
    return quarter if sparse <= quarter.domain <= SMALL else sized(end, openings, fold, 1)


def table(words: int, openings: int) -> Geometry:
    """A table for so many openings, of the narrowest leaves; for any number of them, 0, where nothing is hidden."""
    end = -(-words // SYMBOLS) * SYMBOLS
    widest = small_or_large(end, openings, FOLD, SPARSE)
    if not openings:
        return widest
    narrower = (hiding(end, openings, fold, widest.bits - FOLD + fold, widest.rate) for fold in range(1, FOLD))
    return next((found for found in narrower if found is not None), widest)


def placed(lengths: Sequence[int]) -> tuple[list[Block], int]:
    """Blocks of so many elements, larger powers of two first, each behind what the one before holds; and their end."""
    bits, offsets, end = [bits_for(length) for length in lengths], [0] * len(lengths), 0
    for i in sorted(range(len(lengths)), key=lambda i: -bits[i]):
        offsets[i] = -(-end >> bits[i]) << bits[i]
        end = offsets[i] + lengths[i]
    return [Block(*own) for own in zip(offsets, bits, lengths, strict=True)], end


def vector(sources: Sequence[Geometry], hides: bool, number: int) -> Vector:
    """The vector, 1 for the first, that folds of these make, of which the last one carries pads if it hides."""
    if not hides:
        blocks, end = placed([1 << own.bits - own.fold for own in sources])
        last = end <= LAST
        geometry = Geometry(end, 0, 0, bits_for(end), 0, 0) if last else sized(end, 0, FOLD, 1 + number)
        return Vector(tuple(blocks), None, geometry, last)
    lengths = [own.length >> own.fold for own in sources]
    (*folds, carried), end = placed([*lengths, CARRIED + sources[-1].queries])
    if end <= LAST:
        return Vector(tuple(folds), carried, small_or_large(end, 1, 0), True)
    return Vector(tuple(folds), carried, sized(-(-end // SYMBOLS) * SYMBOLS, 1, FOLD, 1 + number), False)


def vectors(tables: Sequence[Geometry], hides: bool) -> list[Vector]:
    """Of an opening of these tables, the last of which carries pads if it hides."""
    made = [vector(tables, hides, 1)]
    while not made[-1].last:
        made.append(vector([made[-1].geometry], hides, len(made) + 1))
    return made


def fit(tables: Sequence[Geometry], made: Sequence[Vector]) -> bool:
    """Whether there are such domains, and carried pads have a rate as low as the tree that carries them."""
    trees = [tables[-1], *(one.geometry for one in made)]
    pairs = [(tree, one.carried) for tree, one in zip(trees, made, strict=False) if one.carried is not None]
    carried = all(block.length << tree.fold <= tree.length for tree, block in pairs)
    return carried and all(one.bits <= MOST_VARIABLES and one.domain <= TWO_ADICITY for one in [*tables, *trees])

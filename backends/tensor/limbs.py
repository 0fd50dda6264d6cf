"""Cutting numbers into limbs: the tables that the range checks of a proof share, chosen so that all checks together are
cheapest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf

WIDEST = 20
"""The most bits of a limb, since a verifier sums over each limb table."""

FRACTION, COLUMN = 1.0, 1.0
"""The prover's cost of a fraction in the tree of lookups, and of a committed element; the two are equal, as
measured.
"""

MOST_BITS = 63
NEVER = 1 << 40


def power_above(number: float) -> float:
    """Return the least power of two that is not below the given number."""
    return float(1 << max(0, int(number) - 1).bit_length())


@dataclass(frozen=True, slots=True)
class Cuts:
    """The best cut into limbs for each number of bits: the least number of limbs, the width of the lowest limb, which
    is never narrower than the others, and a mask of all widths.

    Bit w of an entry of `tables` says that some limb has w bits, so that the entry is also the sum of the sizes of the
    limbs' tables.
    """

    counts: list[int]
    lowest: list[int]
    tables: list[int]


@lru_cache(maxsize=4096)
def _cuts(widths: frozenset[int], most: int) -> Cuts:
    """Return the best cuts into limbs for numbers of up to `most` bits."""
    ordered = sorted(widths, reverse=True)
    counts, lowest, tables = [0], [0], [0]
    for bits in range(1, most + 1):
        least, chosen = NEVER - 1, 0
        for width in ordered:
            if width <= bits and counts[bits - width] < least:
                least, chosen = counts[bits - width], width
        counts.append(least + 1)
        lowest.append(chosen)
        tables.append(tables[bits - chosen] | 1 << chosen if chosen else 0)
    return Cuts(counts, lowest, tables)


@dataclass(frozen=True)
class Limbs:
    """The limb tables of a proof: a table of 2^width entries for each width in `widths`, and a table of exactly `size`
    entries for each size in `exact`.
    """

    widths: frozenset[int]
    exact: frozenset[int] = frozenset()

    def count(self, bits: int) -> int:
        """Return the number of limbs into which a number with this many bits is cut."""
        return _cuts(self.widths, MOST_BITS).counts[bits]

    def cut(self, bits: int) -> tuple[int, ...]:
        """Return the widths of the limbs of a number, the lowest limb first."""
        made, lowest = [], _cuts(self.widths, MOST_BITS).lowest
        while bits:
            made.append(lowest[bits])
            bits -= made[-1]
        return tuple(made)

    def is_alone(self, size: int) -> bool:
        """Return whether numbers below `size` are looked up in a single table."""
        return size in self.exact or (size & (size - 1) == 0 and size.bit_length() - 1 in self.widths)


@dataclass(frozen=True)
class Demand:
    """The lookups that a proof needs: for each size of an interval, the number of elements with padded axes, and the
    number of all other lookups.
    """

    sizes: Mapping[int, int]
    leaves: float = 0
    columns: float = 0
    powers: Sequence[tuple[int, int]] = field(init=False)
    """The number of bits and of elements of each interval whose size is a power of two."""
    others: Sequence[tuple[int, int, int, float, float]] = field(init=False)
    """For intervals whose size is no power of two: sizes, bits, elements, the padded size of a table of exactly that
    size, and the cost of lookups in it.
    """
    longest: int = field(init=False)
    """The number of bits of the greatest interval size."""

    def __post_init__(self) -> None:
        powers = [(size.bit_length() - 1, count) for size, count in self.sizes.items() if size & (size - 1) == 0]
        others = []
        for size, count in self.sizes.items():
            if size & (size - 1):
                table = power_above(size)
                alone = count * FRACTION + table * FRACTION + size * COLUMN if size <= 1 << WIDEST else inf
                others.append((size, size.bit_length(), count, table, alone))
        object.__setattr__(self, "powers", powers)
        object.__setattr__(self, "others", others)
        every = (*(bits for bits, _ in powers), *(bits for _, bits, *_ in others))
        object.__setattr__(self, "longest", max(every, default=1))

    def cost(self, widths: frozenset[int]) -> tuple[float, Limbs]:
        """Return the cost of all lookups with tables of the given widths, and the limbs, including the sizes for which
        a table of exactly that size is then cheapest.
        """
        cuts = _cuts(widths, -(-self.longest // 16) * 16)  # Rounded up, so that few lengths are computed.
        counts, needed = cuts.counts, cuts.tables
        leaves, columns, tables, exact = self.leaves, self.columns, 0, []
        for bits, count in self.powers:
            own = counts[bits]
            leaves += count * own
            columns += count * (own - 1)
            tables |= needed[bits]
        for size, bits, count, table, alone in self.others:
            own = counts[bits]
            if alone <= count * (2 * own * FRACTION + 2 * (own - 1) * COLUMN):
                exact.append(size)
                leaves += count + table
                columns += size
            else:
                leaves += 2 * count * own
                columns += 2 * count * (own - 1)
                tables |= needed[bits]
        used = frozenset(width for width in widths if tables >> width & 1)
        return total(leaves + tables, columns + tables), Limbs(used, frozenset(exact))


def total(leaves: float, columns: float) -> float:
    """Return the total cost of lookups, in which half of the padding to a power of two is counted, since provers skip
    some of it.
    """
    return FRACTION * (leaves + power_above(leaves)) / 2 + COLUMN * (columns + power_above(columns)) / 2


def uniform(bits: int, sizes: Iterable[int]) -> Limbs:
    """Return limbs of `bits` bits, with the remaining bits in the highest limb; an interval that fits into one table
    gets a table of exactly its own size.
    """
    exact = frozenset(size for size in sizes if size & (size - 1) and size <= 1 << bits)
    return Limbs(frozenset(range(1, bits + 1)), exact)


def cheapest(demand: Demand, start: Limbs | None = None) -> tuple[float, Limbs]:
    """Return the cost of the cheapest limbs that a local search finds, and these limbs: widths are added, removed or
    exchanged as long as this lowers the cost.

    The local search starts from the best uniform width, or from the given limbs. The last result of the search is
    cached, since a verifier plans the same program many times.
    """
    return _search(tuple(demand.sizes.items()), demand.leaves, demand.columns, start)


@lru_cache(maxsize=256)
def _search(
    sizes: tuple[tuple[int, int], ...], leaves: float, columns: float, start: Limbs | None
) -> tuple[float, Limbs]:
    demand = Demand(dict(sizes), leaves, columns)
    widths = range(1, min(WIDEST, demand.longest) + 1)
    told = [] if start is None else [demand.cost(start.widths)]
    starts = told or [demand.cost(frozenset(range(1, bits + 1))) for bits in widths]
    cost, best = min(starts, key=lambda found: found[0])
    while True:
        more = [best.widths | {width} for width in widths if width not in best.widths]
        less = [best.widths - {width} for width in best.widths]
        other = [fewer | {width} for fewer in less for width in widths if width not in best.widths]
        found = min((demand.cost(frozenset(own)) for own in (*more, *less, *other)), key=lambda found: found[0])
        if found[0] >= cost:
            return cost, best
        cost, best = found

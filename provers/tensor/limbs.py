"""How numbers are cut into limbs: which tables the range checks of a proof share, by what is cheapest together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

WIDEST = 20
"""No limb has more bits: a verifier sums over each table."""

FRACTION, COLUMN = 1.0, 1.0
"""What a fraction in the tree of lookups costs the prover, and what a committed element does; alike, as measured."""

MOST_BITS = 63
NEVER = 1 << 40


def power_above(number: float) -> float:
    """The least power of two that is no less."""
    return float(1 << max(0, int(number) - 1).bit_length())


@lru_cache(maxsize=2048)
def _fewest(widths: frozenset[int]) -> tuple[list[int], list[int]]:
    """For each number of bits: the fewest limbs, and the width of the lowest of them, the widest first."""
    ordered = sorted(widths, reverse=True)
    counts, lowest = [0], [0]
    for bits in range(1, MOST_BITS + 1):
        least, chosen = NEVER - 1, 0
        for width in ordered:
            if width <= bits and counts[bits - width] < least:
                least, chosen = counts[bits - width], width
        counts.append(least + 1)
        lowest.append(chosen)
    return counts, lowest


@dataclass(frozen=True)
class Limbs:
    """Tables of 2^width entries for each width, and of exactly so many for each size in `exact`."""

    widths: frozenset[int]
    exact: frozenset[int] = frozenset()

    def count(self, bits: int) -> int:
        return _fewest(self.widths)[0][bits]

    def cut(self, bits: int) -> tuple[int, ...]:
        """The widths of a number's limbs, the lowest first."""
        made, lowest = [], _fewest(self.widths)[1]
        while bits:
            made.append(lowest[bits])
            bits -= made[-1]
        return tuple(made)

    def is_alone(self, size: int) -> bool:
        """Whether numbers below `size` are looked up in one table."""
        return size in self.exact or (size & (size - 1) == 0 and size.bit_length() - 1 in self.widths)


@dataclass(frozen=True)
class Demand:
    """What a proof has to look up: for each size of an interval, how many elements, axes padded; and all else."""

    sizes: Mapping[int, int]
    leaves: float = 0
    columns: float = 0
    powers: Mapping[int, int] = field(init=False)
    others: Mapping[int, int] = field(init=False)

    def __post_init__(self) -> None:
        powers = {size.bit_length() - 1: count for size, count in self.sizes.items() if size & (size - 1) == 0}
        object.__setattr__(self, "powers", powers)
        object.__setattr__(self, "others", {s: n for s, n in self.sizes.items() if s & (s - 1)})

    def cost(self, widths: frozenset[int]) -> tuple[float, Limbs]:
        """The cost with tables of these widths, and of those sizes that are then best looked up in one table."""
        limbs = Limbs(widths)
        leaves, columns, used, exact = self.leaves, self.columns, set[int](), set[int]()
        for bits, count in self.powers.items():
            own = limbs.count(bits)
            leaves += count * own
            columns += count * (own - 1)
            used.update(limbs.cut(bits) if own < NEVER else ())
        for size, count in self.others.items():
            own, table = limbs.count(size.bit_length()), power_above(size)
            both = count * (2 * own * FRACTION + 2 * (own - 1) * COLUMN)
            if size <= 1 << WIDEST and count * FRACTION + table * FRACTION + size * COLUMN <= both:
                exact.add(size)
                leaves += count + table
                columns += size
            else:
                leaves += 2 * count * own
                columns += 2 * count * (own - 1)
                used.update(limbs.cut(size.bit_length()) if own < NEVER else ())
        tables = sum(1 << width for width in used)
        return total(leaves + tables, columns + tables), Limbs(frozenset(used), frozenset(exact))


def total(leaves: float, columns: float) -> float:
    """Half of the cost of padding to a power of two is counted: provers skip some of it."""
    return FRACTION * (leaves + power_above(leaves)) / 2 + COLUMN * (columns + power_above(columns)) / 2


def uniform(bits: int, sizes: Iterable[int]) -> Limbs:
    """Limbs of so many bits, the highest of what is left; intervals that fit one table have their own."""
    exact = frozenset(size for size in sizes if size & (size - 1) and size <= 1 << bits)
    return Limbs(frozenset(range(1, bits + 1)), exact)


def cheapest(demand: Demand, start: Limbs | None = None) -> tuple[float, Limbs]:
    """Limbs as cheap as a local search finds, and their cost: widths are added, taken away or exchanged while it helps.

    It sets out from the best uniform width, or from where it is told.
    """
    longest = max((bits for bits in (*demand.powers, *(s.bit_length() for s in demand.others))), default=1)
    widths = range(1, min(WIDEST, longest) + 1)
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

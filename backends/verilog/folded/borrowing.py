"""Multipliers of shared lanes that stages borrow for products which they do not add up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..devices.family import SEVEN
from .folding import Fold
from .lending import Demand, Loan, loan_of, sent_by
from .pool import Borrower, Pool, widths
from .tiling import Choice


@dataclass(frozen=True)
class Multiplied:
    """A stage that uses only the multipliers of lanes, one for each of its products, with the bits of the two signed
    factors of each product, as the lanes take them.
    """

    name: str
    bits: Sequence[tuple[int, int]]


def borrowed_products(fold: Fold, choices: Sequence[Choice], pool: Pool) -> list[Multiplied]:
    """Return the stages that borrow the multipliers of shared lanes."""
    made = []
    for number, one in pool.borrowers.items():
        bits = [(y, x) if one.turned else (x, y) for x, y in sent_by(fold, number, choices[number]).bits]
        made.append(Multiplied(fold.stages[number].name, bits))
    return made


def choose_borrowers(
    fold: Fold,
    pool: Pool,
    choices: Sequence[Choice],
    loans: Sequence[Loan],
    demands: Mapping[int, Demand],
    cost: Callable[[Sequence[Loan], Mapping[int, Borrower]], float],
) -> tuple[tuple[Loan, ...], dict[int, Borrower]]:
    """Return the groups without the stages that borrow the multipliers of shared lanes instead, and these stages.

    The largest group comes first: all of its stages borrow if that costs less, and otherwise each of them, those with
    most products first, as long as it costs less. A stage whose sums shared lanes make does not borrow: its factors
    would meet those of its own lanes.
    """
    found, borrowers = list(loans), dict[int, Borrower]()
    least = cost(found, borrowers)
    able = {
        k: one
        for k in demands
        if k not in fold.members and (one := _borrower(fold, pool, choices, demands[k])) is not None
    }
    for loan in sorted(loans, key=lambda loan: -loan.size):
        some = sorted((k for k in loan.order if k in able), key=lambda k: -demands[k].products)
        for several in ([*some], *([k] for k in some)):
            if not several or any(k in borrowers for k in several):
                continue
            rest = [other for other in (_without(one, several, demands) for one in found) if other is not None]
            more = {**borrowers, **{k: able[k] for k in several}}
            if (less := cost(rest, more)) < least:
                least, found, borrowers = less, rest, more
    return tuple(found), borrowers


def _borrower(fold: Fold, pool: Pool, choices: Sequence[Choice], wanted: Demand) -> Borrower | None:
    """Return how a stage borrows the multipliers of shared lanes, or None if there are too few; of the two ways round,
    that with which the lanes have the fewest bits.
    """
    if wanted.products > pool.size:
        return None
    lane = widths(fold, choices)[0]
    ways = {False: wanted.bits, True: (wanted.bits[1], wanted.bits[0])}

    def most(turned: bool) -> tuple[int, int]:
        x, y = (max(pair) for pair in zip(ways[turned], lane[:2], strict=True))
        return SEVEN.multipliers(x, y), x + y

    turned = min(ways, key=most)
    return Borrower(wanted.products, ways[turned], turned, wanted.end)


def _without(loan: Loan, numbers: Sequence[int], demands: Mapping[int, Demand]) -> Loan | None:
    """Return a group without the given stages, or None if none is left."""
    left = [k for k in loan.order if k not in numbers]
    return loan_of(demands, left) if left else None

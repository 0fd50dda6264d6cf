"""Which stages borrow the multipliers of shared lanes, which way round, and for how long sums keep the lanes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module

import pytest
from every_case import every_case
from lent_programs import multiplying

from circuitize.backends.verilog.folded import borrowing, pool
from circuitize.backends.verilog.folded.borrowing import choose_borrowers
from circuitize.backends.verilog.folded.folding import Fold, fold
from circuitize.backends.verilog.folded.lending import Demand, Loan, lending, loan_of
from circuitize.backends.verilog.folded.pool import Borrower, Pool

SEARCH = import_module("circuitize.backends.verilog.folded.search")


@cache
def lent() -> Fold:
    found = lending(fold(multiplying()))
    assert found is not None
    return found


@every_case([(0, 0, [], [0, 1, 2]), (9, 0, [4, 8], []), (0, 9, [8], [0]), (5, -2, [4, 4], [1])])
def test_stages_borrow_multipliers_while_that_costs_less(
    wait: int, large: int, sizes_left: list[int], borrow: list[int]
) -> None:
    """Here a multiplier of a group costs 1, a stage at the shared lanes `wait`, and the one with most products `large`
    more. A stage with more products than there are lanes, and one whose sums the lanes make, never borrow.
    """
    folded, made = lent(), SEARCH.sizes(lent(), 40)
    (summed, *_), free = folded.members, [k for k in range(len(folded.stages)) if k not in folded.members][:3]
    demands = {k: Demand(products, (25, 17), 100) for k, products in zip(free, (4, 8, 4), strict=True)}
    groups = [loan_of(demands, [free[0]]), loan_of(demands, free[1:])]

    def cost(loans: Sequence[Loan], borrowers: Mapping[int, Borrower]) -> float:
        return sum(one.size for one in loans) + wait * len(borrowers) + large * (free[1] in borrowers)

    pool = Pool(8, {}, {})
    left, found = choose_borrowers(folded, pool, made.choices, groups, demands, cost)
    assert [one.size for one in left] == sizes_left
    assert sorted(found) == [free[k] for k in borrow]
    assert all((one.products, one.end) == (demands[k].products, 100) for k, one in found.items())
    demands |= {summed: Demand(4, (25, 17), 100), free[0]: Demand(9, (25, 17), 100)}
    groups = [loan_of(demands, [summed]), loan_of(demands, [free[0]])]
    assert choose_borrowers(folded, pool, made.choices, groups, demands, cost) == (tuple(groups), {})


@every_case([((25, 10), (18, 18), False), ((10, 25), (18, 18), False), ((10, 20), (25, 12), True)])
def test_factors_take_the_way_round_with_the_fewest_bits(
    lane: tuple[int, int], bits: tuple[int, int], turned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(borrowing, "widths", lambda *_: [(*lane, 30)])
    found = borrowing._borrower(lent(), Pool(2, {}, {}), [], Demand(2, bits, 7))
    assert found == Borrower(2, bits[::-1] if turned else bits, turned, 7)


@every_case([(1, 1, pool.EARLY), (2, 1, 0), (9, 1, 7), (1, 90, 1)])
def test_factors_leave_before_those_of_a_stage_that_borrows(
    deep: int, drain: int, hold: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which may come in the first clock of its turn, while those of a sum take longer; also in the next frame. Sums
    that leave for `drain` clocks still leave before those of the next stage that has some.
    """
    made = SEARCH.sizes(lent(), 40)
    monkeypatch.setattr(pool, "depth", lambda *_: deep)
    monkeypatch.setattr(pool, "held", lambda *_: drain)
    first, last = lent().members
    borrowers, orders = {5: Borrower(1, (8, 8), False, 20)}, [(first, 5, last), (first, last, 5), (5, first, last)]
    old = pool.pooled(lent(), 8, made.choices, {None: (first, last)}).holds
    found = [pool.pooled(lent(), 8, made.choices, {None: order}, borrowers).holds for order in orders]
    assert drain == 1 or min(old.values()) > hold
    longer = {k: max(hold, old[k]) for k in old}
    assert found == [{**old, k: longer[k]} for k in (first, last, last)]

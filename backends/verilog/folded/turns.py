"""The turns that stages take at shared lanes and at multipliers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..devices.family import SEVEN
from . import model
from .borrowing import choose_borrowers
from .lending import Loan, demand, grouped, merged
from .order import Rule, in_turns
from .pool import Borrower, last_read, multipliers, pooled, widths
from .sizes import Sizes


def with_turns(made: Sizes, rule: Rule | None = None, borrows: bool = False) -> Sizes:
    """Return the given sizes with a pool of shared lanes and, in a design that lends multipliers, with these.

    In such a design, stages take turns by `rule` or, if this is None, by the rule for which clocks^2 times multipliers
    is least. If `borrows` is true, stages may borrow the multipliers of shared lanes.
    """
    if not made.fold.members:
        return made
    if not made.fold.follows:
        return _with_pool(made, Rule.FARTHEST)
    links, rules = _streamed(made), Rule if rule is None else [rule]
    ruled = (_with_loans(_with_pool(made, one), links, borrows) for one in rules)
    return min(ruled, key=lambda lent: _cost(lent, links))


def _with_pool(made: Sizes, rule: Rule) -> Sizes:
    """Return the given sizes with a pool of shared lanes, which has as many lanes as its largest user takes, and with
    the order of turns in each mode.
    """
    fold, first = made.fold, len(made.fold.entries)
    orders, turns = {}, {}
    lasts = {first + k: last_read(made.choices[k], fold.stages[k].terms) + 1 for k in fold.members}
    for mode in fold.modal.programs if fold.modal is not None else (None,):
        actors, links = (made.actors, made.unbanked) if mode is None else made.within(mode, made.unbanked)[1:]
        own = made.actors_in(mode)
        orders[mode] = in_turns(actors, links, {k: lasts[actor] for k, actor in enumerate(own) if actor in lasts}, rule)
        turns[mode] = tuple(own[k] - first for k in orders[mode] if own[k] in lasts)
    taken = max(made.choices[number].lanes * made.choices[number].split for number in fold.members)
    pool = pooled(fold, taken, made.choices, turns)
    dsp = made.dsp + multipliers(widths(fold, made.choices), SEVEN)
    return replace(made, pool=pool, orders=orders, lanes=made.lanes + taken, dsp=dsp)


def _with_loans(made: Sizes, links: list[model.Link], borrows: bool) -> Sizes:
    """Return the given sizes with the multipliers that the units and lanes of several stages use in turns, if channels
    are as `links` says.
    """
    fold, first = made.fold, len(made.fold.entries)
    demands = {}
    for number, choice in enumerate(made.choices):
        _, after, _, _ = fold.paths(number, choice.split)
        result = made.actors[first + number].writes - after - 1 - choice.late(fold.stages[number])[1]
        found = demand(fold, number, choice, result)
        if found is not None:
            demands[number] = found
    if not demands:
        return made
    order = made.orders[None]
    begun = model.starts(made.actors, links, made.turns_in(None), 1, 0, order)[0]
    starts, stages = {k: int(begun[first + k]) for k in demands}, [k - first for k in order]
    pool, own = made.pool, _lanes_dsp(made)
    assert pool is not None

    def lent(loans: Sequence[Loan], borrowers: Mapping[int, Borrower]) -> Sizes:
        turns = tuple(k for k in stages if k in fold.members or k in borrowers)
        found = replace(made, loans=tuple(loans), pool=pooled(fold, pool.size, made.choices, {None: turns}, borrowers))
        dsp = sum(loan.size * SEVEN.multipliers(*loan.bits) for loan in loans) + _lanes_dsp(found) - own
        return replace(found, dsp=made.dsp + dsp)

    def cost(loans: Sequence[Loan], borrowers: Mapping[int, Borrower]) -> int:
        return _cost(lent(loans, borrowers), links)

    loans, borrowers = grouped(demands, starts, stages), dict[int, Borrower]()
    if borrows:
        loans, borrowers = choose_borrowers(fold, pool, made.choices, loans, demands, cost)
    return lent(merged(loans, demands, stages, lambda some: cost(some, borrowers)), borrowers)


def _lanes_dsp(made: Sizes) -> int:
    """Return the multipliers of the shared lanes."""
    assert made.pool is not None
    return multipliers(widths(made.fold, made.choices, made.pool.borrowers.values()), SEVEN)


def _cost(lent: Sizes, links: list[model.Link]) -> int:
    """Return clocks^2 times multipliers, by the model, of sizes with multipliers in turns."""
    begun = model.starts(lent.actors, links, lent.turns_in(None), 1, 0, lent.orders[None])[0]
    return int(begun[-1] - begun[len(lent.fold.entries) :].min()) ** 2 * lent.dsp


def _streamed(made: Sizes) -> list[model.Link]:
    """Return the channels of a design in which stages that follow others read about as soon as they will."""
    first, links = len(made.fold.entries), list(made.unbanked)
    for k, link in enumerate(links):
        if not link.state and made.fold.leaders.get(link.reader - first) == link.writer - first:
            ahead = max(2, made.actors[link.writer].writes + 3 - link.reads)
            links[k] = replace(link, ahead=ahead)
    return links

"""The search for the sizes of a folded design: the fastest within a budget of lanes or multipliers, or the cheapest
within a budget of clocks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from circuitize.circuits.errors import CircuitizeError

from .budget import least_cycles, sizes
from .estimate import estimate
from .folding import Fold
from .lending import lending
from .matching import Matching
from .order import Rule
from .plan import Plan, plan
from .pool import works
from .prices import Pace
from .refinement import refined
from .rematerialization import BITS
from .sizes import Sizes

LANES = 32
"""Multiply-accumulate lanes where no budget is given."""

PARTS = (5, 3, 2, 1)
"""Fifths of the multipliers beside the shared lanes that a stage may use at most, which are tried in turn."""

WORTHS = tuple(2.0**power for power in range(12, -13, -1))
"""How many clocks of a training step a LUT may be worth in stages that only steps run."""

TRIES = 3
"""How often the number of shared lanes is corrected by what is left of a budget."""


def choose_sizes(
    folded: Fold,
    lanes: int | None,
    dsp_budget: int | None,
    interval_budget: int | None,
    train_interval: int | None = None,
) -> Sizes:
    """Return the fastest sizes within a budget of lanes or multiplier blocks, or the cheapest sizes within a budget of
    clocks; with `train_interval` the cheapest of those sizes with which a training step takes at most so many clocks.
    Without a budget, multipliers used in turns are at most as many as LANES lanes and their units take, or at most
    three quarters, half, a quarter and so on of these, whichever design is best.
    """
    budgets = {"lanes": lanes, "dsp_budget": dsp_budget, "interval_budget": interval_budget}
    given = [name for name, value in budgets.items() if value is not None]
    if len(given) > 1:
        raise CircuitizeError(f"expected one budget, found {' and '.join(given)}; give one of them")
    if train_interval is not None and interval_budget is not None:
        raise CircuitizeError(
            "expected lanes or dsp_budget with train_interval, found interval_budget; give one of them instead"
        )
    slowest = max(least_cycles(folded), sum(works(folded).values()))
    if interval_budget is not None:
        most = interval_budget // folded.round_count
        quick = sizes(folded, max(1, min(most, slowest)))
        if not folded.updates and quick.interval <= most:
            return replace(quick, longest=most)
        found = _last(slowest, lambda target: sizes(folded, target), lambda s: s.interval <= most)
        if found is None:
            least_interval = sizes(folded, 1).interval * folded.round_count
            raise CircuitizeError(
                f"expected an interval of at least {least_interval} clocks, found interval_budget={interval_budget}; "
                "raise it"
            )
        return replace(found, longest=most)
    word, limit = ("dsp", dsp_budget) if dsp_budget is not None else ("lanes", LANES if lanes is None else lanes)
    assert limit is not None
    least = lanes is None and dsp_budget is None
    if train_interval is not None:
        return _paced(folded, word, limit, least, train_interval)
    lends = folded.modal is None and folded.updates and lanes is None
    found = _within(folded, word, limit, least or lends)
    return _lending(folded, found, dsp_budget) if lends else found


def _lending(folded: Fold, own: Sizes, dsp_budget: int | None) -> Sizes:
    """Return the best of the given sizes, in which units have multipliers of their own, and of sizes with multipliers
    in turns; raise CircuitizeError if none keep to the budget.
    """
    ways = [Matching(other) for narrow in (False, True) if (other := lending(folded, narrow)) is not None]
    tried: dict[int, Sizes] = {}

    def more(*several: Sizes) -> int:
        """Return the least cost, also of several sizes more."""
        for made in several:
            tried.setdefault(_cost(plan(made), dsp_budget is None), made)
        return min(tried, default=0)

    def lent(limit: int) -> list[Sizes]:
        return [made for way in ways for borrows in (False, True) for made in _lent(way, limit, borrows)]

    if dsp_budget is None or own.dsp <= dsp_budget:
        more(own)
    if dsp_budget is not None:
        more(*lent(dsp_budget))
    else:
        least, limit = more(*lent(own.dsp), *lent(own.dsp * 3 // 4)), own.dsp // 2
        while more(*lent(limit)) < least:
            least, limit = min(tried), limit // 2
    if not tried:
        least_sizes = (_within(way.fold, "dsp", 1, True, borrows=borrows) for way in ways for borrows in (False, True))
        fewest = [found.dsp for found in least_sizes if found.pool is not None]
        raise CircuitizeError(
            f"expected at least {min([own.dsp, *fewest])} dsp, found dsp_budget={dsp_budget}; raise it"
        )
    return tried[min(tried)]


def _cost(made: Plan, free: bool) -> int:
    """Return what tells which of several designs is better, by its clocks and its LUTs: a hundredth of the clocks is
    worth two hundredths of the LUTs. In a design that is `free` of a budget of multipliers, the LUTs and the
    multipliers are worth a hundredth each.
    """
    found = estimate(made)
    return made.sizes.interval**2 * (found["lut"] + found["bram_bits"] // BITS) * (made.sizes.dsp if free else 1)


def _lent(way: Matching, limit: int, borrows: bool) -> list[Sizes]:
    """Return sizes within a budget of multipliers for which units and lanes of several stages use multipliers in turns,
    if there are such sizes: with those that fit what each stage writes to its readers, if these keep to the budget. A
    hundredth of the clocks is worth two hundredths of the multipliers. There is one result for each order of turns that
    keeps to the budget.
    """
    found = _within(way.fold, "dsp", limit, True, borrows=borrows)
    if found.pool is None or found.dsp > limit:
        return []
    left = limit - found.pool.size
    tried = (way.sizes(found, max(1, left * fifths // 5), borrows) for fifths in PARTS)
    best = min((better for better in tried if better.dsp <= limit), key=lambda b: b.interval**2 * b.dsp, default=found)
    given = dict(enumerate(best.choices))
    ruled = (
        sizes(way.fold, best.target, pool_size=found.pool.size, given=given, rule=rule, borrows=borrows)
        for rule in Rule
    )
    return list({tuple(made.orders[None]): made for made in ruled if made.dsp <= limit}.values())


def _paced(folded: Fold, word: str, limit: int, least: bool, most: int) -> Sizes:
    """Return the fastest sizes of predictions within a budget of lanes or multiplier blocks with which a training step
    takes at most `most` clocks: those for which a LUT is worth most clocks of a step. The arguments are those of
    `_within`.
    """
    if folded.modal is None or folded.modal.prediction is None:
        raise CircuitizeError(
            "--train-interval: expected a training step with its prediction (--predict), found none; leave it out"
        )
    found, low, high = None, 0, len(WORTHS)
    while low < high:
        middle = (low + high) // 2
        tried = _within(folded, word, limit, least, Pace(most, WORTHS[middle]))
        if tried.interval <= most:
            found, high = tried, middle
        else:
            low = middle + 1
    if found is None:
        soonest = _within(folded, word, limit, least, Pace(most, WORTHS[-1])).interval
        raise CircuitizeError(
            f"expected at least {soonest} clocks for a training step within {limit} {word}, "
            f"found train_interval={most}; raise it"
        )
    return refined(found, word, limit) if folded.members else found


def _within(folded: Fold, word: str, limit: int, least: bool, pace: Pace | None = None, borrows: bool = False) -> Sizes:
    """Return the fastest sizes within a budget of lanes or multiplier blocks; if there are none, return the least sizes
    if `least` is true, and raise CircuitizeError otherwise. With a `pace` of steps they are not refined.
    """
    slowest = max(least_cycles(folded), sum(works(folded).values()))
    small = sizes(folded, slowest, pace=pace, borrows=borrows)
    if getattr(small, word) > limit:
        if least:
            return small
        name = "dsp_budget" if word == "dsp" else "lanes"
        raise CircuitizeError(f"expected at least {getattr(small, word)} {word}, found {name}={limit}; raise it")
    low, high, best = 1, slowest, small
    while low < high:
        middle = (low + high) // 2
        found = sizes(folded, middle, pace=pace, borrows=borrows)
        if getattr(found, word) <= limit:
            best, high = found, middle
        else:
            low = middle + 1
    if folded.members:
        shared = _share(best, word, limit, borrows)
        return shared if folded.modal is None or pace is not None else refined(shared, word, limit)
    return _spend(best, word, limit) if folded.updates else best


def _share(best: Sizes, word: str, limit: int, borrows: bool) -> Sizes:
    """Return the sizes with the most shared lanes that keep to a budget."""
    pool = best.pool
    assert pool is not None
    size = pool.size
    for _ in range(TRIES):
        size += limit - int(getattr(best, word))
        tried = sizes(best.fold, best.target, pool_size=size, pace=best.pace, borrows=borrows)
        if getattr(tried, word) <= limit and tried.interval < best.interval:
            best = tried
    return best


def _spend(best: Sizes, word: str, limit: int) -> Sizes:
    """Return sizes for which the rest of a budget is spent on the stages that take longest: their targets are halved as
    long as the budget lasts.

    A stage without a reduction has no lanes, and so would never reach a limit of lanes: the limit applies to the number
    of its units instead.
    """
    halved: dict[int, int] = {}
    while True:
        stages = sorted(range(len(best.choices)), key=lambda k: -best.choices[k].cycles)[:4]
        for stage in stages:
            tried = {**halved, stage: halved.get(stage, 0) + 1}
            found = sizes(best.fold, best.target, tried, pace=best.pace)
            choice = found.choices[stage]
            if max(getattr(found, word), choice.units) <= limit and choice.cycles < best.choices[stage].cycles:
                best, halved = found, tried
                break
        else:
            return best


def _last(most: int, make: Callable[[int], Sizes], fits: Callable[[Sizes], bool]) -> Sizes | None:
    """Return the sizes of the greatest target from 1 to `most` that fits, or None; each target below one that fits must
    fit too.
    """
    best = None
    low, high = 1, most
    while low <= high:
        middle = (low + high) // 2
        found = make(middle)
        if fits(found):
            best, low = found, middle + 1
        else:
            high = middle - 1
    return best

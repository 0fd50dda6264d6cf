"""The refinement of the sizes of all stages by the estimate of the whole design."""

from __future__ import annotations

import math
from dataclasses import replace

from ..devices.family import ECP5
from . import model
from .budget import sizes, widths_of
from .estimate import estimate
from .folding import Fold
from .plan import plan
from .pool import works
from .prices import price_of, prices_of
from .sizes import Sizes
from .tiling import Choice, choices_shared, choose

EFFORT = 1 << 23
"""So many products of training steps are planned again at most."""
TRIED = 6
"""Sizes that are tried of a stage at most."""


def refined(best: Sizes, word: str, limit: int) -> Sizes:
    """Return sizes that keep to a budget, for which other sizes of one stage after the other were tried, those with
    most terms first; the design must have modes and shared lanes. Before that, the readers of each state are joined at
    one memory, unless this costs more; with a pace of steps they always are, since the weights then lie in blocks once.

    A design costs the clocks of its step and of its prediction, and those that its LUTs of four inputs are worth; if
    the design has a pace of steps, the clocks of a step cost nothing, but must keep to it. What the sizes of one stage
    cost beside it, in memories and in what selects from them, is seen only in the plan of the whole design. For large
    steps, whose plans take long, fewer sizes are tried.
    """
    fold, pool = best.fold, best.pool
    assert pool is not None
    products = sum(works(fold).values())
    size, left = pool.size, EFFORT // products
    price, prices = price_of(fold, size), prices_of(fold, size, best.pace)
    given = dict(enumerate(best.choices))
    joined = replace(best, joins=True)
    first = [joined] if best.pace is not None else [best, joined]
    least, best = min(((_cost(one, price), one) for one in first), key=lambda one: one[0])
    for number in sorted(given, key=lambda k: -fold.stages[k].size * fold.stages[k].terms):
        for choice in _others(fold, number, size, prices[number]):
            if left == 0 or choice == given[number]:
                continue
            left -= 1
            tried = sizes(
                fold, best.target, pool_size=size, given={**given, number: choice}, pace=best.pace, joins=best.joins
            )
            if getattr(tried, word) <= limit and (cost := _cost(tried, price)) < least:
                least, best, given = cost, tried, {**given, number: choice}
    return best


def _cost(made: Sizes, price: float) -> float:
    planned = plan(made)
    step, *predictions = (model.interval(*program) for program in planned.sizes.programs)
    if made.pace is not None and step > made.pace.most:
        return math.inf
    own = step if made.pace is None else 0
    return own + sum(predictions) + price * estimate(planned, ECP5)["lut"]


def _others(fold: Fold, number: int, size: int, price: float) -> list[Choice]:
    """Return the sizes of a stage that promise most: on a pool of `size` lanes, along any axis unless the stage writes
    state in order, or with a few lanes and units of its own.
    """
    stage, widths = fold.stages[number], widths_of(fold, number)
    ordered = stage.wire in fold.states.values()
    if number not in fold.members:
        budgets = {-(-stage.size * stage.terms // parts) for parts in range(1, TRIED + 1)}
        return [choose(stage, budget, fold.axes[number], widths, ordered, True) for budget in sorted(budgets)]
    axes = [fold.axes[number]] if ordered else range(max(1, len(stage.shape)))
    found = [one for axis in axes for one in choices_shared(stage, size, axis, widths, price, ordered)]
    return [choice for _, choice in sorted(found, key=lambda one: one[0])[:TRIED]]

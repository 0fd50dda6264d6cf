"""Multipliers that the units and lanes of several stages use in turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from .datapath import Away
from .folding import Fold
from .folding import fold as cut_up
from .graph import Stage
from .narrowing import narrowed
from .tiling import Choice

APART = 64
"""Clocks that lie between two stages, if each waits for all that it reads, where the stages may use the same
multipliers: stages that follow one another more closely may overlap by early reads.
"""


@dataclass(frozen=True)
class Loan:
    """So many multipliers as `size` says, for the products of some stages, with the order of the stages' turns.

    `bits` are those of the signed factors, and `ends` says how many clocks after its start each stage gives the
    multipliers up.
    """

    size: int
    bits: tuple[int, int]
    order: tuple[int, ...]
    ends: Mapping[int, int]


@dataclass(frozen=True)
class Demand:
    """The products that a stage makes in one clock, the bits of their factors, and the clocks from the stage's start to
    the one in which it gives the multipliers up.
    """

    products: int
    bits: tuple[int, int]
    end: int


@dataclass(frozen=True)
class Sent:
    """The products of a stage: those of each lane and of each unit, and the numbers of the stage's own lanes and
    units.
    """

    lanes: Sequence[Away]
    units: Sequence[Away]
    lane_count: int
    unit_count: int

    @property
    def bits(self) -> list[tuple[int, int]]:
        """Return the bits of the factors of each product that the stage makes in a clock."""
        lanes = [one.bits for _ in range(self.lane_count) for one in self.lanes]
        return lanes + [one.bits for _ in range(self.unit_count) for one in self.units]

    @property
    def cycles(self) -> int:
        """Return the registers that say when the products of a lane and of a unit are made."""
        return sum(one.cycle + 2 for one in [*self.lanes, *self.units])

    def place(self, side: str, instance: int) -> int:
        """Return the number of the first product of a lane or a unit, whose side is `lane` or `unit`."""
        if side == "lane":
            return instance * len(self.lanes)
        return self.lane_count * len(self.lanes) + instance * len(self.units)


def sent_by(fold: Fold, number: int, choice: Choice) -> Sent:
    """Return the products that a stage of the given sizes makes outside."""
    lanes, units = away(fold, number, choice.split)
    return Sent(lanes, units, choice.lanes * choice.split * bool(lanes), choice.units)


def lending(fold: Fold, narrow: bool = False) -> Fold | None:
    """Return a program whose units and lanes use multipliers in turns, with products that one multiplier takes, or None
    unless several stages have such products.

    If `narrow` is true, wide contractions are split first; the result is then None unless there are some.
    """
    whole = cut_up(fold.program, fold.elements_per_beat, narrow=True, rounds=fold.rounds) if narrow else fold
    graph = replace(whole.graph, stages=[_lent(stage) for stage in whole.stages])
    found = replace(whole, graph=graph, follows=True, _paths={}, _spread={})
    lenders = [k for k in range(len(found.stages)) if any(away(found, k, 1))]
    return found if (len(found.stages) > len(fold.stages) if narrow else len(lenders) > 1) else None


def _lent(stage: Stage) -> Stage:
    return replace(narrowed(stage), lends=True)


def away(fold: Fold, number: int, split: int) -> tuple[Sequence[Away], Sequence[Away]]:
    """Return the products of a stage that its lanes make outside, and those that its units make outside.

    A stage on shared lanes has no lanes of its own.
    """
    outer, _, inner, _ = fold.paths(number, split)
    return () if inner is None or number in fold.members else inner.away, outer.away


def demand(fold: Fold, number: int, choice: Choice, result: int) -> Demand | None:
    """Return what a stage takes of shared multipliers, or None if it takes nothing.

    Sums or operands come to the units of the stage `result` clocks after its start at the latest. A stage gives the
    multipliers up in the clock in which its last factors leave its units or, if these make no products, its lanes. The
    next stage starts later, and all factors take equally long to their multiplier: no factors of two stages ever meet.
    """
    sent = sent_by(fold, number, choice)
    lanes, units = sent.lanes, sent.units
    every = [*lanes, *units]
    if not every:
        return None
    stage = fold.stages[number]
    if units:
        end = result + 1 + choice.late(stage)[1] + max(one.cycle for one in units)
    else:
        reading, drain = -(-stage.terms // choice.split), -(-choice.lanes // choice.units)
        last = (choice.passes - 1) * max(reading, drain) + reading
        end = last + 1 + choice.late(stage)[0] + max(one.cycle for one in lanes)
    x, y = (max(one.bits[side] for one in every) for side in (0, 1))
    return Demand(len(sent.bits), (x, y), end)


def grouped(demands: Mapping[int, Demand], starts: Mapping[int, int], order: Sequence[int]) -> tuple[Loan, ...]:
    """Return groups of multipliers, each for stages that hardly use them at the same time; `starts` says when each
    stage starts if it waits for all that it reads, and `order` is the order of the turns of all stages.

    Stages with most products come first; each joins the smallest group in which it meets no other stage.
    """

    def meet(one: int, other: int) -> bool:
        first, second = sorted((one, other), key=lambda k: starts[k])
        return starts[second] < starts[first] + demands[first].end + APART

    groups: list[list[int]] = []
    for number in sorted(demands, key=lambda k: (-demands[k].products, starts[k])):
        free = [group for group in groups if not any(meet(number, other) for other in group)]
        if free:
            free[-1].append(number)
        else:
            groups.append([number])
    return tuple(loan_of(demands, [k for k in order if k in group]) for group in groups)


def merged(
    loans: Sequence[Loan], demands: Mapping[int, Demand], order: Sequence[int], cost: Callable[[Sequence[Loan]], float]
) -> tuple[Loan, ...]:
    """Return fewer groups, in which stages may wait for one another: the smallest first, each group that no other has
    joined joins the one with which all cost least, if that is less than before.
    """
    found, least = list(loans), cost(loans)
    for one in sorted(loans, key=lambda loan: loan.size):
        rest = [other for other in found if other is not one]
        tried = []
        for place, other in enumerate(rest if len(rest) < len(found) else ()):
            joined = loan_of(demands, [k for k in order if k in {*one.order, *other.order}])
            made = [*rest[:place], joined, *rest[place + 1 :]]
            tried.append((cost(made), made))
        best, made = min(tried, key=lambda pair: pair[0], default=(least, found))
        if best < least:
            least, found = best, made
    return tuple(found)


def loan_of(demands: Mapping[int, Demand], order: Sequence[int]) -> Loan:
    """Return the multipliers that stages use in the given order."""
    x, y = (max(demands[k].bits[side] for k in order) for side in (0, 1))
    size = max(demands[k].products for k in order)
    return Loan(size, (x, y), tuple(order), {k: demands[k].end for k in order})

"""Random steps whose stages borrow multipliers of shared lanes: equal to the executor's to the bit and the clock."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from borrowing_programs import SEARCH, Borrowing, borrowing_step
from lent_programs import multiplying
from linted import warnings
from rtl_resets import check_resets
from tiers import count

from circuitize.backends.verilog.devices.family import ECP5, SEVEN
from circuitize.backends.verilog.folded import matching, model, turns
from circuitize.backends.verilog.folded.budget import sizes
from circuitize.backends.verilog.folded.cost import Cost
from circuitize.backends.verilog.folded.estimate import estimate, leaving, pooling, selecting
from circuitize.backends.verilog.folded.folding import Fold, fold
from circuitize.backends.verilog.folded.lending import Demand, Loan, lending, merged, sent_by
from circuitize.backends.verilog.folded.order import Rule
from circuitize.backends.verilog.folded.pool import multipliers, pooled, widths
from circuitize.backends.verilog.folded.sizes import Sizes
from circuitize.circuits.errors import CircuitizeError
from circuitize.sims.rtl import Simulation, compare, expected

SEEDS = [263, 250, 142, 153]
"""Of designs that use lanes in every way."""
PLAIN = 60
"""Of a design whose sums have factors that no operation makes."""
DEEP = pytest.mark.deep

made = cache(borrowing_step)


@cache
def lent() -> Fold:
    found = lending(fold(multiplying()))
    assert found is not None
    return found


def registers(text: str, names: str = "") -> int:
    """The bits of the registers whose names begin so."""
    found = re.findall(rf"\breg (?:signed )?(?:\[(\d+):0\] )?{names}\w*", text)
    return sum(int(top or 0) + 1 for top in found)


def designs() -> list[Borrowing]:
    found = [made(seed) for seed in SEEDS]
    return [one for one in found if one is not None]


@pytest.mark.parametrize("seed", [*SEEDS, *range(1000, 1000 + count(0, deep=400))])
def test_steps_equal_the_executors(seed: int) -> None:
    """And take the clocks and multipliers that the model says, in random orders of turns; in `make test` only the first
    steps also have pauses and back-pressure.
    """
    one = made(seed)
    if one is None:
        assert seed not in SEEDS
        return
    chosen, vectors = one.plan.sizes, one.frames(count(3, deep=6), seed)
    wanted = expected(one.program, vectors, one.initial)
    paces = range(1, count(1 + (seed == SEEDS[0]), deep=3))
    with Simulation(one.design) as simulation:
        found = simulation.run(vectors)
        for beats in (found, *(simulation.run(vectors, pace) for pace in paces)):
            assert compare(beats, wanted).first_difference is None
    actors, links, turns, order = chosen.programs[0]
    ends = model.ends(actors, model.starts(actors, links, turns, len(wanted.undefined), order=order))
    assert found.latency_cycles == ends[0] + 1 == one.design.report["latency_cycles"]
    assert found.interval_cycles == (ends[-1] - ends[0]) / (len(ends) - 1)
    assert chosen.dsp == estimate(one.plan, SEVEN)["dsp"]


def test_the_designs_borrow_in_every_way() -> None:
    """Either way round; factors that take more multipliers than those of sums, and some that come a clock later; by
    lanes and by units; from the first turn to the last; after stages that then keep the lanes longer, and after others.
    """
    found, sents, places, pairs = designs(), [], set(), set()
    assert len(found) == len(SEEDS)
    longer = wider = 0
    late = set()
    for each in found:
        chosen, pool, order = each.plan.sizes, each.pool, each.pool.orders[None]
        fold, choices = chosen.fold, chosen.choices
        sents += [sent_by(fold, k, choices[k]) for k in pool.borrowers]
        late |= {side for k in pool.borrowers for side in (0, 1) if choices[k].late(fold.stages[k])[side]}
        least = pooled(fold, pool.size, choices, pool.orders).holds
        longer += sum(least[k] < hold for k, hold in pool.holds.items())
        every = widths(fold, choices), widths(fold, choices, pool.borrowers.values())
        wider += multipliers(every[0], SEVEN) < multipliers(every[1], SEVEN)
        own = [k in pool.borrowers for k in order]
        places |= {place for place in (0, -1) if own[place]}
        pairs |= set(zip(own, [*own[1:], own[0]], strict=True))
    borrowers = [one for each in found for one in each.pool.borrowers.values()]
    assert {one.turned for one in borrowers} == {False, True}
    assert {one.products for one in borrowers} > {1}
    assert longer and wider and len(late) == len(places) == 2 and len(pairs) == 4
    assert any(one.lanes and one.units for one in sents) and any(not one.lanes for one in sents)


def test_what_selects_and_holds_factors_is_counted() -> None:
    """The tables to the bit, and the registers about, of the lanes and of the stages beside them."""
    one = made(PLAIN)
    assert one is not None
    chosen, files = one.plan.sizes, one.design.files
    cost, selects, sends = Cost(ECP5), Cost(SEVEN), Cost(SEVEN)
    pooling(cost, chosen)
    selecting(cost, one.plan)
    selecting(selects, one.plan)
    leaving(sends, chosen, one.pool.borrowers)
    pool, factor = files["folded_pool.v"], r"reg \[(\d+):0\] [xy]\d+;\n.* [xy]\d+ <= (.*);"
    tables = ((int(top) + 1) * -(-text.count("|") // 5) for top, text in re.findall(factor, pool))
    assert selects.lut == sends.lut + sum(tables)
    lanes = (registers(files[f"{module}.v"]) for module in re.findall(r"(folded_pool_lane\d*) lane\d+ ", pool))
    stages = (files[f"{chosen.fold.stages[k].name}.v"] for k in [*one.pool.stages, *one.pool.borrowers])
    beside = (registers(text, r"(?:away\d+|pool)_[xy]") for text in stages)
    assert cost.ff == pytest.approx(registers(pool) + sum(lanes) + sum(beside), rel=0.08)


def test_groups_are_joined_beside_the_stages_that_borrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a design costs when groups are joined is what it costs in the end."""
    costs, join = [], merged

    def joined(
        loans: Sequence[Loan],
        demands: Mapping[int, Demand],
        order: Sequence[int],
        cost: Callable[[Sequence[Loan]], float],
    ) -> tuple[Loan, ...]:
        costs.append((cost(()), cost(found := join(loans, demands, order, cost))))
        return found

    monkeypatch.setattr(turns, "merged", joined)
    sizes = SEARCH.sizes(lent(), 40, rule=Rule.SHORTEST, borrows=True)
    links = turns._streamed(sizes)
    assert sizes.pool.borrowers
    own = sum(loan.size * SEVEN.multipliers(*loan.bits) for loan in sizes.loans)
    without = replace(sizes, loans=(), dsp=sizes.dsp - own)
    assert costs == [(turns._cost(without, links), turns._cost(sizes, links))]


@pytest.mark.parametrize("borrows", [False, True])
def test_all_sizes_of_a_search_borrow_or_none(borrows: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def asking(*given: Any, **more: Any) -> Sizes:
        asked.append(more["borrows"])
        return sizes(*given, **more)

    monkeypatch.setattr(SEARCH, "sizes", asking)
    monkeypatch.setattr(matching, "sizes", asking)
    found = SEARCH._lent(matching.Matching(lent()), 12, borrows)
    assert found and {*asked} == {borrows}
    assert any(one.pool.borrowers for one in found) == borrows


@pytest.mark.parametrize("limit", [1, 100])
def test_designs_are_tried_with_and_without_borrowing(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also for the least number of multipliers that is named if a budget cannot be met."""
    tried, least, within = [], [], SEARCH._within

    def none(way: object, limit: int, borrows: bool) -> list[Sizes]:
        tried.append(borrows)
        return []

    def fewest(*given: Any, borrows: bool = False) -> Sizes:
        least.append(borrows)
        found: Sizes = within(*given)
        return found

    monkeypatch.setattr(SEARCH, "_lent", none)
    monkeypatch.setattr(SEARCH, "_within", fewest)
    folded = fold(multiplying())
    if limit == 1:
        with pytest.raises(CircuitizeError, match="expected at least"):
            SEARCH.choose_sizes(folded, None, limit, None)
    else:
        SEARCH.choose_sizes(folded, None, limit, None)
    assert {*tried} == {False, True} and any(least) == (limit == 1)


@DEEP
@pytest.mark.parametrize("seed", SEEDS)
def test_a_reset_leaves_the_state_last_kept(seed: int) -> None:
    one, resets = made(seed), 40
    assert one is not None
    vectors = one.frames(3 * resets + 8, seed)
    found = check_resets(one.design, one.program, vectors, one.initial, resets, backpressure=1)
    assert (found.resets, found.first_difference) == (resets, None)


@pytest.mark.parametrize("seed", [SEEDS[0], *(pytest.param(seed, marks=DEEP) for seed in SEEDS[2:])])
def test_verilator_has_no_warning(seed: int, tmp_path: Path) -> None:
    """Of the second step it says that constants are compared: the step seeks the greatest of equal numbers."""
    one = made(seed)
    assert one is not None and warnings(one.design, tmp_path) == ""

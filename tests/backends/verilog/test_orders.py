"""The order of turns at shared lanes: two rules, of whose orders the better is kept."""

from __future__ import annotations

import random
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest
from every_case import every_case
from example_programs import example
from tiers import count

from circuitize.backends.verilog.folded.budget import sizes
from circuitize.backends.verilog.folded.folding import Fold, fold
from circuitize.backends.verilog.folded.lending import lending
from circuitize.backends.verilog.folded.matching import Matching
from circuitize.backends.verilog.folded.model import Actor, Link
from circuitize.backends.verilog.folded.order import Rule, in_turns
from circuitize.backends.verilog.folded.plan import plan
from circuitize.backends.verilog.folded.sizes import Sizes

SEARCH = import_module("circuitize.backends.verilog.folded.search")


def test_stages_take_turns_by_two_rules() -> None:
    """The stage with the longest way to the end comes first, or the one that runs for the fewest clocks; the stage that
    reads what another writes comes after it by either.
    """
    actors = [Actor("in", 4, 4), Actor("short", 10, 12), Actor("long", 50, 52), Actor("last", 5, 6), Actor("status", 1)]
    links = [Link(0, 1, 3), Link(0, 2, 3), Link(2, 3, 5), Link(1, 4, 0), Link(3, 4, 0)]
    alone = {1: 10, 2: 50, 3: 5}
    assert in_turns(actors, links, alone, Rule.FARTHEST) == [0, 2, 1, 3, 4]
    assert in_turns(actors, links, alone, Rule.SHORTEST) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("clocks", "order"), [(100, [0, 1, 2, 3, 4]), (200, [0, 1, 3, 2, 4])])
def test_lanes_wait_a_little_for_the_shortest_stage(clocks: int, order: list[int]) -> None:
    actors = [Actor("in", 4, 4), Actor("late", 4, clocks), Actor("short", 10), Actor("long", 50), Actor("status", 1)]
    links = [Link(1, 2, 3), Link(0, 3, 3), Link(2, 4, 0), Link(3, 4, 0)]
    assert in_turns(actors, links, {2: 10, 3: 50}, Rule.SHORTEST) == order


@pytest.mark.parametrize("rule", Rule)
def test_no_turn_comes_before_what_it_reads(rule: Rule) -> None:
    """Senders come after all stages, and the status comes last."""
    draw = random.Random(0)
    for _ in range(count(60, deep=4000)):
        size = draw.randint(4, 20)
        sender, status = size - 2, size - 1
        actors = [Actor("", draw.randint(1, 90), draw.randint(0, 200)) for _ in range(sender)]
        actors += [Actor("sender", 9, shows=3), Actor("status", 1)]
        pairs = [sorted(draw.sample(range(sender), 2)) for _ in range(2 * size)]
        links = [Link(writer, reader, 1) for writer, reader in pairs]
        links += [Link(0, sender, 1), *(Link(k, status, 1) for k in range(1, sender))]
        alone = {k: draw.choice([2, 50, actors[k].cycles]) for k in range(2, sender) if draw.random() < 0.8}
        found = in_turns(actors, links, alone, rule)
        assert sorted(found) == [*range(size)] and found[-2:] == [sender, status]
        assert all(found.index(link.writer) < found.index(link.reader) for link in links)


@every_case([(40, Rule.SHORTEST), (300, Rule.FARTHEST)])
def test_without_a_rule_turns_are_taken_by_the_better_one(target: int, better: Rule) -> None:
    lent = lending(fold(example("iris.py:step").integer))
    assert lent is not None
    made = {rule: SEARCH.sizes(lent, target, rule=rule) for rule in Rule}
    assert min(made, key=lambda rule: made[rule].interval ** 2 * made[rule].dsp) is better
    assert SEARCH.sizes(lent, target).orders == made[better].orders
    assert made[Rule.SHORTEST].orders != made[Rule.FARTHEST].orders


def test_of_two_orders_of_turns_the_better_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which is better is known from the plan alone: without early reads the other order has fewer clocks. An order that
    takes more multipliers than there are is left out.
    """
    folded, budget = fold(example("iris.py:step").integer), 10
    lent = lending(folded)
    assert lent is not None
    way = Matching(lent)
    other, best = SEARCH._lent(way, budget, False)
    made = [plan(other), plan(best)]
    assert other.interval < best.interval and made[0].sizes.interval > made[1].sizes.interval
    assert SEARCH.choose_sizes(folded, None, budget, None).orders == best.orders != other.orders

    def dear(fold: Fold, target: int, **given: Any) -> Sizes:
        found = sizes(fold, target, **given)
        return replace(found, dsp=budget + 1) if given.get("rule") is Rule.SHORTEST else found

    monkeypatch.setattr(SEARCH, "sizes", dear)
    assert [found.orders for found in SEARCH._lent(way, budget, False)] == [other.orders]

"""The sizes of stages on shared lanes, corrected by the estimate of the whole design."""

from __future__ import annotations

from functools import cache

import pytest
from modal_designs import modal
from tiers import count

from circuitize.backends.verilog.devices.family import ECP5
from circuitize.backends.verilog.folded import model, refinement
from circuitize.backends.verilog.folded.estimate import estimate
from circuitize.backends.verilog.folded.folding import Fold, fold
from circuitize.backends.verilog.folded.plan import Plan, plan
from circuitize.backends.verilog.folded.pool import works
from circuitize.backends.verilog.folded.prices import price_of
from circuitize.backends.verilog.folded.search import choose_sizes
from circuitize.backends.verilog.folded.sizes import Sizes

LANES = 24
TRIED = count(8, deep=1000)
"""Plans, of which in the deep tier no more are made than refinement asks for."""


@cache
def folded() -> Fold:
    found, _ = modal("both")
    return fold(found.step, 0, found)


def cost(made: Sizes, price: float) -> float:
    """The clocks of a step and of a prediction, and those that the LUTs are worth."""
    planned = plan(made)
    return sum(model.interval(*one) for one in planned.sizes.programs) + price * estimate(planned, ECP5)["lut"]


def chosen(monkeypatch: pytest.MonkeyPatch, effort: int) -> Sizes:
    with monkeypatch.context() as patch:
        patch.setattr(refinement, "EFFORT", effort)
        return choose_sizes(folded(), LANES, None, None)


def test_a_refined_design_costs_less_and_keeps_to_its_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    products = sum(works(folded()).values())
    before, after = (chosen(monkeypatch, tried * products) for tried in (0, TRIED))
    assert before.pool is not None
    price = price_of(folded(), before.pool.size)
    assert cost(after, price) < cost(before, price)
    assert after.lanes <= LANES and before.choices != after.choices


def test_large_steps_are_planned_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Sizes] = []

    def counted(made: Sizes) -> Plan:
        tried.append(made)
        return plan(made)

    monkeypatch.setattr(refinement, "plan", counted)
    products = sum(works(folded()).values())
    for most in (0, 3):
        tried.clear()
        chosen(monkeypatch, most * products)
        assert len(tried) == 2 + most

"""Multipliers that units and lanes use in turns: steps equal the executor's to the bit and to the clock."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from every_case import every_case
from example_programs import example
from lent_programs import frames, initial, multiplying
from linted import warnings
from pooled_programs import mixed
from tiers import count

from circuitize.backends.verilog.design import Design
from circuitize.backends.verilog.devices.family import SEVEN
from circuitize.backends.verilog.folded import lending as loans
from circuitize.backends.verilog.folded.estimate import estimate
from circuitize.backends.verilog.folded.folding import Fold, fold
from circuitize.backends.verilog.folded.graph import Node, Operand, Stage
from circuitize.backends.verilog.folded.lending import Demand, Loan, away, grouped, lending, merged
from circuitize.backends.verilog.folded.matching import Matching
from circuitize.backends.verilog.folded.narrowing import narrowed
from circuitize.backends.verilog.folded.plan import plan
from circuitize.backends.verilog.folded.pool import works
from circuitize.backends.verilog.folded.size import fits, multiplied
from circuitize.backends.verilog.folded.sizes import Sizes
from circuitize.backends.verilog.signals import Signal
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.integers import Add, Multiply, Scale, Shift, Subtract
from circuitize.circuits.types import Fixed
from circuitize.sims.rtl import Simulation, compare, expected

SCHEDULE = import_module("circuitize.backends.verilog.folded.schedule")
SEARCH = import_module("circuitize.backends.verilog.folded.search")
BUDGET = 10
DEEP = pytest.mark.deep
ALONE, TOGETHER = loans.APART, -1 << 20
"""Clocks between stages of one group: those of designs, and so few that all stages are in one group."""
GUARDS = {
    "a stage comes beside another": (r"(m\d_ready = )\(turn == \S+\) & ~busy", r"\g<1>1'b1"),
    "a factor stays when its stage multiplies nothing": (r"<= \w+_away\d_idle \? ", "<= 1'b0 ? "),
}
"""By what goes wrong: what a guard looks like, and what stands there without it."""


@cache
def lent() -> Fold:
    found = lending(fold(multiplying()))
    assert found is not None
    return found


def sized(borrows: bool, fold: Fold | None = None) -> Sizes:
    """The last of the sizes within the budget, with or without stages that borrow the lanes' multipliers."""
    made: list[Sizes] = SEARCH._lent(Matching(fold or lent()), BUDGET, borrows)
    return made[-1]


@cache
def design(apart: int = ALONE, borrows: bool = False) -> Design:
    """A design whose stages use the same multipliers if they start at least so many clocks apart."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loans, "APART", apart)
        patch.setattr(SCHEDULE, "fold", lambda *_: lent())
        patch.setattr(SCHEDULE, "choose_sizes", lambda *_: sized(borrows))
        made: Design = SCHEDULE.schedule(multiplying(), initial())
    return made


@pytest.mark.parametrize(("apart", "borrows"), [(ALONE, False), (TOGETHER, False), (ALONE, True)])
def test_steps_equal_the_executors(apart: int, borrows: bool) -> None:
    """With stages that hardly meet in a group, with all stages in one group, which then wait for each other, and with
    stages that borrow multipliers of shared lanes; in `make test` the first of these have no pauses and back-pressure.
    """
    vectors, made = frames(count(3, deep=60), seed=0), design(apart, borrows)
    wanted = expected(multiplying(), vectors, initial())
    assert 0 < wanted.undefined.sum() < len(wanted.undefined)
    assert borrows == any("product0" in text for name, text in made.files.items() if name.startswith("folded_pool"))
    paces = range(1, count(1 + (apart == TOGETHER or borrows), deep=4))
    with Simulation(made) as simulation:
        found = simulation.run(vectors)
        for beats in (found, *(simulation.run(vectors, pace) for pace in paces)):
            assert compare(beats, wanted).first_difference is None
    assert made.report["dsp"] <= BUDGET
    clocks = made.report["latency_cycles"], made.report["interval_cycles"]
    assert (found.latency_cycles, found.interval_cycles) == clocks


def test_stages_that_hardly_meet_use_the_same_multipliers() -> None:
    """Those with most products first; a stage that starts too soon after another one uses others."""
    demands = {k: Demand(products, (18, 18), 100) for k, products in enumerate((4, 8, 2, 4))}
    starts = {0: 0, 1: 50, 2: 100 + loans.APART, 3: 1000}
    found = grouped(demands, starts, [0, 1, 2, 3])
    assert [(group.size, group.order) for group in found] == [(8, (1,)), (4, (0, 2, 3))]
    files = [sum("folded_multipliers" in name for name in design(apart).files) for apart in (ALONE, TOGETHER)]
    assert files[0] > files[1] == 1


@every_case([(0, [(8, (0, 1, 2, 3))]), (1, [(4, (0, 2, 3)), (8, (1,))]), (99, [(2, (2,)), (4, (0, 3)), (8, (1,))])])
def test_groups_are_joined_while_that_costs_less(wait: int, groups: list[tuple[int, tuple[int, ...]]]) -> None:
    """Here a multiplier costs 1, and each stage beside another one `wait`, or twice that beside stage 1."""
    demands = {k: Demand(products, (18, 18), 100) for k, products in enumerate((4, 8, 2, 4))}
    apart = [Loan(demands[k].products, (18, 18), (k,), {k: 100}) for k in demands if k != 3]
    apart[0] = Loan(4, (18, 18), (0, 3), {0: 100, 3: 100})

    def cost(loans: Sequence[Loan]) -> float:
        return sum(one.size + wait * (len(one.order) - 1) * (1 + (1 in one.order)) for one in loans)

    found = merged(apart, demands, [0, 1, 2, 3], cost)
    assert sorted((one.size, one.order) for one in found) == groups


@pytest.mark.parametrize("name", [*GUARDS][:1] + [pytest.param(name, marks=DEEP) for name in [*GUARDS][1:]])
@pytest.mark.parametrize("borrows", [False, True])
def test_a_guard_is_missed(name: str, borrows: bool) -> None:
    """At multipliers in groups, and at those of shared lanes."""
    pattern, without = GUARDS[name]
    whole = design(ALONE if borrows else TOGETHER, borrows)
    turns = "folded_pool.v" if borrows and "ready" in pattern else ""
    files = {file: re.sub(pattern, without, text) if turns in file else text for file, text in whole.files.items()}
    assert files != whole.files
    vectors = frames(4, seed=1)
    wanted = expected(multiplying(), vectors, initial())
    try:
        with Simulation(replace(whole, files=files)) as simulation:
            assert compare(simulation.run(vectors), wanted).mismatches
    except CircuitizeError as error:
        assert "the design hangs" in str(error), error


@pytest.mark.parametrize("borrows", [False, True])
def test_verilator_has_no_warning(borrows: bool, tmp_path: Path) -> None:
    assert warnings(design(ALONE, borrows), tmp_path) == ""


@pytest.mark.parametrize("borrows", [False, True])
def test_every_multiplier_of_a_loan_is_counted(borrows: bool) -> None:
    """And no unit has one of its own; lanes and units lend. Those that are borrowed are the lanes' own."""
    made = plan(SEARCH.sizes(lent(), 40, borrows=borrows))
    pool = made.sizes.pool
    assert pool is not None and bool(pool.borrowers) == borrows
    assert made.sizes.dsp == pool.size + sum(loan.size for loan in made.sizes.loans) == estimate(made, SEVEN)["dsp"]
    found = [away(lent(), number, 1) for number in range(len(lent().stages))]
    assert any(lanes for lanes, _ in found) and any(units for _, units in found)


def test_a_design_lends_only_if_this_saves_clocks_or_tables() -> None:
    """Programs without products outside their sums stay as they are, and budgets of lanes do so, too."""
    assert lending(fold(mixed())) is None
    folded = fold(multiplying())
    own, chosen = SEARCH._within(folded, "dsp", BUDGET, True), SEARCH.choose_sizes(folded, None, BUDGET, None)
    costs = [made.sizes.interval**2 * estimate(made)["lut"] for made in map(plan, (own, chosen))]
    assert costs[1] < costs[0] and chosen.dsp <= BUDGET and chosen.loans
    assert not SEARCH.choose_sizes(folded, 8, None, None).loans


def test_without_a_budget_lent_multipliers_are_worth_what_they_save() -> None:
    """Of several numbers of multipliers, that of the best design is kept; half of them are tried as often as that is
    better.
    """
    folded = fold(multiplying())
    own = SEARCH._within(folded, "lanes", SEARCH.LANES, True)
    costs = {}
    for eighths in (8, 6, 4, 2, 1):
        limit = own.dsp * eighths // 8
        for found in (one for borrows in (False, True) for one in SEARCH._lent(Matching(lent()), limit, borrows)):
            made = plan(found)
            costs[made.sizes.dsp] = made.sizes.interval**2 * estimate(made)["lut"] * made.sizes.dsp
    chosen = SEARCH.choose_sizes(folded, None, None, None)
    best, least = min(costs, key=lambda dsp: costs[dsp]), min(costs)
    assert len(costs) == 9 and chosen.dsp == best and least < best <= own.dsp // 4


def test_a_budget_is_met_by_multipliers_in_turns_alone() -> None:
    """One of fewer multipliers than all units have; the least that is named is met, and one less is refused."""
    folded = fold(multiplying())
    own = SEARCH._within(folded, "dsp", 1, True)
    with pytest.raises(CircuitizeError) as refused:
        SEARCH.choose_sizes(folded, None, 1, None)
    said = re.fullmatch(r"expected at least (\d+) dsp, found dsp_budget=1; raise it", str(refused.value))
    assert said is not None
    least = int(said[1])
    assert SEARCH.choose_sizes(folded, None, least, None).dsp == least < own.dsp
    with pytest.raises(CircuitizeError, match=f"expected at least {least} dsp"):
        SEARCH.choose_sizes(folded, None, least - 1, None)


@DEEP
@pytest.mark.parametrize(
    ("name", "budget", "most"),
    [
        ("cnn.py:step", None, 24),
        ("cnn.py:step", 84, 84),
        ("digits.py:adam", None, 42),
        ("digits.py:momentum", None, 42),
        ("digits_xent.py:adam", None, 46),
        ("digits_xent.py:momentum", None, 45),
        ("digits_xent.py:adam_sixteen", None, 84),
        ("iris.py:step", None, 10),
        ("jax_iris.py:step", None, 4),
        ("onnx_digits.py:step", None, 27),
        ("onnx_digits.py:step", 19, 19),
        ("quantized.py:step", None, 10),
        ("transformer.py:step", None, 72),
        ("transformer.py:step", 84, 84),
        ("transformer.py:spherical_step", None, 66),
        ("transformer.py:spherical_step", 84, 84),
    ],
)
def test_a_step_uses_its_multipliers(name: str, budget: int | None, most: int) -> None:
    """In at least 60 % of the clocks, also without a budget: for products that are added up, and for those of units."""
    made = plan(SEARCH.choose_sizes(fold(example(name).integer), None, budget, None)).sizes
    folded, products = made.fold, sum(works(made.fold).values())
    for number, stage in enumerate(folded.stages):
        lanes, units = away(folded, number, 1)
        products += stage.size * (stage.terms * len(lanes) + len(units))
    assert made.loans or (made.pool is not None and made.pool.borrowers)
    assert made.dsp <= most
    assert products >= 0.6 * made.dsp * made.interval


Interval = tuple[int, int]
WIDE: list[tuple[str, Interval, str, Interval, int] | tuple[str, Interval, int, None, int]] = [
    ("x", (-(1 << 18), (1 << 18) - 1), "y", ((1 << 17) - 500, (1 << 17) + 500), 1),
    ("x", (-(1 << 18), (1 << 18) - 1), "y", (-(1 << 18), (1 << 18) - 1), 1),
    ("x", (-(1 << 18), (1 << 18) - 1), "x", (-(1 << 18), (1 << 18) - 1), 1),
    ("x", (-(1 << 39), (1 << 39) - 1), "y", (-50000, 50000), 2),
    ("x", (-(1 << 23), (1 << 23) - 1), "x", (-(1 << 23), (1 << 23) - 1), 2),
    ("x", (-5, (1 << 23) - 1), "y", (-(1 << 26), (1 << 26) - 1), 2),
    ("x", (-(1 << 27), (1 << 27) - 1), "x", (-(1 << 27), (1 << 27) - 1), 4),
    ("x", (0, (1 << 36) - 1), "y", (-(1 << 24), 3), 3),
    ("x", (-(1 << 30), (1 << 30) - 1), 5000011, None, 2),
    ("x", (-(1 << 39), (1 << 39) - 1), 46341, None, 2),
    ("x", (-(1 << 39), (1 << 39) - 1), 65535, None, 0),
    ("x", (0, 1 << 30), 3, None, 0),
]


@every_case(WIDE)
def test_a_wide_product_is_written_with_narrow_ones(
    x: str, of_x: Interval, y: str | int, of_y: Interval | None, products: int
) -> None:
    """Exactly, within the intervals that it states, and with few products, each of which one multiplier takes."""
    kept = {x: of_x} | ({y: of_y} if of_y is not None and isinstance(y, str) else {})
    operands = [Operand(k, 0, np.arange(1), Fixed((1,), 0, *ends), *ends) for k, ends in kept.items()]
    operation = Scale(y, 0) if isinstance(y, int) else Multiply()
    ends = [a * b for a in of_x for b in (of_y or (y, y)) if isinstance(b, int)]
    whole = Node("w", operation, (x,) if isinstance(y, int) else (x, y), min(ends), max(ends))
    stage = narrowed(Stage(1, Fixed((1,), 0, min(ends), max(ends)), whole.provenance, operands=operands, nodes=[whole]))
    draw = np.random.default_rng(0)
    values = {k: [*v, *draw.integers(*v, 50, endpoint=True).tolist()] for k, v in kept.items()}
    for sample in zip(*values.values(), strict=True):
        known = dict(zip(values, map(int, sample), strict=True))
        factors = known[x], y if isinstance(y, int) else known[y]
        for node in stage.nodes:
            known[node.name] = value(node, [known[name] for name in node.sources])
            assert node.low <= known[node.name] <= node.high, node
        assert known["w"] == factors[0] * factors[1]
    found = 0
    for node in stage.nodes:
        own = [Signal("", *stage.interval(name)) for name in node.sources]
        own += [Signal("", node.operation.factor, node.operation.factor)] if isinstance(node.operation, Scale) else []
        found += multiplied(node.operation, own)
        assert not multiplied(node.operation, own) or fits(own), node
    assert found == products


def value(node: Node, sources: list[int]) -> int:
    """What a node makes of numbers."""
    operation = node.operation
    if isinstance(operation, Scale):
        return node.low if operation.factor == 0 else operation.factor * sources[0]
    if isinstance(operation, Shift):
        return sources[0] >> operation.bits
    x, y = sources
    if isinstance(operation, Multiply):
        return x * y
    assert isinstance(operation, Add | Subtract)
    return x + y if isinstance(operation, Add) else x - y

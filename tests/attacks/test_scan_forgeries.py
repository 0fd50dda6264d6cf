"""Random steps in one proof: what their plans assert holds of the steps in turn, and of nothing else.

Plans are tried as predicates, by `scan_programs.Bench`, and a few of them as proofs, by both verifiers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scan_programs import (
    GROUPS,
    ROLES,
    Bench,
    Forgery,
    drawn_step,
    forged_trace,
    given_to,
    honest_inputs,
    reading_a_dataset,
)
from tensor_proofs import entering, refusals
from tiers import TIER, count

from circuitize.backends.tensor import drafting
from circuitize.backends.tensor.dataset import ROWS, Dataset
from circuitize.backends.tensor.lowering import RULES
from circuitize.circuits.integers import Check
from circuitize.circuits.scan import Scan, Told, scan
from circuitize.provers.tensor.flow import followed
from circuitize.provers.tensor.plan import Plan, plan
from circuitize.provers.tensor.prover import Proved, prove_values

Values = Sequence[NDArray[np.int64]]

SEEDS, PROVED = range(count(45, deep=90)), range(12)


@dataclass(frozen=True)
class Tried:
    """A random step, as often as its seed says, its plan, and values of all that it is given."""

    scan: Scan
    plan: Plan
    given: dict[str, Any]
    random: np.random.Generator

    @staticmethod
    def of(seed: int) -> Tried:
        random = np.random.default_rng([seed, 1])
        step = drawn_step(seed)
        made = scan(step, int(random.integers(1, 6)), list(Told)[seed % 4])
        held = {port.name for port in step.inputs}
        assumed = [group for group, name in zip(GROUPS, ROLES, strict=True) if name in held]
        planned = plan(made.program, [None, 4, 6][seed % 3], assumed, scanned=made)
        return Tried(made, planned, given_to(made, random), random)

    @property
    def honest(self) -> Values | None:
        inputs = honest_inputs(self.scan, self.given)
        return None if inputs is None else self.plan.values(self.plan.trace(inputs))

    def unchecked(self, forgery: Forgery | None = None) -> Values | None:
        trace = forged_trace(self.scan, self.plan, self.given, forgery)
        return None if trace is None else self.plan.values(trace)

    def forgeries(self, count: int) -> Iterator[Forgery]:
        targets = [row[2][0] for row in self.plan.arrow.rows]
        for _ in range(count if targets else 0):
            wire, place = int(self.random.choice(targets)), int(self.random.integers(1000))
            yield Forgery(wire, place, int(self.random.choice([-1, 1, 2, -16, 16, 1 << 20])))

    def altered(self, honest: Values, base: int) -> Values:
        """One element of one column is another number."""
        other = np.array(honest[base])
        other.reshape(-1)[int(self.random.integers(other.size))] += int(self.random.choice([-16, -1, 1, 2, 16]))
        return [*honest[:base], other, *honest[base + 1 :]]

    def proved(self, values: Values) -> Proved:
        trace = forged_trace(self.scan, self.plan, self.given, None)
        assert trace is not None
        return prove_values(self.scan.program, self.plan, trace, values)

    def refusal(self, values: Values) -> str | None:
        found = self.proved(values)
        trusted = entering(found.statement)
        return refusals(self.scan.program, found.statement, found.proof, self.plan, trusted=trusted)[0]


def test_plans_hold_of_steps_in_turn_alone() -> None:
    """Where a step has no value nothing holds; and nowhere does another column, or a wrong operation of one step."""
    seen = {"defined": 0, "undefined": 0, "altered": 0, "forged": 0}
    for seed in SEEDS:
        tried = Tried.of(seed)
        bench, honest = Bench(tried.plan), tried.honest
        if honest is None:
            unchecked = tried.unchecked()
            assert unchecked is None or bench.fault(unchecked), seed
            seen["undefined"] += unchecked is not None
            continue
        assert bench.fault(honest) is None, seed
        seen["defined"] += 1
        for base in bench.own:
            assert bench.fault(tried.altered(honest, base)), (seed, tried.plan.bases[base])
            seen["altered"] += 1
        for forgery in tried.forgeries(6):
            values = tried.unchecked(forgery)
            # What only the Check on what is handed on would see is in no column.
            if values is not None and any(not np.array_equal(values[i], honest[i]) for i in bench.columns):
                assert bench.fault(values), (seed, forgery)
                seen["forged"] += 1
    least = {"defined": 60, "undefined": 2, "altered": 200, "forged": 100}
    assert all(number > least[kind] * len(SEEDS) / 90 for kind, number in seen.items()), seen


def test_random_steps_are_proved_and_other_columns_refused() -> None:
    proved = 0
    for seed in PROVED:
        tried = Tried.of(seed)
        honest, bench = tried.honest, Bench(tried.plan)
        if honest is not None:
            assert tried.refusal(honest) is None, seed
            for base in tried.random.choice(bench.own, 2):
                assert tried.refusal(tried.altered(honest, int(base))), (seed, tried.plan.bases[base])
            proved += 1
    assert proved > 6


def test_without_ranges_of_checks_steps_have_values_that_they_have_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The defence removed: E has no range check, so that Checks of what leaves a step are all that there is."""
    rules: dict[Any, Any] = RULES
    monkeypatch.setitem(rules, Check, lambda draft, operation, site, forms: forms[0])
    monkeypatch.setattr(drafting, "_fused", lambda arrow: {})
    accepted = 0
    for seed in SEEDS:
        tried = Tried.of(seed)
        unchecked = tried.unchecked()
        if tried.honest is None and unchecked is not None:
            accepted += Bench(tried.plan).fault(unchecked) is None
        if accepted and TIER != "deep":
            break
    assert accepted


def test_without_the_equation_of_a_column_it_is_any(monkeypatch: pytest.MonkeyPatch) -> None:
    """The defence removed: what leaves a step has a column before there is a rule for it, which must fill it."""

    def unbound(draft: Any, form: Any, site: Any) -> Any:
        return draft.result(site.target_wire, form.shape, site.value, f"{site.name} in one")

    monkeypatch.setattr(drafting, "_in_one", unbound)
    accepted = 0
    for seed in SEEDS:
        tried = Tried.of(seed)
        honest, bench = tried.honest, Bench(tried.plan)
        if honest is None:
            continue
        for forgery in tried.forgeries(6):
            values = tried.unchecked(forgery)
            if values is not None and any(not np.array_equal(values[i], honest[i]) for i in bench.columns):
                accepted += bench.fault(values) is None
        if accepted and TIER != "deep":
            break
    assert accepted


@pytest.mark.parametrize("openings", [None, 4])
def test_rows_of_two_axes_with_weights_of_their_own(openings: int | None) -> None:
    """Rows that are read along time and batch, by weights that are no product; and other rows refused."""
    count, size = 3, 5
    made = scan(reading_a_dataset(), count, Told.ALL)
    dataset = Dataset(size, {"x": ("x", "batch")}, axes=2)
    planned = plan(*(made.program, 4, ("parameters", "data"), dataset), openings=openings, scanned=made)
    assert any(products > 1 for products in followed(planned).products)
    random = np.random.default_rng(2)
    whole, rows = random.integers(-8, 8, (size, 3, 2)), random.integers(0, size, (count, 2))
    inputs = made.inputs({"w": random.integers(-8, -3, (3, 2)), "x": whole[rows]})
    trace = planned.trace(inputs)
    values = planned.values(trace, {"batch": rows})
    values[planned.tensors["x"]] = np.ascontiguousarray(whole)
    found = prove_values(made.program, planned, trace, values)
    trusted = entering(found.statement)

    def said(other: NDArray[Any]) -> str | None:
        statement = replace(found.statement, publics={**found.statement.publics, (ROWS, "batch"): other})
        return refusals(made.program, statement, found.proof, planned, trusted=trusted)[0]

    assert said(rows) is None
    swapped, moved = rows[[1, 0, 2]], (rows + np.array([[0, 0], [0, 1], [0, 0]])) % size
    for other in (swapped, rows[:, ::-1], moved):
        assert not np.array_equal(other, rows)
        assert said(np.ascontiguousarray(other)), other
    padded = np.concatenate([rows, rows[:1]])
    for odd in (rows.T, rows.reshape(-1), padded, rows[:2], rows.astype(np.int32), rows + size, rows - size):
        assert said(np.ascontiguousarray(odd)), odd.shape

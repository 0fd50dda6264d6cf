"""Every integer operation in folded hardware: values at the ends of intervals, and frames where it has no value."""

from __future__ import annotations

import numpy as np
import pytest
from integers_cases import by_operation, cases, few
from operations.integer import Case, draw
from tiers import count

from circuitize.backends.verilog.folded import schedule
from circuitize.circuits.builder import generator
from circuitize.circuits.hypergraph import tensor
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.sims.rtl import check_design

PARTIAL = {"integer.check", "integer.gather", "integer.scatter_add"}
SMALL = 600
"""Larger cases than this many products would take long to simulate, and show no more."""


def program(*chosen: Case) -> IntegerProgram:
    """The cases side by side: input xN is the N-th source, output yN the N-th case's target."""
    arrow = tensor(*(generator(case.operation, *case.sources) for case in chosen))
    ports = [
        tuple(Port(f"{side}{k}", Visibility.PUBLIC, type) for k, type in enumerate(types) if isinstance(type, Fixed))
        for side, types in (("x", arrow.source), ("y", arrow.target))
    ]
    return IntegerProgram(arrow, ports[0], ports[1])


def size(case: Case) -> int:
    return max(source.size for source in case.sources)


TOTAL = [c for c in few() if c.sources and c.operation.name not in PARTIAL and size(c) <= SMALL]
NAMES = sorted({c.operation.name for c in TOTAL})


@pytest.mark.parametrize("share", range(3))
def test_total_operations_agree(share: int) -> None:
    chosen = [c for c in TOTAL if NAMES.index(c.operation.name) % 3 == share]
    random = np.random.default_rng(share)
    made = program(*chosen)
    sources = [source for case in chosen for source in case.sources]
    vectors = {f"x{k}": np.stack([draw(s, random) for _ in range(count(2, deep=120))]) for k, s in enumerate(sources)}
    design = schedule(made, interval_budget=max(map(size, chosen)))
    found = check_design(design, made, vectors, backpressure=None)
    assert found.mismatches == 0, found.first_difference


UNDEFINED = [c for c in cases() if c.operation.name in PARTIAL]
ENDS = {id(pick(of, key=size)) for of in by_operation(UNDEFINED).values() for pick in (max, min)}
"""The largest and the least case of each operation; the others are in the deep tier."""


@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=() if id(c) in ENDS else pytest.mark.deep) for c in UNDEFINED], ids=str
)
def test_partial_operations_fail_where_they_have_no_value(case: Case) -> None:
    random, made = np.random.default_rng(0), program(case)
    vectors = {
        f"x{k}": np.stack([draw(s, random) for _ in range(count(40, deep=400))]) for k, s in enumerate(case.sources)
    }
    found = check_design(schedule(made, interval_budget=40), made, vectors)
    assert found.mismatches == 0, found.first_difference

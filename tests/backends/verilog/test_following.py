"""Stages that take elements in the order in which the stage before them writes them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from every_case import every_case
from lent_programs import multiplying

from circuitize.backends.verilog.folded import turns
from circuitize.backends.verilog.folded.budget import sizes
from circuitize.backends.verilog.folded.early import Clocks
from circuitize.backends.verilog.folded.folding import fold
from circuitize.backends.verilog.folded.following import followed, leaders_of
from circuitize.backends.verilog.folded.graph import Operand, Stage
from circuitize.backends.verilog.folded.lending import lending
from circuitize.backends.verilog.folded.plan import plan
from circuitize.backends.verilog.folded.pool import WAITS
from circuitize.backends.verilog.folded.sharing import _keys
from circuitize.backends.verilog.folded.terms import At, Terms
from circuitize.backends.verilog.folded.tiling import Choice, tile
from circuitize.circuits.operation import Provenance
from circuitize.circuits.types import Fixed

ROWS, COLUMNS, TERMS = 6, 4, 5
FORMAT = Fixed((ROWS, COLUMNS), 0, -9, 9)
SIZE = ROWS * COLUMNS


def operand(wire: int, at: At) -> Operand:
    return Operand(f"x{wire}", wire, at, FORMAT, -9, 9)


def stage(wire: int, *operands: Operand, reduction: str = "") -> Stage:
    return Stage(wire, FORMAT, Provenance(), reduction=reduction, operands=[*operands])


EACH = np.arange(SIZE)


@every_case(
    [
        ("an element of the last writer for each", [operand(1, EACH), operand(2, EACH)], "", 1),
        ("an element of an input for each", [operand(8, EACH)], "", None),
        ("another element", [operand(2, EACH[::-1])], "", None),
        ("the last writer's first element for all", [operand(1, EACH), operand(2, 0 * EACH)], "", None),
        ("another element as well", [operand(2, EACH), operand(2, EACH[::-1])], "", None),
        ("terms of a sum", [operand(2, Terms.of(EACH[:, None]))], "sum", None),
        ("an element beside a sum", [operand(2, EACH)], "sum", None),
        ("an element of another shape", [replace(operand(2, EACH), format=Fixed((SIZE,), 0, -9, 9))], "", None),
    ]
)
def test_whom_a_stage_follows(name: str, operands: list[Operand], reduction: str, leader: int | None) -> None:
    stages = [stage(1), stage(2), stage(3, *operands, reduction=reduction)]
    assert leaders_of(stages) == ({} if leader is None else {2: leader}), name


@every_case([(0, 3, 1), (0, 6, 2), (1, 4, 4), (1, 2, 1)])
def test_the_order_of_a_stage_is_that_of_the_one_before(axis: int, lanes: int, units: int) -> None:
    """And it takes no more clocks, with few units: lanes along columns or rows, whose results one unit writes, or
    several.
    """
    passes = SIZE // lanes
    cycles = passes * max(TERMS, lanes // units)
    before = Choice(axis, SIZE // (ROWS, COLUMNS)[axis], 1, lanes, lanes, passes, 1, units, cycles)
    sums = replace(stage(1, reduction="sum"), terms=TERMS)
    own = followed(stage(2, operand(1, EACH)), before)
    assert own is not None and own.cycles <= cycles and lanes % own.units == 0
    assert all(SIZE // fewer > cycles for fewer in range(1, own.units) if lanes % fewer == 0)
    written, read = tile(sums, before).written(), tile(stage(2), own).written()
    np.testing.assert_array_equal(written.reshape(-1), read.reshape(-1))


def test_a_stage_with_lanes_without_elements_is_not_followed() -> None:
    ragged = Choice(1, ROWS, 1, 3, 3, 2 * ROWS, 1, 1, 2 * ROWS * TERMS)
    assert followed(stage(2), ragged) is None


def test_a_follower_starts_while_the_stage_before_writes() -> None:
    """With its sizes, and reads nothing before it is written."""
    folded = lending(fold(multiplying()))
    assert folded is not None and folded.leaders
    made = plan(sizes(folded, 40))
    first = len(folded.entries)
    early = 0
    for follower, leader in folded.leaders.items():
        choices = made.sizes.choices
        assert choices[follower] == followed(folded.stages[follower], choices[leader])
        (link,) = [one for one in made.sizes.unbanked if (one.writer, one.reader) == (first + leader, first + follower)]
        if link.ahead is None:
            continue
        early += 1
        writes = Clocks(made.sizes, leader, made.tilings[leader]).writes
        reads = Clocks(made.sizes, follower, made.tilings[follower]).results
        order = made.written[folded.stages[leader].wire]
        when = np.zeros(order.max() + 1, np.int64)
        when[order.reshape(-1)] = np.repeat(writes, order.shape[1])
        taken = made.tilings[follower].written()
        assert made.sizes.choices[follower].axis == made.sizes.choices[leader].axis
        assert (link.ahead + WAITS + reads[:, None] > when[taken]).all()
        assert link.ahead < made.sizes.actors[first + leader].writes
    assert early


def test_a_follower_shares_no_memory() -> None:
    """In which it would wait for the reader before it."""
    folded = lending(fold(multiplying()))
    assert folded is not None
    made = sizes(folded, 40)
    shared = {number for key in _keys(made).values() for number in key}
    own = {k for k, reader in enumerate(made.readers) if reader.actor - len(folded.entries) in folded.leaders}
    assert own and shared and not own & shared


def test_joined_groups_of_multipliers_hold_no_follower_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are chosen by the clocks in which followers will start."""
    folded = lending(fold(multiplying()))
    assert folded is not None
    joined = sizes(folded, 40)
    monkeypatch.setattr(turns, "merged", lambda loans, *_: tuple(loans))
    apart = sizes(folded, 40)
    assert len(joined.loans) < len(apart.loans) and joined.dsp < apart.dsp
    assert plan(joined).sizes.interval == plan(apart).sizes.interval

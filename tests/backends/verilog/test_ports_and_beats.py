"""Memories that are not needed: columns that never read at once share one, and new state is read where it is kept."""

from __future__ import annotations

import math
from importlib import import_module

import numpy as np
import pytest
from every_case import every_case
from numpy.typing import NDArray
from shared_memories import frames, step

from circuitize.backends.verilog.folded import schedule
from circuitize.backends.verilog.folded.beats import with_beat
from circuitize.backends.verilog.folded.blocks import BESIDE, rows
from circuitize.backends.verilog.folded.folding import fold
from circuitize.backends.verilog.folded.layout import layout, spread
from circuitize.backends.verilog.folded.plan import narrowest, plan
from circuitize.backends.verilog.folded.pool import WAITS
from circuitize.backends.verilog.folded.reads import NOTHING, Reads
from circuitize.backends.verilog.folded.search import choose_sizes
from circuitize.sims.rtl import Simulation, compare, expected

PLAN = import_module("circuitize.backends.verilog.folded.plan")
SIZE = 256
EVEN = np.arange(SIZE) % 2 == 0
EACH = np.arange(SIZE)
WRITTEN = EACH[:, None]


@every_case(
    [
        ("each reads 0 where the other reads", np.where(EVEN, EACH, -1), np.where(EVEN, -1, EACH), 1),
        ("one reads some of what the other reads", EACH, np.where(EVEN, EACH, -1), 1),
        ("both read at once", np.where(EACH < 9, EACH, -1), EACH[::-1], 2),
        ("what one reads does not matter there", np.where(EVEN, EACH, NOTHING), np.where(EVEN, -1, EACH), 1),
        ("neither ever reads 0", np.where(EVEN, EACH, NOTHING), np.where(EVEN, NOTHING, EACH), 2),
    ]
)
def test_columns_that_share_a_memory(
    name: str, one: NDArray[np.int64], other: NDArray[np.int64], memories: int
) -> None:
    table = np.stack([one, other], axis=1)
    made = layout(Reads.of(table, table > NOTHING), WRITTEN, SIZE)
    assert sum(len(copy.stored) for copy in made.copies) == memories, name
    for column, own in zip(made.columns, (one, other), strict=True):
        masks = np.ones(SIZE, np.int64) if column.mask is None else column.mask.values
        np.testing.assert_array_equal(masks[own > NOTHING], (own >= 0)[own > NOTHING])
        read, (writing, *_) = made.copies[column.copy].reads[0].values, made.copies[column.copy].writings
        np.testing.assert_array_equal(writing.word.values[own[own >= 0]], read[own >= 0])


def test_copies_count_with_their_tables() -> None:
    draw = np.random.default_rng(0)
    table = np.stack([EACH, draw.permutation(SIZE)], axis=1)
    assert spread(Reads.of(WRITTEN, WRITTEN >= 0), SIZE, 18) == 0
    assert spread(Reads.of(table, table >= 0), SIZE, 18) >= SIZE * 18 + SIZE * 8


def test_no_more_memories_are_side_by_side_than_verilator_unrolls() -> None:
    """A hundred memories that are read at one address."""
    elements = np.arange(100 * SIZE).reshape(SIZE, 100)
    made = layout(Reads.of(elements, elements >= 0), elements, elements.size)
    found = rows([made], 0, 18, 1, True)
    assert [len(row.places) for row in found] == [BESIDE, 100 - BESIDE]


def test_new_state_leaves_from_the_memory_of_the_state() -> None:
    """In beats of one element in place of two, which lie in one memory: fewer bits, and the frames of the executor."""
    program, initial = step()
    chosen = choose_sizes(fold(program), 8, None, None)
    with pytest.MonkeyPatch.context() as patch:
        wide = plan(chosen)
        patch.setattr(PLAN, "BLOCK", 0)
        made, design = plan(chosen), schedule(program, initial, lanes=8)
    assert chosen.out_lanes == wide.sizes.out_lanes == [4, 1, 2, 1, 1]
    assert made.sizes.out_lanes == [4, 1, 1, 1, 1]
    assert len(made.memories) < len(wide.memories) and made.sizes.interval <= wide.sizes.interval
    (stream,) = [one for one in design.streams if one.output and one.port == "dense2.weight"]
    assert stream.lanes == 1
    vectors = frames(6, seed=0)
    wanted = expected(program, vectors, initial)
    with Simulation(design) as simulation:
        found = simulation.run(vectors)
        assert compare(found, wanted).first_difference is None
        assert compare(simulation.run(vectors, 1), wanted).first_difference is None
    assert found.interval_cycles == design.report["interval_cycles"] == made.sizes.interval
    assert found.latency_cycles == design.report["latency_cycles"]


def test_beats_of_several_states_narrow_unless_frames_take_longer() -> None:
    folded = fold(step()[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PLAN, "BLOCK", 0)
        wide = choose_sizes(folded, 8, None, None)
        wide = with_beat(with_beat(wide, 0, 16), 2, 16)
        assert plan(wide).sizes.out_lanes == [8, 1, 1, 1, 1]
        quick = choose_sizes(folded, 16, None, None)
        assert plan(quick).sizes.out_lanes == quick.out_lanes
        assert plan(with_beat(quick, 2, 1)).sizes.interval > plan(quick).sizes.interval


def test_a_beat_changes_the_clocks_of_its_output_alone() -> None:
    chosen = choose_sizes(fold(step()[0]), 8, None, None)
    made = with_beat(chosen, 0, 2)
    size, first = chosen.fold.exits[0].at.size, len(chosen.fold.entries) + len(chosen.fold.stages)
    assert made.out_lanes == [2, *chosen.out_lanes[1:]] and made.actors[first].cycles == math.ceil(size / 2)
    assert made.actors[first].shows == math.ceil(size / 2) + 1 + WAITS
    changed = [k for k, (one, other) in enumerate(zip(chosen.unbanked, made.unbanked, strict=True)) if one != other]
    assert [made.unbanked[k].reader for k in changed] == [first]
    assert [made.actors[k] == actor for k, actor in enumerate(chosen.actors)].count(False) == 1
    assert narrowest(chosen).out_lanes == chosen.out_lanes

"""Memories that several stages read in turns: the same bits in fewer memories, and no turn is taken out of order."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from folded_programs import network
from linted import warnings
from rtl_resets import check_resets
from shared_memories import frames, step
from tiers import count

from circuitize.backends.verilog.bound import Bound, integrated
from circuitize.backends.verilog.design import Design
from circuitize.backends.verilog.folded import schedule
from circuitize.backends.verilog.folded.folding import fold
from circuitize.backends.verilog.folded.plan import Plan, plan
from circuitize.backends.verilog.folded.search import choose_sizes
from circuitize.backends.verilog.shell import Interface
from circuitize.sims.rtl import Simulation, compare, expected

LANES = 4
FRAMES, PRESSED = count(3, deep=60), count(1, deep=60)
"""Frames without gaps, and with gaps and stalls."""


@cache
def design() -> Design:
    program, initial = step()
    return schedule(program, initial, lanes=LANES)


@cache
def laid_out() -> Plan:
    return plan(choose_sizes(fold(step()[0]), LANES, None, None))


def test_weights_and_activations_are_kept_once() -> None:
    made = laid_out()
    readers = made.sizes.readers
    shared = [memory for memory in made.memories if len(memory.clients) > 1]
    assert any(memory.shows for memory in shared)
    assert any(readers[memory.readers[0]].wire not in made.sizes.fold.held for memory in shared)
    assert sorted(number for memory in made.memories for number in memory.readers) == list(range(len(readers)))
    for memory in shared:
        actors = [readers[client.readers[0]].actor for client in memory.clients]
        assert len({*actors}) == len(actors)


def test_steps_equal_the_executors() -> None:
    """Of a design in which outputs choose the words that they send in two clocks."""
    assert any("r_holds" in text for text in design().files.values())
    program, initial = step()
    vectors = frames(FRAMES, seed=0)
    wanted = expected(program, vectors, initial)
    assert 0 < wanted.undefined.sum() < len(wanted.undefined)
    with Simulation(design()) as simulation:
        found = simulation.run(vectors)
        assert compare(found, wanted).first_difference is None
        few = {name: values[:PRESSED] for name, values in vectors.items()}
        assert compare(simulation.run(few, 1), expected(program, few, initial)).first_difference is None
    report = design().report
    assert (found.latency_cycles, found.interval_cycles) == (report["latency_cycles"], report["interval_cycles"])


def test_the_report_counts_the_memories_that_are_emitted() -> None:
    """Block memories of the text, by the parameters of their instances, against `bram_bits`."""
    bits = 0
    for text in design().files.values():
        for line in text.split("\n"):
            if line.lstrip().startswith(("folded_row #", "folded_state_row #")):
                names = ("WIDTH", "COUNT", "WORDS")
                bits += math.prod(int(line.split(f".{name}(")[1].split(")")[0]) for name in names)
    tables = [text for text in design().files.values() if 'rom_style = "block"' in text]
    assert not tables and bits == design().report["bram_bits"] > 0


@pytest.mark.deep
def test_a_turn_out_of_order_is_noticed() -> None:
    """A stage that reads before its turn, and before a frame is there; `test_turns.py` leaves out every guard.

    Readers that share lanes wait for these in the same order, so that most turns hold without the memory's own guard.
    """
    program, initial = step()
    vectors = frames(4, seed=0)
    guard = "(filled != 1'd0) & (turn == 2'd0) & ~busy"
    broken = {name: text.replace(guard, "1'b1") for name, text in design().files.items()}
    assert broken != design().files
    with Simulation(replace(design(), files=broken)) as simulation:
        assert compare(simulation.run(vectors), expected(program, vectors, initial)).mismatches


@pytest.mark.deep
def test_a_reset_leaves_the_state_last_kept() -> None:
    program, initial = step()
    resets = 60
    found = check_resets(design(), program, frames(3 * resets + 8, seed=2), initial, resets, backpressure=1)
    assert (found.resets, found.first_difference) == (resets, None)


@pytest.mark.deep
def test_outputs_that_share_a_bus_do_not_wait_for_each_other() -> None:
    """On one bus outputs leave one after another: no sender holds a memory that an earlier output needs."""
    program, initial = step()
    vectors = frames(4, seed=3)
    made = integrated(Bound(program, initial), "folded", {"lanes": LANES}, Interface("learns", bus_bits=32))
    with Simulation(made) as simulation:
        assert compare(simulation.run(vectors, 1), expected(program, vectors, initial)).first_difference is None


def test_verilator_has_no_warning(tmp_path: Path) -> None:
    assert warnings(design(), tmp_path) == ""


def test_an_interval_that_is_asked_for_is_kept() -> None:
    program, initial = step()
    loose = design().report["interval_cycles"]
    for budget in (loose, loose // 2):
        assert schedule(program, initial, interval_budget=budget).report["interval_cycles"] <= budget


def test_without_state_nothing_is_shared() -> None:
    """Frames then overlap, and each reader has a memory of its own."""
    made = plan(choose_sizes(fold(network()), None, None, 72))
    assert [memory.readers for memory in made.memories] == [(k,) for k in range(len(made.sizes.readers))]

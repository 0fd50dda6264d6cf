"""Lanes that stages use in turns: steps equal the executor's to the bit and to the clock, and no guard is idle."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import shared_memories
import turn_bench
from folded_programs import network
from linted import warnings
from pooled_programs import frames, initial, mixed, modal
from rtl_resets import check_resets
from tiers import count
from unrefined_plans import unrefined

from circuitize.backends.verilog.bound import Bound, integrated
from circuitize.backends.verilog.design import Design
from circuitize.backends.verilog.folded import blocks, schedule
from circuitize.backends.verilog.folded import plan as planning
from circuitize.backends.verilog.folded.folding import fold
from circuitize.backends.verilog.folded.plan import Plan, plan
from circuitize.backends.verilog.folded.pool import depth
from circuitize.backends.verilog.folded.search import choose_sizes
from circuitize.backends.verilog.modes import Modal
from circuitize.backends.verilog.shell import Interface
from circuitize.circuits.errors import CircuitizeError
from circuitize.sims.rtl import Simulation, compare, expected
from circuitize.sims.rtl.session import session, session_frames

FRAMES = count(3, deep=60)
LANES = 6
"""With so many a stage gives up the lanes clocks after its last read, and one is read while it is written."""
FEW, ODD, CHOSEN = 3, 16, 4
"""With few, memories stand side by side in blocks; with an odd number the last terms of a pass leave lanes idle; with
CHOSEN a stage chooses a word in two clocks, and in a design with modes an output does so on the memory of a stage.
"""
FACTOR, OUTPUT = 5, 4
"""On so many lanes the step of a 4-64-2 network chooses factors in two clocks, or the words of an output."""
DEEP = pytest.mark.deep

GUARDS = {
    "a stage does not wait for its turn": (LANES, r"_ready = \(turn == \S+\) & ~busy", "_ready = ~busy"),
    "lanes are given up before sums have left": (LANES, "pool_done = done", "pool_done = reads & pass_end"),
    "a factor stays when its stage adds nothing": (LANES, r"<= idle \? ", "<= 1'b0 ? "),
    "a sum does not begin anew": (LANES, r"if \(clear\) total <= \S+ else ", ""),
    "sums are held too early": (LANES, r"held <= full \?", "held <= clear ?"),
    "sums do not move on": (LANES, r"\? sum : after", "? sum : held"),
    "a row is written whole": (FEW, r"if \(write\[k\]\)", "if (|write)"),
    "a term too many is added": (ODD, "added & ~closing", "added"),
    "a stage starts while it runs": (LANES, "went & ~running", "went"),
    "a status is shown twice": (LANES, "~rst & ~take & ", "~rst & "),
}
"""By what goes wrong: on so many lanes, what a guard looks like, and what stands there without it."""
CHOICES = {
    "what an output chose goes on while it waits": (OUTPUT, r"if \(~r\d?_holds\) ", ""),
    "a word is sent before it is chosen": (OUTPUT, "shown <= chosen;", "shown <= read;"),
    "a factor is never cleared": (FACTOR, "(idle_late_.) <= idle;", r"\1 <= 1'b0;"),
}
"""The same of the step that `chosen` returns."""
QUICK = {"a stage does not wait for its turn"}
"""Designs that hang take longer to simulate."""
TURNS = {
    "a user does not wait for its turn": ("(turn == 2'd1) & ~busy", "~busy"),
    "a user comes beside another": ("(turn == 2'd1) & ~busy", "(turn == 2'd1)"),
    "nobody is ever busy": ("busy <= starts | (busy & ~ends)", "busy <= 1'b0"),
}
MODES = {
    "a user does not wait for its turn": ("~busy & ((turn == 3'd3))", "~busy"),
    "a user comes beside another": ("~busy & ((turn == 3'd3))", "(turn == 3'd3)"),
    "the first one of another mode comes": (" & (in0)", ""),
    "a frame goes on in the order of another mode": ("(in0 & (turn == 3'd2))", "(turn == 3'd2)"),
    "the turn stays after a frame": ("(ends) turn", "(ends & busy & starts) turn"),
}
"""By what goes wrong: a guard of turns, and what stands there without it."""


@cache
def design(lanes: int = LANES) -> Design:
    return schedule(mixed(), initial(), lanes=lanes)


@cache
def chosen(lanes: int) -> Design:
    """The step of a 4-64-2 network."""
    return schedule(*shared_memories.step(), lanes=lanes)


@cache
def laid_out(lanes: int = LANES) -> Plan:
    return plan(choose_sizes(fold(mixed()), lanes, None, None))


def simulated(made: Design, *paces: int | None) -> bool:
    """Whether the frames of a design are right, at each of some paces, and all come."""
    vectors = frames(count(3, deep=8), seed=1)
    wanted = expected(mixed(), vectors, initial())
    try:
        with Simulation(made) as simulation:
            return not any(compare(simulation.run(vectors, pace), wanted).mismatches for pace in paces)
    except CircuitizeError as error:
        assert "the design hangs" in str(error), error
        return False


@pytest.mark.parametrize(
    "lanes", [LANES, CHOSEN, pytest.param(ODD, marks=DEEP), *(pytest.param(n, marks=DEEP) for n in (FEW, 40))]
)
def test_steps_equal_the_executors(lanes: int) -> None:
    """With pauses and back-pressure, too, though in `make test` only on LANES lanes."""
    vectors = frames(FRAMES, seed=0)
    wanted = expected(mixed(), vectors, initial())
    assert 0 < wanted.undefined.sum() < len(wanted.undefined)
    paces = range(1, count(1 + (lanes == LANES), deep=3))
    with Simulation(design(lanes)) as simulation:
        found = simulation.run(vectors)
        for beats in (found, *(simulation.run(vectors, pace) for pace in paces)):
            assert compare(beats, wanted).first_difference is None
    report = design(lanes).report
    assert (found.latency_cycles, found.interval_cycles) == (report["latency_cycles"], report["interval_cycles"])


def test_the_design_uses_its_lanes_in_every_way() -> None:
    made = laid_out()
    pool, of = made.sizes.pool, made.sizes.fold
    assert pool is not None and pool.size == LANES == made.sizes.lanes
    assert max(pool.holds.values()) > 0
    assert max(depth(of, number, made.sizes.choices[number]) for number in of.members) > 0
    assert any(link.ahead is not None for link in made.sizes.links)
    assert any("folded_row #" in text or "folded_state_row #" in text for text in design(FEW).files.values())
    assert any("part0_number" in text for text in design(CHOSEN).files.values())
    modes = plan(choose_sizes(fold(mixed(), modal=Modal(mixed())), CHOSEN, None, None)).sizes
    assert modes.late & modes.shared.keys()
    assert any(laid_out(ODD).tilings[number].spare for number in of.members)


def test_each_stage_gets_the_lanes_once_a_frame_after_those_it_reads() -> None:
    """The order of turns is one of all stages, in which what a stage reads is written before."""
    sizes = laid_out().sizes
    order = sizes.orders[None]
    place = {actor: n for n, actor in enumerate(order)}
    assert sorted(order) == list(range(len(sizes.actors)))
    assert all(place[link.writer] < place[link.reader] for link in sizes.links if not link.state)
    assert sizes.pool is not None and sorted(sizes.pool.orders[None]) == sorted(sizes.fold.members)


def test_prediction_has_no_pool() -> None:
    """Without state frames overlap, and each stage keeps its lanes."""
    assert choose_sizes(fold(network()), None, None, 72).pool is None


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in QUICK else DEEP) for n in GUARDS])
def test_a_guard_is_missed(name: str) -> None:
    lanes, pattern, without = GUARDS[name]
    found = {file: re.sub(pattern, without, text) for file, text in design(lanes).files.items()}
    assert found != design(lanes).files
    made = replace(design(lanes), files=found)
    assert not simulated(made, None, 1)


@pytest.mark.parametrize("lanes", [FACTOR, pytest.param(OUTPUT, marks=DEEP)])
def test_words_chosen_in_two_clocks_equal_the_executors(lanes: int) -> None:
    """In `make test` the design on OUTPUT lanes is simulated by `test_sharing.py`."""
    program, start = shared_memories.step()
    vectors = shared_memories.frames(count(2, deep=8), seed=1)
    wanted = expected(program, vectors, start)
    made, report = chosen(lanes), chosen(lanes).report
    assert any("idle_late" in text for text in made.files.values()) == (lanes == FACTOR)
    assert any("r_holds" in text for text in made.files.values()) == (lanes == OUTPUT)
    with Simulation(made) as simulation:
        found = simulation.run(vectors)
        for beats in (found, *(simulation.run(vectors, pace) for pace in range(1, count(1, deep=2)))):
            assert compare(beats, wanted).first_difference is None
    assert (found.latency_cycles, found.interval_cycles) == (report["latency_cycles"], report["interval_cycles"])


@DEEP
@pytest.mark.parametrize("name", CHOICES)
def test_a_wrong_choice_in_two_clocks_is_noticed(name: str) -> None:
    lanes, pattern, without = CHOICES[name]
    program, start = shared_memories.step()
    vectors = shared_memories.frames(2, seed=1)
    found = {file: re.sub(pattern, without, text) for file, text in chosen(lanes).files.items()}
    assert found != chosen(lanes).files
    try:
        with Simulation(replace(chosen(lanes), files=found)) as simulation:
            assert compare(simulation.run(vectors, 1), expected(program, vectors, start)).mismatches
    except CircuitizeError as error:
        assert "the design hangs" in str(error), error


def test_outputs_choose_in_two_clocks_only_if_frames_may_take_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """With each limit the frames of the sizes keep to it before reads begin early, which only shortens them."""
    monkeypatch.setattr(blocks, "SAVED", 0)
    monkeypatch.setattr(planning, "early", lambda sizes, memories, tilings: sizes)
    sizes = choose_sizes(fold(shared_memories.step()[0]), 16, None, None)
    found = {most: plan(replace(sizes, longest=most)).sizes for most in (464, 463)}
    assert found[464].late and found[464].interval == 464
    assert not found[463].late and found[463].interval == 463


@DEEP
def test_reading_too_early_is_noticed() -> None:
    """The step of a 4-64-2 network, of which one stage reads what another still writes."""
    program, start = shared_memories.step()
    vectors = shared_memories.frames(3, seed=0)
    made = schedule(program, start, lanes=12)
    found = {file: re.sub(r"(w_start \? \d+'d)\d+", r"\g<1>0", text) for file, text in made.files.items()}
    assert found != made.files
    with Simulation(replace(made, files=found)) as simulation:
        assert compare(simulation.run(vectors), expected(program, vectors, start)).mismatches


@pytest.mark.parametrize("lanes", [FEW, pytest.param(2, marks=DEEP)])
def test_no_word_matters_that_is_read_as_it_is_written(lanes: int) -> None:
    """Blocks then show what they like: here what is not known."""
    read = "read_data <= words[read_address]"
    unknown = "read_data <= (|write & (write_address == read_address)) ? {COUNT*WIDTH{1'bx}} : words[read_address]"
    files = {
        name: text.replace(read, unknown) if "_row" in name else text for name, text in design(lanes).files.items()
    }
    assert files != design(lanes).files
    made = replace(design(lanes), files=files)
    assert simulated(made, *(None, 1)[: count(1, deep=2)])


@pytest.mark.parametrize("orders", [[[0, 1, 2]], [[0, 1, 2, 3], [1, 3]], [[0, 2], [0, 1, 2, 3], [3]]])
def test_users_come_one_at_a_time_in_order(orders: list[list[int]], tmp_path: Path) -> None:
    right, ended = turn_bench.run(tmp_path, orders)
    assert right and ended > 100


@pytest.mark.parametrize("name", TURNS)
def test_a_guard_of_turns_is_missed(name: str, tmp_path: Path) -> None:
    right, ended = turn_bench.run(tmp_path, [[0, 1, 2]], TURNS[name])
    assert not right or ended < 3


@pytest.mark.parametrize("name", MODES)
def test_a_guard_of_turns_by_mode_is_missed(name: str, tmp_path: Path) -> None:
    right, ended = turn_bench.run(tmp_path, [[0, 1, 2, 3], [1, 3]], MODES[name])
    assert not right or ended < 3


@pytest.mark.parametrize("pace", [1, pytest.param(None, marks=DEEP)])
def test_frames_of_a_design_with_modes_equal_the_executor(pace: int | None) -> None:
    made, start = modal()
    vectors = session_frames(made, count(5, deep=2 * FRAMES), 1, start)
    with unrefined():
        design = integrated(Bound(made.step, start, made), "folded", {"lanes": CHOSEN}, Interface("m"))
    with Simulation(design) as simulation:
        assert compare(simulation.run(vectors, pace), session(made, vectors, start)).first_difference is None


@DEEP
def test_a_reset_leaves_the_state_last_kept() -> None:
    resets = 60
    vectors = frames(3 * resets + 8, seed=2)
    found = check_resets(design(), mixed(), vectors, initial(), resets, backpressure=1)
    assert (found.resets, found.first_difference) == (resets, None)


def test_verilator_has_no_warning(tmp_path: Path) -> None:
    assert warnings(design(ODD), tmp_path) == ""

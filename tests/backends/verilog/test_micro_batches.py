"""Designs that take a few examples of a batch at a time equal the executor of the whole batch, to the bit and clock."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pooled_steps
import pytest
from batched_programs import few, frames, scores, tally
from broken_frames import require_that_wrong_frames_fail_alone
from every_case import every_case
from example_programs import example
from folded_programs import frames as random_frames
from folded_programs import named
from numpy.typing import NDArray
from rtl_resets import check_resets
from shared_memories import small_step
from tiers import seeds

from circuitize.backends.verilog.bound import Bound, integrated
from circuitize.backends.verilog.folded import schedule
from circuitize.backends.verilog.folded.plan import plan
from circuitize.backends.verilog.folded.schedule import folded_program, report
from circuitize.backends.verilog.folded.search import choose_sizes
from circuitize.backends.verilog.shell import Interface
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.integers import Add, Check, Contract, Sum, View
from circuitize.circuits.port import Port
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.frontends.layers import dense, relu, sequential
from circuitize.sims.rtl import Simulation, check_design, compare, expected

Integers = NDArray[np.int64]
BATCH, SEED = 4, 1


@cache
def step() -> tuple[IntegerProgram, dict[str, Integers]]:
    """The step of an 8-32-2 network, the totals of whose first layer are in block memory."""
    return small_step(sequential(dense(8, 40), relu(), dense(40, 2)), BATCH, 8)


@every_case([(1, {}), (2, {"lanes": 4}), (1, {"dsp_budget": 4}), (2, {"interval_budget": 4000})])
def test_steps_equal_the_executor_and_take_the_clocks_of_the_report(examples: int, options: dict[str, Any]) -> None:
    """Also where frames fail: the weights then stay as they were."""
    program, initial = step()
    design = schedule(program, initial, micro_batch=examples, **options)
    assert set(design.held) == set(initial)
    vectors = frames(program, 5, SEED)
    wanted = expected(program, vectors, initial)
    assert 0 < wanted.undefined.sum() < 4
    with Simulation(design) as simulation:
        found = simulation.run(vectors)
        assert compare(found, wanted).first_difference is None
        clocks = found.latency_cycles, found.interval_cycles
        assert clocks == (design.report["latency_cycles"], design.report["interval_cycles"])
        some = {name: values[:2] for name, values in vectors.items()}
        pressed = compare(simulation.run(some, backpressure=examples), expected(program, some, initial))
        assert pressed.first_difference is None


def test_a_step_with_max_pooling_equals_the_executor() -> None:
    program, initial = pooled_steps.step()
    design, vectors = schedule(program, initial, lanes=4, micro_batch=1), pooled_steps.frames(8, 1)
    found = check_design(design, program, vectors, initial, backpressure=1)
    assert found.first_difference is None and found.undefined > 0


@every_case([(1, 140), (2, 150), (3, 100), (2, 400)])
def test_scores_of_each_example_leave_round_by_round(examples: int, interval: int) -> None:
    """Of designs whose rounds overlap and of others, and some frames fail in one round or after the sum."""
    program = scores()
    design = schedule(program, interval_budget=interval, micro_batch=examples)
    assert design.report["interval_cycles"] <= interval
    vectors = few(program, 40, interval)
    found = check_design(design, program, vectors, {}, backpressure=examples)
    assert found.first_difference is None and 4 < found.undefined < 36


@pytest.mark.parametrize("beats", [0, 2])
def test_frames_out_of_place_fail_alone(beats: int) -> None:
    """With inputs of which each round has a block, and others, that come too short or too long."""
    program, draw, number = scores(), np.random.default_rng(beats), 60
    design = schedule(program, interval_budget=150, elements_per_beat=beats, micro_batch=2)
    require_that_wrong_frames_fail_alone(design, program, few(program, number, 3), draw)


@pytest.mark.parametrize("bits", [32, 64])
def test_one_bus_carries_whole_batches(bits: int) -> None:
    """The inputs of a batch come one after the other, the largest last, while the first round needs all of them."""
    program, initial = step()
    made = Bound(program, initial)
    design = integrated(made, "folded", {"lanes": 4, "micro_batch": 2}, Interface(bus_bits=bits))
    assert [stream.port for stream in design.streams][:3] == ["learning_rate", "targets", "inputs"]
    found = check_design(design, program, frames(program, 4, SEED), initial, backpressure=bits)
    assert found.first_difference is None and found.undefined > 0


@every_case([(1, 16), (1, 32), (2, 64), (3, 16)])
def test_one_bus_carries_the_outputs_of_each_example(examples: int, bits: int) -> None:
    """Two outputs that leave in every round, and one that leaves in the last; such designs hung."""
    program = scores()
    design = integrated(Bound(program, {}), "folded", {"micro_batch": examples}, Interface(bus_bits=bits))
    assert [stream.port for stream in design.streams if stream.output] == ["y0", "y2", "y1", ""]
    found = check_design(design, program, few(program, 20, bits), {}, backpressure=bits)
    assert found.first_difference is None and found.undefined > 0


@pytest.mark.parametrize("examples", [1, 2])
def test_what_waits_for_a_bus_keeps_no_stage_waiting(examples: int) -> None:
    """An output that waits for another had its memory in turns with a stage; such designs hung."""
    builder = Builder()
    inputs = [Fixed((4, 2), 0, -9, 9), Fixed((2, 2), 0, -4, 4), Fixed((4, 2, 2), 0, -3, 3)]
    x, w, u = builder.inputs(inputs)
    made = builder.add(Contract("bi,ij->bj"), x, w)
    twice = builder.add(Check(-140, 100), builder.add(Add(), made, made))
    total = builder.add(Contract("bi,bij->j"), x, u)
    program = named(builder, ["x", "w", "u"], [twice, made, total])
    design = integrated(Bound(program, {}), "folded", {"micro_batch": examples}, Interface(bus_bits=16))
    found = check_design(design, program, random_frames(program, 60, 0), {}, backpressure=examples)
    assert found.first_difference is None and 0 < found.undefined < 60


def test_a_stage_that_reads_state_alone_keeps_no_input_waiting() -> None:
    """Such a stage starts with the first input, which has room for all rounds while the next one comes."""
    builder = Builder()
    x, u = builder.inputs([Fixed((4, 1), 0, -9, 9), Fixed((4, 1, 2), 0, -3, 3)])
    state = builder.input(Fixed((2,), 0, -500, 500))
    program = named(builder, ["x", "u", "s"], [builder.add(Contract("bi,bij->j"), x, u), state], ["s"])
    initial = {"s": np.array([3, -4])}
    design = integrated(Bound(program, initial), "folded", {"micro_batch": 1}, Interface(bus_bits=32))
    found = check_design(design, program, random_frames(program, 20, 0), initial, backpressure=2)
    assert found.first_difference is None


def test_inputs_of_one_size_come_one_after_the_other() -> None:
    builder = Builder()
    x, y = builder.inputs([Fixed((6, 5), 0, -9, 9)] * 2)
    made = builder.add(Contract("bi,bj->ij"), x, y)
    program = named(builder, ["x", "y"], [made])
    design = integrated(Bound(program, {}), "folded", {"lanes": 4, "micro_batch": 1}, Interface(bus_bits=16))
    assert check_design(design, program, random_frames(program, 6, 0), {}).first_difference is None


def test_streams_have_the_names_that_they_have_without_rounds() -> None:
    """Ports may be called as what is kept from round to round, and as what tells the rounds."""
    builder = Builder()
    x, y = builder.inputs([Fixed((4, 2), 0, -3, 3), Fixed((2,), 0, -3, 3)])
    total = builder.add(Sum(View.broadcast((4, 2), (0,))), x)
    made = builder.build([total, builder.add(Add(), total, y)])
    inputs = tuple(Port(name, "public", builder.format(wire)) for name, wire in (("round", x), ("total", y)))
    outputs = tuple(
        Port(name, "public", format)
        for name, format in zip(("round_2", "total_2"), made.target, strict=True)
        if isinstance(format, Fixed)
    )
    program = IntegerProgram(made, inputs, outputs)
    design = schedule(program, lanes=2, micro_batch=2)
    assert {s.name for s in design.streams} == {s.name for s in schedule(program, lanes=2).streams}
    assert check_design(design, program, random_frames(program, 6, 0), {}).first_difference is None


def test_resets_between_and_within_rounds_leave_the_state_last_kept() -> None:
    initial = {"state": np.arange(6).reshape(2, 3)}
    vectors = {"x": np.random.default_rng(0).integers(-30, 31, (300, 4, 2, 3))}
    for seed in seeds(2, deep=12):
        design = schedule(tally(), initial, interval_budget=400 if seed % 2 else 100, micro_batch=1 + seed % 2)
        found = check_resets(design, tally(), vectors, initial, 100, seed=seed, backpressure=3 if seed % 2 else None)
        assert (found.resets, found.first_difference) == (100, None)
        assert found.ended > 20


def test_totals_in_block_memory_have_one_bank() -> None:
    """With two banks and a copy for the stage that reads a total, they would take three times their bits."""
    program, _ = step()
    folded = folded_program(program, micro_batch=1)
    made = plan(choose_sizes(folded, None, None, None))
    own = max((memory for memory in made.memories if memory.own), key=lambda memory: memory.clients[0].layout.words)
    wire = made.sizes.readers[own.readers[0]].wire
    (total,) = [old for old, new in folded.states.items() if new == wire]
    assert folded.rounds is not None and folded.held[total].name in folded.rounds.kept
    assert {made.sizes.readers[number].wire for number in own.clients[-1].readers} == {total}
    assert not [m for m in made.memories if m is not own and total in {made.sizes.readers[k].wire for k in m.readers}]
    assert made.sizes.links[own.readers[0]].banks == 1 and report(made)["bram_bits"] > 0


@pytest.mark.deep
def test_memory_hardly_grows_with_the_batch() -> None:
    """What docs/verilog.md and decision 0075 say of `cnn.py`, whose batch of 16 takes 559 kbit at once."""
    program = example("cnn.py:step").integer
    found = report(plan(choose_sizes(folded_program(program, micro_batch=1), None, None, None)))
    assert found["rounds"] == 16 and found["bram_bits"] <= 92_000 and found["interval_cycles"] <= 11_600


def test_what_cannot_be_cut_is_refused() -> None:
    program, initial = step()
    with pytest.raises(CircuitizeError, match="expected a divisor of the batch of 4 examples, found 3"):
        schedule(program, initial, micro_batch=3)
    with pytest.raises(CircuitizeError, match=r"at least \d{3,} clocks, found interval_budget=50; raise"):
        schedule(program, initial, micro_batch=1, interval_budget=50)


def test_a_whole_batch_at_a_time_is_the_plain_design() -> None:
    program, initial = step()
    assert schedule(program, initial, lanes=4, micro_batch=BATCH).files == schedule(program, initial, lanes=4).files

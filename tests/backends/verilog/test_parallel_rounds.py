"""Parallel designs that take a few examples of a batch at a time equal the executor of the whole batch."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from batched_programs import few, frames, scores, tally
from broken_frames import require_that_wrong_frames_fail_alone
from every_case import every_case
from example_programs import example
from folded_programs import frames as random_frames
from folded_programs import named
from linted import warnings
from numpy.typing import NDArray
from ready_paths import depends
from round_by_round import RandomProgram
from rtl_resets import check_resets
from shared_memories import small_step
from stream_script import scripted
from tiers import count, seeds

from circuitize.backends.verilog.bound import Bound, integrated
from circuitize.backends.verilog.certificate import certificate
from circuitize.backends.verilog.parallel import schedule
from circuitize.backends.verilog.parallel.estimate import in_common
from circuitize.backends.verilog.parallel.schedule import Unrolled
from circuitize.backends.verilog.project import Project
from circuitize.backends.verilog.shell import Interface
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.integers import (
    Add,
    Check,
    Clamp,
    Constant,
    Contract,
    IsNegative,
    Multiply,
    Reindex,
    Select,
    Subtract,
    Sum,
    View,
)
from circuitize.circuits.port import Port
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.frontends.layers import dense, relu, sequential
from circuitize.sims.rtl import Simulation, check_design, compare, expected
from circuitize.sims.rtl.frames import bound_somehow, vectors

BATCH = 4


@cache
def step() -> tuple[IntegerProgram, dict[str, NDArray[np.int64]]]:
    """The step of a 3-2-2 network."""
    return small_step(sequential(dense(3, 2), relu(), dense(2, 2)), BATCH, 3)


@every_case([(1, {}), (2, {"levels_per_stage": 9}), (1, {"levels_per_stage": 1, "multiplication": "dsp"})])
def test_steps_equal_the_executor_and_take_the_clocks_of_the_report(examples: int, options: dict[str, Any]) -> None:
    """Also where frames fail: the weights then stay as they were."""
    program, initial = step()
    design = schedule(program, initial=initial, micro_batch=examples, **options)
    assert set(design.held) == set(initial) and design.report["rounds"] == BATCH // examples
    vectors = frames(program, 20, 1)
    wanted = expected(program, vectors, initial)
    assert 0 < wanted.undefined.sum() < 20
    with Simulation(design) as simulation:
        found = simulation.run(vectors)
        assert compare(found, wanted).first_difference is None
        clocks = found.latency_cycles, found.interval_cycles
        assert clocks == (design.report["latency_cycles"], design.report["interval_cycles"])
        assert compare(simulation.run(vectors, backpressure=examples), wanted).first_difference is None


@pytest.mark.parametrize("examples", [1, 2, 3])
def test_scores_of_each_example_leave_round_by_round(examples: int) -> None:
    """Some frames fail in one round, or after the sum."""
    program = scores()
    design = schedule(program, micro_batch=examples)
    assert [stream.beats for stream in design.streams] == [1, 1, *[6 // examples] * 3, 1, 1]
    found = check_design(design, program, few(program, 40, examples), {}, backpressure=examples)
    assert found.first_difference is None and 4 < found.undefined < 36


@pytest.mark.parametrize("examples", [1, 3])
def test_frames_out_of_place_fail_alone(examples: int) -> None:
    """With inputs of which each round has a block, and others, that come too short or too long."""
    program, draw, number = scores(), np.random.default_rng(examples), count(60, deep=1000)
    design = schedule(program, micro_batch=examples)
    require_that_wrong_frames_fail_alone(design, program, few(program, number, 3), draw)


@every_case([(1, 16), (2, 16), (3, 32), (1, 64)])
def test_one_bus_carries_the_tensors_of_a_batch(examples: int, bits: int) -> None:
    """One after the other, while each round needs a block of every input, and gives one of every output."""
    program = scores()
    design = integrated(Bound(program, {}), "parallel", {"micro_batch": examples}, Interface(bus_bits=bits))
    assert [stream.port for stream in design.streams] == ["r", "w", "x", "y0", "y2", "y1", ""]
    assert design.files["circuitize.v"].count("  circuitize_queue #") == 1
    found = check_design(design, program, few(program, 20, bits), {}, backpressure=bits)
    assert found.first_difference is None and found.undefined > 0


@pytest.mark.parametrize("bits", [32, 64])
def test_one_bus_carries_steps(bits: int) -> None:
    program, initial = step()
    made = Bound(program, initial)
    design = integrated(made, "parallel", {"micro_batch": 1}, Interface(bus_bits=bits, control=True))
    assert [stream.port for stream in design.streams][:3] == ["learning_rate", "targets", "inputs"]
    assert {stream.data_bits for stream in design.streams} == {bits}
    found = check_design(design, program, frames(program, 12, 1), initial, backpressure=bits)
    assert found.first_difference is None and found.undefined > 0


def test_a_beat_lies_in_whole_words_of_a_bus() -> None:
    """Three elements of a byte lie in three words of 32 bits, not in one, and a word has no elements of two rounds."""
    builder = Builder()
    x = builder.input(Fixed((4, 3), 0, -100, 100))
    program = named(builder, ["x"], [builder.add(Add(), x, x)])
    design = integrated(Bound(program, {}), "parallel", {"micro_batch": 1}, Interface(bus_bits=32))
    (entering,) = [stream for stream in design.streams if stream.port == "x"]
    assert (entering.lanes, entering.pitch, entering.beats) == (1, 32, 12)
    assert check_design(design, program, random_frames(program, 20, 0), {}, backpressure=1).first_difference is None


@pytest.mark.parametrize("bits", [None, 64])
def test_linters_find_nothing_and_no_ready_depends_on_another(bits: int | None, tmp_path: Path) -> None:
    design = integrated(Bound(scores(), {}), "parallel", {"micro_batch": 2}, Interface(bus_bits=bits))
    assert warnings(design, tmp_path) == ""
    readies = {name: inputs for name, inputs in depends(design, tmp_path).items() if name.endswith("ready")}
    assert readies and not {name: inputs for name, inputs in readies.items() if inputs - {"rst"}}


def test_inputs_of_one_size_come_one_after_the_other() -> None:
    builder = Builder()
    x, y = builder.inputs([Fixed((6, 5), 0, -9, 9)] * 2)
    program = named(builder, ["x", "y"], [builder.add(Contract("bi,bj->ij"), x, y)])
    design = integrated(Bound(program, {}), "parallel", {"micro_batch": 1}, Interface(bus_bits=16))
    assert "circuitize_queue.v" in design.files
    assert check_design(design, program, random_frames(program, 10, 0), {}).first_difference is None


def test_rows_of_a_product_pass_one_after_the_other() -> None:
    """The first matrix is cut, and the second, which has as many rows, is there in all rounds."""
    builder = Builder()
    x, y = builder.inputs([Fixed((6, 6), 0, -9, 9)] * 2)
    program = named(builder, ["x", "y"], [builder.add(Contract("ij,jk->ik"), x, y)])
    design = schedule(program, micro_batch=2)
    assert {stream.port: stream.beats for stream in design.streams} == {"x": 3, "y": 1, "y0": 3, "": 1}
    assert check_design(design, program, random_frames(program, 40, 0), {}, backpressure=1).first_difference is None


def test_resets_between_and_within_rounds_leave_the_state_last_kept() -> None:
    initial = {"state": np.arange(6).reshape(2, 3)}
    vectors = {"x": np.random.default_rng(0).integers(-30, 31, (300, 4, 2, 3))}
    for seed in seeds(2, deep=12):
        design = schedule(tally(), 1 + seed % 3, initial=initial, micro_batch=1 + seed % 2)
        found = check_resets(design, tally(), vectors, initial, 100, seed=seed, backpressure=3 if seed % 2 else None)
        assert (found.resets, found.first_difference) == (100, None)
        assert found.ended > 20


def test_state_that_would_leave_its_interval_in_the_last_round_fails() -> None:
    """The sum of some rounds may leave it: no Check says what the state may be, and the output is wider."""
    builder = Builder()
    state, x = builder.input(Fixed((2,), 0, -8, 7)), builder.input(Fixed((4, 2), 0, -8, 7))
    total = builder.add(Add(), state, builder.add(Sum(View.broadcast((4, 2), (0,))), x))
    program = named(builder, ["state", "x"], [total], ["state"])
    design = schedule(program, initial={"state": np.zeros(2, np.int64)}, micro_batch=1)
    script = [
        f"send_x({first}, 0); send_x({second}, 0); send_x(0, 0); send_x(0, 1); pause(60);" for first, second in SENT
    ]
    events = [(name, data) for name, _, data in scripted(design, script)]
    assert [data for name, data in events if name == "status"] == [0, 1, 0]
    assert [data & 63 for name, data in events if name == "state"][::2] == [5, 6]


SENT = [(5, 0), (7, 0), (7, 10)]
"""Frames' first two beats: 5; 7, and so 12, which is too much; 7 and -6, of which the first would be too much alone."""


def test_random_programs_in_rounds_equal_the_executor() -> None:
    """With any number of levels, and the clocks of the report."""
    made = 0
    for seed in seeds(6, deep=300):
        random, draw = RandomProgram(seed), np.random.default_rng(seed)
        program, initial = random.program(), {"w": np.clip(random.inputs()["w"], -3, 3)}
        examples = int(draw.choice([few for few in (1, 2, 3) if few < random.batch and random.batch % few == 0]))
        try:
            design = schedule(program, int(draw.integers(1, 9)), initial=initial, micro_batch=examples)
        except CircuitizeError as error:
            assert "--micro-batch: expected" in str(error)
            continue
        vectors = random_frames(program, 25, seed)
        found = check_design(design, program, vectors, initial, backpressure=None)
        assert (found.mismatches, found.first_difference) == (0, None), seed
        report = design.report
        assert (found.latency_cycles, found.interval_cycles) == (report["latency_cycles"], report["interval_cycles"])
        assert check_design(design, program, vectors, initial, backpressure=seed).mismatches == 0, seed
        made += 1
    assert made > 0


NOTHING = {
    "a difference": lambda builder, x: builder.add(Subtract(), x, x),
    "a sign": lambda builder, x: builder.add(IsNegative(), builder.add(Multiply(), x, x)),
    "padding": lambda builder, x: builder.add(Reindex(View.pad((4, 2), (0, 0), (0, 1))), x),
    "a column of zeros": lambda builder, x: builder.add(
        Multiply(), x, builder.add(Constant.of(np.array([[0, 1]] * 4), 0))
    ),
}


@pytest.mark.parametrize("term", NOTHING)
@pytest.mark.parametrize("low", [-4, 0])
def test_totals_to_which_nothing_is_added_are_zero(term: str, low: int, tmp_path: Path) -> None:
    """In a stream, in state that follows, and in an operation after it."""
    builder, width = Builder(), 3 if term == "padding" else 2
    w, x = builder.input(Fixed((width,), 0, -9, 9)), builder.input(Fixed((4, 2), 0, low, 5 if low else 0))
    total = builder.add(Sum(View.broadcast((4, width), (0,))), NOTHING[term](builder, x))
    outputs = [builder.add(Clamp(-9, 9), total), total, builder.add(Add(), w, total)]
    program, initial = named(builder, ["w", "x"], outputs, ["w"]), {"w": np.arange(width) - 2}
    design = schedule(program, 1, initial=initial, micro_batch=1)
    told = warnings(design, tmp_path)
    assert told.count("%Warning-") == told.count("x_block"), told
    found = check_design(design, program, random_frames(program, 20, 0), initial, backpressure=1)
    assert found.first_difference is None


def test_only_the_last_round_itself_is_the_last_round() -> None:
    """A choice by a condition that is known to be 0 is no choice by the round, and its Check counts in each round."""
    builder = Builder()
    x, y = builder.input(Fixed((4, 2), 0, -9, 9)), builder.input(Fixed((4, 2), 0, -5, 5))
    never = builder.add(IsNegative(), builder.add(Multiply(), x, x))
    chosen = builder.add(Check(-4, 3), builder.add(Select(), never, x, y))
    program = named(builder, ["x", "y"], [chosen])
    found = check_design(schedule(program, micro_batch=1), program, random_frames(program, 60, 0), {})
    assert found.first_difference is None and 0 < found.undefined < 60


def test_streams_have_the_names_that_they_have_without_rounds() -> None:
    """Ports may be called as what is kept from round to round, and as what tells the rounds."""
    builder = Builder()
    x, y = builder.inputs([Fixed((4, 2), 0, -3, 3), Fixed((2,), 0, -3, 3)])
    total = builder.add(Sum(View.broadcast((4, 2), (0,))), x)
    program = named(builder, ["round", "total"], [total, builder.add(Add(), total, y)])
    names = ("total_state", "round_")
    outputs = tuple(Port(name, "public", port.format) for name, port in zip(names, program.outputs, strict=True))
    program = replace(program, outputs=outputs)
    design = schedule(program, micro_batch=2)
    assert {s.name for s in design.streams} == {s.name for s in schedule(program).streams}
    assert check_design(design, program, random_frames(program, 6, 0), {}).first_difference is None


def test_registers_are_counted() -> None:
    """Those of the pipeline, of what is added up, of the rounds and of the handshake, each bit once. DSPs of an ECP5
    keep nothing.
    """
    program, initial = step()
    made = Unrolled(program, 2, micro_batch=1)
    design = made.design(initial)
    lines = [line for text in design.files.values() for line in text.splitlines() if line.startswith("    reg [")]
    lines = [
        line for line in lines if re.search(r"held|total|\bstate;", line) or design.files["parallel.v"].count(line)
    ]
    bits = sum(int(line.split("[")[1].split(":")[0]) + 1 for line in lines)
    common = int((made.pipe.bits * in_common(made.net, made.pipe)).sum())
    assert common > 0 and design.report["families"]["ecp5"]["ff"] == bits - common


def test_rounds_lie_between_all_at_once_and_folded() -> None:
    """What docs/verilog-parallel.md says of `iris.py`."""
    program = bound_somehow(example("iris.py:step").integer).program
    found = [Unrolled(program, micro_batch=examples).report() for examples in (None, 4, 2, 1)]
    sizes = [(made["latency_cycles"], made["dsp"], made["lut"], made["ff"]) for made in found]
    assert sizes[0] == (10, 2224, 40_868, 19_643) and sizes[1] == (20, 1112, 25_124, 16_583)
    assert sizes[2] == (40, 556, 15_591, 13_447) and sizes[3] == (80, 278, 9_172, 6_914)


def test_a_whole_batch_at_a_time_is_the_plain_design() -> None:
    program, initial = step()
    assert schedule(program, initial=initial, micro_batch=BATCH).files == schedule(program, initial=initial).files


def test_what_cannot_be_done_is_refused() -> None:
    program, initial = step()
    with pytest.raises(CircuitizeError, match="expected a divisor of the batch of 4 examples, found 3"):
        schedule(program, initial=initial, micro_batch=3)
    with pytest.raises(
        CircuitizeError, match="expected at most 64, for 3 elements of 'inputs' in each round, found 128"
    ):
        integrated(Bound(program, initial), "parallel", {"micro_batch": 1}, Interface(bus_bits=128))
    made = integrated(Bound(scores(), {}), "parallel", {"micro_batch": 2})
    tried = vectors(Bound(scores(), {}), few(scores(), 2, 0))
    with pytest.raises(CircuitizeError, match="certify: expected a design that takes a batch at once, found one in ro"):
        certificate(Project(made, scores(), tried))

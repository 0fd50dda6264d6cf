"""State in the parallel schedule: frames one after the other, each from what the last one that was kept has left."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from folded_programs import named
from learners import INITIAL, frames, learner
from stream_script import scripted
from tiers import count

from circuitize.backends.verilog.netlist import Kind
from circuitize.backends.verilog.parallel import schedule
from circuitize.backends.verilog.parallel.modules import Modules
from circuitize.backends.verilog.parallel.schedule import Unrolled
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.integers import Add, Check, Multiply
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.sims import rtl

FRAMES = count(200, deep=5000)


@pytest.mark.parametrize("levels", [1, 3, 100])
@pytest.mark.parametrize("multiplication", ["adders", "dsp"])
def test_every_pipeline_learns_the_same(levels: int, multiplication: str) -> None:
    design = schedule(learner(), levels, multiplication, INITIAL)
    assert design.held == ("w", "speed")
    found = rtl.check_design(design, learner(), frames(FRAMES), INITIAL, backpressure=None)
    assert found.mismatches == 0, found.first_difference
    assert found.latency_cycles == found.interval_cycles == design.report["latency_cycles"]
    assert found.interval_cycles == design.report["interval_cycles"]
    assert 0 < found.undefined < FRAMES / 2


def test_backpressure_loses_nothing() -> None:
    """The old weights wait for their reader after the status is taken, and the new ones have come."""
    for seed in range(count(3, deep=20)):
        design = schedule(learner(), 2, initial=INITIAL)
        found = rtl.check_design(design, learner(), frames(80, seed), INITIAL, backpressure=seed)
        assert found.mismatches == 0, found.first_difference


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("status_tready & ~status_tdata[0];", "status_tready;"),
        ("kept = status_tvalid & status_tready", "kept = occupied[LAST]"),
        ("idle = ~(|occupied);", "idle = ~(|occupied[0]);"),
        ("idle = ~(|occupied);", "idle = ~(|occupied[LAST:0]) & enable;"),
        ("load1 = arrived;", "load1 = 1'b1;"),
    ],
    ids=["a failed frame", "too early", "frames together", "a frame as the state changes", "a stage that runs on"],
)
def test_a_design_that_learns_otherwise_is_noticed(right: str, wrong: str) -> None:
    design = schedule(learner(), 2, initial=INITIAL)
    text = design.files["parallel.v"]
    assert text.count(right) == 1
    last = design.report["latency_cycles"] - 3
    changed = text.replace(right, wrong.replace("LAST", str(last)))
    broken = replace(design, files={**design.files, "parallel.v": changed})
    try:
        assert rtl.check_design(broken, learner(), frames(80), INITIAL, backpressure=1).mismatches > 0
    except CircuitizeError as error:
        assert "expected the AXI4-Stream handshake" in str(error)


def test_a_frame_is_kept_when_its_status_is_taken() -> None:
    """What waits does not change, and a frame of which nothing but the status was taken is kept through a reset."""
    builder = Builder()
    total, more = builder.input(Fixed((), 0, 0, 99)), builder.input(Fixed((), 0, 0, 9))
    program = named(
        builder,
        ["total", "more"],
        [builder.add(Check(0, 99), builder.add(Add(), total, more)), total],
        held=["total"],
    )
    design = schedule(program, initial={"total": np.array(40)})
    script = [
        "total_tready = 0; y0_tready = 0; send_more(5, 1); pause(60);",
        "reset(1); total_tready = 1; y0_tready = 1; send_more(2, 1); pause(60);",
        "status_tready = 0; send_more(9, 1); pause(60); reset(1); status_tready = 1; send_more(1, 1); pause(60);",
    ]
    events = [(name, data) for name, _, data in scripted(design, script)]
    told = {name: [data for other, data in events if other == name] for name in ("total", "y0", "status")}
    assert told == {"total": [47, 56, 48], "y0": [45, 47, 47], "status": [0, 0, 0]}


def test_each_number_has_one_register() -> None:
    """Frames are alone: what a frame makes stays where it is until the next frame."""
    made = Unrolled(learner(), 1)
    net, pipe = made.net, made.pipe
    assert pipe.alone and set(pipe.delay.tolist()) == {0, 1}
    deep = Unrolled(learner(), 100)
    assert deep.pipe.stages < pipe.stages
    state = np.concatenate([state.nodes for state in made.states.values()])
    told = made.states["w"].nodes
    assert (pipe.delay[told] == 1).all() and (pipe.delay[np.setdiff1d(state, told)] == 0).all()
    assert (net.kind[state] == Kind.INPUT).all()


def test_registers_are_counted() -> None:
    """Every bit of every register of the modules and of the state, and none twice; DSPs of an ECP5 keep nothing."""
    made = Unrolled(learner(), 2)
    modules = Modules(net=made.net, groups=made.groups, pipe=made.pipe, outputs=made.wanted)
    design = made.design(INITIAL)
    bits = sum(
        int(line.split("[")[1].split(":")[0]) + 1
        for text in design.files.values()
        for line in text.splitlines()
        if line.startswith(("    reg [", "    reg signed [")) and ("held" in line or line.endswith(" state;"))
    )
    control = made.pipe.stages + len(made.inputs) + len(made.outputs)
    assert design.report["families"]["ecp5"]["ff"] == bits + control
    gates = {gate for index in range(len(modules.groups)) for gate in modules.gates(index)}
    assert gates == {f"load{stage}" for stage in range(1, made.pipe.stages + 1)}


def test_state_that_would_leave_its_interval_fails() -> None:
    """The output is wider than the state: nothing else checks it."""
    builder = Builder()
    total, more = builder.input(Fixed((2,), 0, -8, 7)), builder.input(Fixed((2,), 0, -8, 7))
    program = named(builder, ["total", "more"], [builder.add(Add(), total, more)], held=["total"])
    design = schedule(program, initial={"total": np.zeros(2, np.int64)})
    script = [f"send_more({a | (b & 15) << 4}, 1); pause(40);" for a, b in ((5, 1), (3, 0), (2, -8), (0, 0))]
    events = [(name, data) for name, _, data in scripted(design, script)]
    assert [data for name, data in events if name == "status"] == [0, 1, 0, 0]
    totals = [data for name, data in events if name == "total"]
    assert totals[0] == 5 | 1 << 5 and totals[2] == totals[3] == 7 | (-7 & 31) << 5


def test_names_of_registers_are_not_those_of_streams() -> None:
    program = learner()
    told = [replace(port, name=name) for port, name in zip(program.outputs[2:], ["unframed", "w_state"], strict=True)]
    program = replace(program, outputs=(*program.outputs[:2], *told))
    design = schedule(program, initial=INITIAL)
    assert "reg [29:0] state;" in design.files["parallel_w_state.v"]
    found = rtl.check_design(design, program, frames(40), INITIAL)
    assert found.mismatches == 0, found.first_difference


@pytest.mark.parametrize(
    ("initial", "message"),
    [
        (None, r"expected an initial value for state 'w', found \[\]; add it"),
        ({"w": INITIAL["w"]}, r"expected an initial value for state 'speed', found \['w'\]; add it"),
        ({**INITIAL, "x": np.zeros(3)}, r"expected the name of state \(w, speed\), found 'x'; remove it"),
        ({**INITIAL, "w": np.full((3, 2), 16)}, "initial values"),
    ],
    ids=["none", "one", "more", "outside"],
)
def test_state_needs_its_first_value(initial: Any, message: str) -> None:
    with pytest.raises(CircuitizeError, match=message):
        schedule(learner(), initial=initial)


def test_a_held_input_without_an_output_needs_a_value() -> None:
    builder = Builder()
    w, x = builder.input(Fixed((3,), 0, -8, 7)), builder.input(Fixed((3,), 0, -8, 7))
    program = named(builder, ["w", "x"], [builder.add(Multiply(), w, x)])
    held = program.inputs[0]
    program = IntegerProgram(
        program.arrow,
        (type(held)(held.name, held.visibility, held.format, "state"), program.inputs[1]),
        program.outputs,
    )
    with pytest.raises(CircuitizeError, match="expected the value of 'w' before scheduling, found none; bind it"):
        schedule(program)

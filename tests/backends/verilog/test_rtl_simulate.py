"""The simulation of designs: what comes out, at any pace, and everything that can be wrong with a design is noticed."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hand_design import X, design, frames, program
from tiers import count

from circuitize.backends.verilog.design import Stream, stream_names
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.integers import Add, Check
from circuitize.circuits.port import Port, Role, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.sims import rtl
from circuitize.sims.agree import agree
from circuitize.sims.rtl import simulators
from circuitize.sims.rtl.beats import CYCLE_DIGITS, Taken, written


@pytest.mark.parametrize("lanes", [1, 2, 3])
@pytest.mark.parametrize("pace", [None, 1, 2])
def test_a_right_design_equals_the_program(lanes: int, pace: int | None) -> None:
    found = rtl.check_design(design(lanes), program(), frames(60), backpressure=pace)
    assert (found.vectors, found.mismatches, found.first_difference) == (60, 0, None)
    assert found.undefined == 15 and "frame 3" in str(found.first_undefined)
    beats = -(-3 // lanes)
    if pace is None:
        assert (found.latency_cycles, found.interval_cycles) == (beats + 1, beats)
    else:
        assert found.interval_cycles > 1.5 * beats


def test_gaps_differ_by_seed_and_repeat() -> None:
    with rtl.Simulation(design()) as simulation:
        runs = [simulation.run(frames(40), seed).cycles for seed in (1, 2, 1, 3)]
        assert runs[0] == runs[2] and len(set(runs)) == 3
        assert simulation.run(frames(7)).outputs["y"].shape == (7, 3)


def test_verilator_sees_the_same_cycles(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bench is one text: both simulators move every beat in the same cycle.

    Verilator's C++ is not optimised, and has the standard whose headers are shortest: all else takes longer.
    """
    options = "-O0\\ -std=c++14"
    names = ("OPT_FAST", "OPT_SLOW", "OPT_GLOBAL", "VM_USER_CFLAGS")
    monkeypatch.setenv("MAKEFLAGS", " ".join(f"{name}={options}" for name in names))
    runs = []
    for simulator in ("icarus", "verilator"):
        with rtl.Simulation(design(2), simulator) as simulation:
            runs.append([simulation.run(frames(50), pace) for pace in (None, 5)])
            with pytest.raises(CircuitizeError, match="frames of input 'x'"):
                simulation.run({})
    for one, other in zip(*runs, strict=True):
        np.testing.assert_array_equal(one.outputs["y"], other.outputs["y"])
        np.testing.assert_array_equal(one.failed, other.failed)
        assert (one.cycles, one.latency_cycles, one.interval_cycles) == (
            other.cycles, other.latency_cycles, other.interval_cycles,
        )  # fmt: skip


WRONG_VALUES = {
    "a value": ({"value": "count == 4 ? 9'd1 : {x_tdata[8*lane +: 8], 1'b0}"}, "stream y, frame 1, element [1]: 1 in"),
    "an unknown bit": ({"value": "count == 4 ? 9'bx : {x_tdata[8*lane +: 8], 1'b0}"}, "frame 1: bits that are neither"),
    "status 0 where undefined": ({"failed": "1'b0"}, "stream status, frame 3: 0 in the design, but the run has no"),
    "status 1 where defined": ({"failed": "failed || count == 5"}, "stream status, frame 1: 1 in the design, but"),
}


@pytest.mark.parametrize("wrong", WRONG_VALUES)
def test_wrong_values_are_placed(wrong: str) -> None:
    changed, told = WRONG_VALUES[wrong]
    found = rtl.check_design(design(1, **changed), program(), frames(12))
    assert found.mismatches >= 1 and told in str(found.first_difference)


def test_an_unknown_bit_is_no_zero() -> None:
    changed = {"value": "count == 4 ? 9'bx : {x_tdata[8*lane +: 8], 1'b0}"}
    found = rtl.check_design(design(1, **changed), program(), {"x": np.zeros((3, 3), np.int64)})
    assert found.mismatches == 1 and "frame 1: bits that are neither" in str(found.first_difference)


BROKEN = {
    "a hang": (
        {"ready": "x_tready = !rst && room_y && room_s && count < 5"},
        "hangs: no beat moved .* x took 5 of 36 beats",
    ),
    "a changed beat": (
        {"steady": "if (y_tvalid && !y_tready) y_tdata <= ~y_tdata;"},
        "stream y: .* changed or withdrew a beat",
    ),
    "a withdrawn beat": (
        {"steady": "if (y_tvalid && !y_tready) y_shown <= 1'b0;"},
        "stream y: .* changed or withdrew a beat",
    ),
    "unknown readiness": (
        {"ready": "x_tready = !rst && (count == 2 ? 1'bx : room_y && room_s)"},
        "stream x_tready: .* 0 or 1",
    ),
    "an early tlast": ({"last": "count == 4"}, "stream y, frame 0, beat 2: expected tlast 1, found 0"),
    "readiness during reset": (
        {"ready": "x_tready = rst || (room_y && room_s)"},
        "stream x_tready: .* in which rst is 1",
    ),
    "a beat too many": ({"steady": "if (count == 36 && !y_shown) begin y_shown <= 1; count <= 37; end"}, "found 37"),
    "no Verilog": ({"ready": "x_tready = room_y &&"}, "expected icarus .* to build the design, found: top.v:"),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_broken_designs_are_one_line(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[rtl.Simulation.__module__], "QUIET", count(4_000, deep=20_000))
    changed, told = BROKEN[broken]
    with pytest.raises(CircuitizeError, match=told) as raised:
        rtl.simulate(design(1, **changed), frames(12), backpressure=7)
    assert "\n" not in str(raised.value)


def test_lanes_past_the_end_must_be_zero() -> None:
    changed = {"value": "{x_tdata[8*lane +: 8], 1'b0} | (lane == 1 && x_tlast)"}
    found = rtl.check_design(design(2, **changed), program(), frames(3))
    assert "lanes past the end" in str(found.first_difference)


def test_state_carries_over_and_stays_where_a_frame_fails() -> None:
    """The specification of state: total' = total + x, undefined past 100; a failed frame leaves it as it was."""
    format = Fixed((), 0, 0, 100)
    builder = Builder()
    total, x = builder.inputs([format, format])
    arrow = builder.build([builder.add(Check(0, 100), builder.add(Add(), total, x))])
    ports = (Port("total", Visibility.PUBLIC, format, Role.STATE), Port("x", Visibility.PUBLIC, format))
    summed = IntegerProgram(arrow, ports, (Port("total", Visibility.PUBLIC, format, Role.STATE),))
    assert rtl.state_names(summed) == ["total"]
    wanted = rtl.expected(summed, {"x": np.array([10, 80, 30, 5, 6])}, {"total": np.array(3)})
    assert wanted.undefined.tolist() == [False, False, True, False, True]
    assert wanted.outputs["total"].tolist() == [13, 93, 0, 98, 0]
    with pytest.raises(CircuitizeError, match="expected frames of input 'total'"):
        rtl.expected(summed, {"x": np.array([10])})


@pytest.mark.parametrize(("low", "high"), [(0, 0), (0, 1), (-1, 0), (-128, 127), (0, 2**61), (-(2**61) - 1, 5)])
@pytest.mark.parametrize("lanes", [1, 3, 4])
def test_beats_go_out_and_come_back(low: int, high: int, lanes: int) -> None:
    stream = Stream("x", "x", True, Fixed((2, 5), 0, low, high), lanes)
    values = np.random.default_rng(0).integers(low, high, (4, 2, 5), endpoint=True)
    values[0, 0, :2] = low, high
    lines = written(stream, values).split()
    assert len(lines) == 4 * stream.beats
    first = sum((int(v) & (1 << stream.element_bits) - 1) << i * stream.element_bits for i, v in
                enumerate(values[0].reshape(-1)[:lanes]))  # fmt: skip
    assert int(lines[0][1:], 16) == first
    assert [line[:1] == b"1" for line in lines] == [(n + 1) % stream.beats == 0 for n in range(len(lines))]
    text = b"".join(f"{n:0{CYCLE_DIGITS}x}{line.decode()}\n".encode() for n, line in enumerate(lines))
    taken = Taken(stream, text, 4)
    np.testing.assert_array_equal(taken.values.reshape(values.shape), values)
    assert not taken.unknown.any() and not taken.padded.any()
    assert taken.cycles.tolist() == [stream.beats * (n + 1) - 1 for n in range(4)]


def test_stream_names() -> None:
    inputs, outputs = stream_names(["dense1.weight", "x", "a.b", "a_b", "status", "0"], ["dense1.weight", "y", "clk"])
    assert list(inputs.values()) == ["dense1_weight_in", "x", "a_b", "a_b_2", "status_in", "_0"]
    assert list(outputs.values()) == ["dense1_weight_out", "y", "clk"]


def hand_target() -> rtl.Verilog:
    return rtl.Verilog(program(), lambda *_: design(2), "by hand")


def test_designs_are_targets() -> None:
    """`agree` compares definedness and values of a design as of every other target."""
    vectors = [{"x": x} for x in frames(6)["x"]]
    found = agree(program(), vectors, [hand_target()])
    assert (found.vectors, found.undefined, found.mismatches) == (6, 1, 0)
    silent = rtl.Verilog(program(), lambda *_: design(2, failed="1'b0"), "by hand")
    found = agree(program(), vectors, [silent])
    assert found.mismatches == 1 and "it accepts a run" in str(found.first_difference)


def test_a_difference_is_blamed_on_its_operation() -> None:
    """Each operation alone goes through the same scheduler: the first whose design differs is named."""
    from circuitize.backends.verilog.parallel import schedule

    def scheduled(of: IntegerProgram, initial: object) -> object:
        return design(2, value="9'd1") if len(of.inputs) == 1 and of.inputs[0].name == "x" else schedule(of)

    target = rtl.Verilog(program(), scheduled, "by hand")  # type: ignore[arg-type]
    found = agree(program(), [{"x": np.array([1, 2, 3])}], [target])
    assert "stream y, frame 0, element [0]: 1 in the design, 2 in the run" in str(found.first_difference)


def test_missing_simulators_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulators, "icarus", lambda: None)
    with pytest.raises(CircuitizeError, match=r"expected the simulator icarus, found none .* apt-get install iverilog"):
        rtl.simulate(design(), frames(1))
    with pytest.raises(CircuitizeError, match="expected a simulator among icarus, verilator, found 'modelsim'"):
        rtl.simulate(design(), frames(1), "modelsim")
    monkeypatch.setenv("PATH", "/nowhere")
    simulators.verilator.cache_clear()
    assert simulators.verilator() is None
    simulators.verilator.cache_clear()


def test_frames_must_fit() -> None:
    assert X.shape == (3,)
    with pytest.raises(CircuitizeError, match=r"expected frames of input 'x', each of shape \[3\], found shape \[4\]"):
        rtl.simulate(design(), {"x": np.zeros(4, np.int64)})

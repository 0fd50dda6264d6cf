"""A beat that was offered during a reset was acknowledged, and lost; one that was shown stayed valid."""

from __future__ import annotations

import pytest
from r1cs_programs import integer_type
from stream_script import scripted

from circuitize.backends.verilog import folded, parallel
from circuitize.backends.verilog.design import Design
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Add, Constant
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed


def design(scheduler: str, size: int) -> Design:
    builder = Builder()
    format = Fixed((size,), 0, 0, 255)
    arrow = builder.build([builder.add(Add(), builder.input(format), builder.add(Constant.splat(1, (size,))))])
    program = IntegerProgram(
        arrow,
        (Port("x", Visibility.PUBLIC, format),),
        (Port("y", Visibility.PUBLIC, integer_type(arrow.target[0])),),
    )
    return parallel.schedule(program) if scheduler == "parallel" else folded.schedule(program, interval_budget=size)


@pytest.mark.parametrize(("scheduler", "size"), [("parallel", 1), ("folded", 1), ("folded", 4)])
def test_a_beat_offered_during_reset_waits(scheduler: str, size: int) -> None:
    frame = [f"send_x({7 * n + 3}, {int(n == size - 1)});" for n in range(size)]
    during = f"fork reset(5); begin pause(2); {frame[0]} end join"
    events = scripted(design(scheduler, size), [during, *frame[1:], "pause(50);"])
    assert [data for name, _, data in events if name == "y"] == [7 * n + 4 for n in range(size)]
    assert [data for name, _, data in events if name == "status"] == [0]


@pytest.mark.parametrize(("scheduler", "size"), [("parallel", 1), ("folded", 1), ("folded", 4)])
def test_nothing_is_valid_or_ready_during_reset(scheduler: str, size: int) -> None:
    """From the first cycle of a reset on, with a frame under way and its outputs waiting."""
    frame = [f"send_x({n}, {int(n == size - 1)});" for n in range(size)]
    watch = 'repeat (4) begin #8; if (y_tvalid || status_tvalid || x_tready) $display("moves 0 0"); #2; end'
    held = "y_tready = 0; status_tready = 0;"
    shown = 'if (y_tvalid && status_tvalid) $display("shown 0 0");'
    script = [held, *frame, "pause(40);", shown, f"fork reset(4); begin {watch} end join", "pause(20);"]
    assert [name for name, _, _ in scripted(design(scheduler, size), script)] == ["shown", "reset"]

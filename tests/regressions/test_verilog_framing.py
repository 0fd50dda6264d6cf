"""A `tlast` that came early or late was not looked at: the frames after it were wrong, with status 0, for good."""

from __future__ import annotations

import numpy as np
import pytest
from stream_script import scripted

from circuitize.backends.verilog import folded, parallel
from circuitize.backends.verilog.design import Design
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Add
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed

SIZE = 6


def added(size: int = SIZE) -> IntegerProgram:
    """The sum of two inputs."""
    builder = Builder()
    format = Fixed((size,), 0, 0, 127)
    arrow = builder.build([builder.add(Add(), *builder.inputs([format, format]))])
    inputs = tuple(Port(name, Visibility.PUBLIC, format) for name in "ab")
    return IntegerProgram(arrow, inputs, (Port("y", Visibility.PUBLIC, Fixed((size,), 0, 0, 254)),))


def packet(stream: str, values: list[int]) -> str:
    """Beats of one element, `tlast` with the last."""
    return "".join(f"send_{stream}({value}, {int(n == len(values) - 1)});" for n, value in enumerate(values))


def frames_of(design: Design, a: list[list[int]], b: list[list[int]]) -> tuple[list[list[int]], list[int]]:
    """What comes out of packets: outputs frame by frame, and statuses."""
    sides = " ".join(f"begin {''.join(packet(n, one) for one in packets)} end" for n, packets in (("a", a), ("b", b)))
    events = scripted(design, [f"fork {sides} join", "pause(100);"])
    values = [data for name, _, data in events if name == "y"]
    assert [last for name, last, _ in events if name == "y"] == [0, 0, 0, 0, 0, 1] * (len(values) // SIZE)
    made = [values[at : at + SIZE] for at in range(0, len(values), SIZE)]
    return made, [data for name, _, data in events if name == "status"]


@pytest.mark.parametrize("length", [1, 3, 5, 7, 8, 12])
@pytest.mark.parametrize("side", ["a", "b"])
def test_frames_after_a_short_or_long_one_are_right(side: str, length: int) -> None:
    design = folded.schedule(added(), interval_budget=6)
    assert all(stream.lanes == 1 for stream in design.streams)
    draw = np.random.default_rng(length)
    a, b = (draw.integers(0, 128, (7, SIZE)).tolist() for _ in "ab")
    sums = (np.array(a) + np.array(b)).tolist()
    for wrong in (1, 4):
        (a if side == "a" else b)[wrong] = draw.integers(0, 128, length).tolist()
    made, statuses = frames_of(design, a, b)
    assert statuses == [0, 1, 0, 0, 1, 0, 0]
    assert [one for n, one in enumerate(made) if n not in (1, 4)] == [s for n, s in enumerate(sums) if n not in (1, 4)]


@pytest.mark.parametrize("scheduler", [folded, parallel], ids=["folded", "parallel"])
@pytest.mark.parametrize("extra", [1, 2, 5])
def test_a_frame_of_one_beat_ends_with_tlast(scheduler: object, extra: int) -> None:
    """More beats than one up to `tlast` are one frame, with status 1; those of the other input wait for the next."""
    design = scheduler.schedule(added(1))  # type: ignore[attr-defined]
    a, b = [[1], [2], [3] * (1 + extra), [4], [5]], [[10], [20], [30], [40], [50]]
    sides = " ".join(f"begin {''.join(packet(n, one) for one in packets)} end" for n, packets in (("a", a), ("b", b)))
    events = scripted(design, [f"fork {sides} join", "pause(60);"])
    made = [data for name, _, data in events if name == "y"]
    assert [data for name, _, data in events if name == "status"] == [0, 0, 1, 0, 0]
    assert (len(made), made[:2], made[3:]) == (5, [11, 22], [44, 55])

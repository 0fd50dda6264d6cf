"""A reset brought an older state back, with status 0: which bank holds the state was reset too. 5, reset, 0 gave 0."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from folded_programs import named
from stream_script import scripted

from circuitize.backends.verilog.design import Design
from circuitize.backends.verilog.folded import schedule
from circuitize.circuits.builder import Builder
from circuitize.circuits.integers import Add, Check
from circuitize.circuits.types import Fixed

SIZE = 12


def counter(initial: int) -> Design:
    """Twelve totals; a frame adds to each of them, an element a beat."""
    builder = Builder()
    total, more = builder.input(Fixed((SIZE,), 0, -128, 127)), builder.input(Fixed((SIZE,), 0, -128, 127))
    made = builder.add(Check(-128, 127), builder.add(Add(), total, more))
    program = named(builder, ["total", "more"], [made], held=["total"])
    return schedule(program, {"total": np.full(SIZE, initial)}, interval_budget=40)


def frame(value: int) -> str:
    return "".join(f"send_more({value}, {int(place == SIZE - 1)});" for place in range(SIZE))


def test_a_reset_leaves_the_state_as_it_is() -> None:
    design = counter(0)
    assert [stream.beats for stream in design.streams if stream.name != "status"] == [SIZE, SIZE]
    events = scripted(design, [frame(5), "pause(60); reset(2);", frame(0), "pause(60);"])
    assert [data for name, _, data in events if name == "total"] == [5] * SIZE * 2
    assert [data for name, _, data in events if name == "status"] == [0, 0]


def test_a_reset_in_any_cycle_leaves_the_state_last_kept() -> None:
    """A frame is kept when its status is taken: never before, never half, never undone."""
    delays = range(32)
    script = [f"fork begin {frame(1)} end pause({SIZE + d}); join reset(1); {frame(0)} pause(60);" for d in delays]
    events, state, aborted = scripted(counter(7), script), 7, 0
    epochs: list[list[tuple[str, int]]] = [[]]
    for name, _, data in events:
        if name == "reset":
            epochs.append([])
        else:
            epochs[-1].append((name, data))
    assert len(epochs) == len(delays) + 1
    for before, after in pairwise(epochs):
        added = [data for name, data in before if name == "status"][1 if before is not epochs[0] else 0 :]
        assert set(added) <= {0}
        state, aborted = state + len(added), aborted + (not added)
        assert [data for name, data in after if name == "total"][:SIZE] == [state] * SIZE
    assert 8 < aborted < len(delays) - 8

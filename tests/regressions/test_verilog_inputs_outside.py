"""Elements outside their input's interval gave two different wrong answers, one a scheduler, with status 0."""

from __future__ import annotations

import numpy as np
import pytest
from r1cs_programs import integer_type
from stream_script import scripted

from circuitize.backends.verilog import folded, parallel
from circuitize.backends.verilog.signals import width
from circuitize.circuits.builder import Builder
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.integers import Add, Constant
from circuitize.circuits.port import Port, Visibility
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.sims import integer

SIZE = 5


def program(low: int, high: int) -> IntegerProgram:
    """One more than each of five numbers."""
    builder = Builder()
    format = Fixed((SIZE,), 0, low, high)
    made = builder.add(Add(), builder.input(format), builder.add(Constant.splat(1, (SIZE,))))
    arrow = builder.build([made])
    return IntegerProgram(
        arrow, (Port("x", Visibility.PUBLIC, format),), (Port("y", Visibility.PUBLIC, integer_type(arrow.target[0])),)
    )


def defined(of: IntegerProgram, values: np.ndarray) -> bool:
    try:
        integer.run(of, {"x": values})
    except CircuitizeError:
        return False
    return True


@pytest.mark.parametrize("lanes", [0, 1, 2, 5])
@pytest.mark.parametrize(("low", "high"), [(0, 16), (3, 12), (-5, 7), (-8, 3), (-3, -2), (0, 15), (-8, 7), (5, 5)])
def test_the_status_is_what_the_executor_says(low: int, high: int, lanes: int) -> None:
    """Lanes 0 is the parallel scheduler; of 2 lanes one is past the end in the last beat, and carries anything."""
    of = program(low, high)
    design = folded.schedule(of, interval_budget=-(-SIZE // lanes)) if lanes else parallel.schedule(of)
    (into,) = [stream for stream in design.streams if not stream.output]
    bits = width(low, high)
    least, most = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if low < 0 else (0, (1 << bits) - 1)
    draw = np.random.default_rng(bits)
    frames = draw.integers(low, high + 1, (10, SIZE))
    for n, value in enumerate((least, most, low - 1, high + 1)):
        frames[2 * n + 1, n % SIZE] = np.clip(value, least, most)
    frames[9, SIZE - 1] = most
    script = []
    for frame in frames.tolist():
        for at in range(0, SIZE, into.lanes):
            group = (frame[at : at + into.lanes] + [(1 << bits) - 1] * into.lanes)[: into.lanes]
            word = sum((value & ((1 << bits) - 1)) << (bits * lane) for lane, value in enumerate(group))
            script.append(f"send_x({into.data_bits}'h{word:x}, {int(at + into.lanes >= SIZE)});")
    events = scripted(design, [*script, "pause(60);"])
    wanted = [int(not defined(of, frame)) for frame in frames]
    assert [data for name, _, data in events if name == "status"] == wanted
    assert (sum(wanted) > 0) == ((low, high) != (least, most))

"""Resets a design while it runs, and compares every beat that it gives with what the integer executor makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.verilog.design import STATUS, Design, Stream
from circuitize.circuits.program import IntegerProgram
from circuitize.sims.rtl.beats import CYCLE_DIGITS, Taken, line_length, written
from circuitize.sims.rtl.compare import Expected, expected
from circuitize.sims.rtl.simulate import Simulation

Integers = NDArray[np.int64]

LONGEST_RESET = 3
"""Cycles; some take one."""


@dataclass(frozen=True)
class Resets:
    """How often a design was reset, how many frames it ended, and the beats that came out and were compared."""

    resets: int
    ended: int
    beats: int
    first_difference: str | None


def check_resets(
    design: Design,
    program: IntegerProgram,
    vectors: Mapping[str, Integers],
    initial: Mapping[str, Integers] | None = None,
    count: int = 100,
    seed: int = 0,
    simulator: str = "icarus",
    backpressure: int | None = None,
) -> Resets:
    """Reset a design `count` times at random cycles while frames go through it.

    After each reset frames enter again from the first one whose status was not taken. Whatever the resets, the outputs
    of frame n are those of the executor's n-th frame, state included: so the state that a reset leaves is that of the
    last frame kept. Half of the resets lie within a few cycles of when a status is taken. `vectors` are as many frames
    as may end, three a reset; `count` is at most `MOST_RESETS`. Raise CircuitizeError as `Simulation.run` does.
    """
    wanted = expected(program, vectors, initial)
    few = {name: frames[:3] for name, frames in vectors.items()}
    (status,) = [stream for stream in design.streams if stream.name == STATUS]
    with Simulation(design, simulator) as simulation:
        simulation.run(few)
        taken = Taken(status, simulation.text(status), 3).cycles - _RELEASED
        made = simulation.run_resets(vectors, plan(count, taken, seed), backpressure)
        texts = {stream: simulation.text(stream) for stream in design.streams if stream.output}
        starts = _cycles(simulation.text(status), status)
    at, kept = np.array(made, np.int64).reshape(-1, 2).T
    found = [_differs(stream, text, at, kept, wanted) for stream, text in texts.items()]
    return Resets(
        resets=len(at),
        ended=len(starts),
        beats=sum(beats for beats, _ in found),
        first_difference=next((told for _, told in found if told), None),
    )


_RELEASED = 9
"""The cycle in which the bench has ended the first reset."""


def plan(count: int, taken: Integers, seed: int) -> Integers:
    """Cycles before and in each reset, [count + 1, 2]; `taken` are those from a reset to the first statuses."""
    random = np.random.default_rng(seed)
    anywhere = random.integers(1, int(taken[-1]) + 4, count + 1)
    near = random.choice(taken, count + 1) + random.integers(-3, 4, count + 1)
    rest = np.where(random.random(count + 1) < 0.5, anywhere, np.maximum(near, 1))
    rest[-1] = int(taken[-1]) * 2 + 8
    return np.stack([rest, random.integers(1, LONGEST_RESET, count + 1, endpoint=True)], axis=1)


def _cycles(text: bytes, stream: Stream) -> Integers:
    """The cycle of each beat of an output."""
    width = CYCLE_DIGITS + line_length(stream)
    rows = np.frombuffer(text, np.uint8).reshape(-1, width)[:, :CYCLE_DIGITS]
    digits = np.where(rows >= ord("a"), rows - ord("a") + 10, rows - ord("0")).astype(np.int64)
    found: Integers = digits @ (16 ** np.arange(CYCLE_DIGITS, dtype=np.int64)[::-1])
    return found


def _differs(stream: Stream, text: bytes, at: Integers, kept: Integers, wanted: Expected) -> tuple[int, str | None]:
    """How many beats of an output were compared, and the first that is not its frame's."""
    cycles = _cycles(text, stream)
    epoch = np.searchsorted(at, cycles, side="right")
    first = np.searchsorted(epoch, np.arange(len(at) + 1))
    place = np.arange(len(cycles)) - first[epoch]
    frame = np.concatenate([[0], kept])[epoch] + place // stream.beats
    values = wanted.outputs[stream.port] if stream.port else wanted.undefined.astype(np.int64)
    lines = np.frombuffer(written(stream, values), np.uint8).reshape(len(values), stream.beats, -1)
    found = np.frombuffer(text, np.uint8).reshape(-1, CYCLE_DIGITS + line_length(stream))[:, CYCLE_DIGITS:]
    differs = (found != lines[frame, place % stream.beats]).any(axis=1)
    if stream.port:
        differs &= ~wanted.undefined[frame]
    if not differs.any():
        return len(cycles), None
    row = int(np.argmax(differs))
    since = f"after reset {epoch[row]} in cycle {at[epoch[row] - 1]}" if epoch[row] else "before any reset"
    return len(cycles), (
        f"stream {stream.name}, cycle {cycles[row]}, {since}: expected beat {place[row] % stream.beats} of frame "
        f"{frame[row]}, {bytes(lines[frame[row], place[row] % stream.beats, :-1]).decode()}, found "
        f"{bytes(found[row, :-1]).decode()}"
    )

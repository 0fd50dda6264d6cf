"""The comparison of a design's outputs for some frames with those of the integer executor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from circuitize.backends.verilog.design import Design
from circuitize.circuits.errors import CircuitizeError, Undefined
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.values import raw

from .. import integer
from .simulate import Frames, Simulation

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Expected:
    """The executor's results for frames: `outputs[port][frame]`, which frames have no value, and why the first of these
    has none.

    For frames without a value, the expected outputs of a design are zero. If a design has state, each frame starts from
    the state that the last frame with a value left.
    """

    outputs: Mapping[str, Integers]
    undefined: NDArray[np.bool_]
    first_undefined: str | None = None


@dataclass
class Comparison:
    """The result of comparing frames of a design; frames without a value are counted separately, and must set the
    status.
    """

    vectors: int = 0
    undefined: int = 0
    mismatches: int = 0
    first_difference: str | None = None
    first_undefined: str | None = None
    latency_cycles: int = 0
    interval_cycles: float = field(default=float("nan"))


def state_names(program: IntegerProgram) -> list[str]:
    """Return the names of the held inputs that an output of the same name updates."""
    outputs = {port.name for port in program.outputs}
    return [port.name for port in program.inputs if port.held and port.name in outputs]


def expected(
    program: IntegerProgram, vectors: Mapping[str, Integers], initial: Mapping[str, Integers] | None = None
) -> Expected:
    """Return the executor's outputs for frames `vectors[port][frame, ...]`, integers of their formats, where state
    starts from `initial`, also integers.

    Raise CircuitizeError for inputs that are missing, misshapen or outside their formats.
    """
    state = dict(initial or {})
    names = [port.name for port in program.inputs if port.name not in state]
    missing = [name for name in names if name not in vectors]
    if missing:
        raise CircuitizeError(f"expected frames of input {missing[0]!r}, found {sorted(vectors)}; add them")
    frames = len(vectors[names[0]])
    made: list[dict[str, Integers]] = []
    undefined = np.zeros(frames, np.bool_)
    first: str | None = None
    blank = {port.name: np.zeros(port.format.shape, np.int64) for port in program.outputs if port.format is not None}
    for frame in range(frames):
        try:
            made.append(integer.run(program, raw(state | {name: vectors[name][frame] for name in names})))
        except Undefined as error:
            undefined[frame] = True
            first = first or f"frame {frame}: {error}"
            made.append(blank)
        else:
            state = {name: made[-1][name] for name in state}
    return Expected({name: np.stack([one[name] for one in made]) for name in blank}, undefined, first)


def compare(frames: Frames, wanted: Expected) -> Comparison:
    """Return how many frames differ, and the first difference by stream, frame and element."""
    undefined = wanted.undefined
    wrong = frames.failed != undefined
    for name, values in wanted.outputs.items():
        differs = (frames.outputs[name] != values).reshape(len(undefined), -1).any(axis=1)
        wrong |= ~undefined & (differs | frames.unknown[name] | frames.padded[name])
    found = Comparison(
        vectors=len(undefined),
        undefined=int(undefined.sum()),
        mismatches=int(wrong.sum()),
        first_undefined=wanted.first_undefined,
        latency_cycles=frames.latency_cycles,
        interval_cycles=frames.interval_cycles,
    )
    if wrong.any():
        found.first_difference = _described(frames, wanted, int(np.argmax(wrong)))
    return found


def check_design(
    design: Design,
    program: IntegerProgram,
    vectors: Mapping[str, Integers],
    initial: Mapping[str, Integers] | None = None,
    simulator: str = "icarus",
    backpressure: int | None = 0,
) -> Comparison:
    """Compare a design with the executor on frames, in one simulation.

    The argument `program` is the program from which the design was made: its inputs are the design's streams, and its
    held inputs are the design's state, which starts from `initial`.
    """
    wanted = expected(program, vectors, initial)
    with Simulation(design, simulator) as simulation:
        return compare(simulation.run(vectors, backpressure), wanted)


def _described(frames: Frames, wanted: Expected, frame: int) -> str:
    if frames.failed[frame] != wanted.undefined[frame]:
        here, there = (1, "a value") if frames.failed[frame] else (0, "no value")
        return f"stream status, frame {frame}: {here} in the design, but the run has {there}"
    for name, values in wanted.outputs.items():
        here, there = frames.outputs[name][frame], values[frame]
        if frames.unknown[name][frame]:
            return f"stream {name}, frame {frame}: bits that are neither 0 nor 1 in the simulation"
        if (here != there).any():
            at = tuple(int(i) for i in np.argwhere(here != there)[0])
            return f"stream {name}, frame {frame}, element {list(at)}: {here[at]} in the design, {there[at]} in the run"
    return f"frame {frame}: lanes past the end of a tensor are not zero"

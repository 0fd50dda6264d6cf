"""Simulating: frames are put through the hardware design in a folder, and its outputs are compared with the integer
executor's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from circuitize.backends.verilog.bound import Bound
from circuitize.backends.verilog.project import Project, Vectors, read_project
from circuitize.circuits.encode import program_digest
from circuitize.circuits.phases import Progress, silent, under_way
from circuitize.sims.rtl import Comparison, Expected, Frames, Simulation, compare
from circuitize.sims.rtl.frames import frames_to_try, right_frames
from circuitize.sims.rtl.frames import vectors as expected_vectors
from circuitize.sims.rtl.given import given_frames

TIMED = 8
"""The number of frames that first pass without gaps or stalls, to measure cycles."""


@dataclass(frozen=True)
class Simulated:
    """The result of a simulation: the comparison of all frames, sent with random gaps and stalls, and the clock cycles
    of the first few frames, sent without gaps.

    The field `right` says, for each output whose answers are known and for each frame, whether the design's answer was
    right; a frame that failed counts as wrong.
    """

    scheduler: str
    digest: str
    compared: Comparison
    latency_cycles: int
    interval_cycles: float | None
    right: Mapping[str, list[bool]]


def simulate(
    folder: Path,
    *,
    frames: int | None = None,
    vectors: Path | None = None,
    seed: int = 0,
    simulator: str = "icarus",
    progress: Progress = silent,
) -> Simulated:
    """Put frames through a design that `compile --target verilog` wrote: the design's own frames, or the first `frames`
    of them, with random frames added if there are fewer.

    The argument `vectors` is a file, .npz or .csv, with frames that replace the design's own. Raise CircuitizeError for
    a damaged folder or file, if the simulator is not installed, and if the simulated design hangs.
    """
    with under_way(progress, "reading the design"):
        project = read_project(folder)
    with under_way(progress, "running the program"):
        tried = _frames(project if vectors is None else _with(project, vectors), frames, seed)
    first = {name: values[:TIMED] for name, values in tried.inputs.items()}
    with under_way(progress, "building the simulation"):
        simulation = Simulation(project.design, simulator)
    with simulation:
        with under_way(progress, "measuring cycles"):
            timed = simulation.run(first)
        with under_way(progress, f"simulating {len(tried)} frames"):
            found = simulation.run(tried.inputs, backpressure=seed)
    undefined = tried.undefined
    reason = f"frame {int(np.argmax(undefined))}" if undefined.any() else None
    compared = compare(found, Expected(tried.outputs, undefined, reason))
    short = {name: values[:TIMED] for name, values in tried.outputs.items()}
    fast = compare(timed, Expected(short, undefined[:TIMED], reason))
    if fast.mismatches and not compared.mismatches:
        compared.mismatches, compared.first_difference = fast.mismatches, f"at full speed: {fast.first_difference}"
    return Simulated(
        project.design.scheduler,
        program_digest(project.program),
        compared,
        timed.latency_cycles,
        None if np.isnan(timed.interval_cycles) else timed.interval_cycles,
        _right(project, tried, found),
    )


def _with(project: Project, path: Path) -> Project:
    """Return the project of a design with the frames of a file in place of its own frames."""
    made = Bound(project.program, project.vectors.initial, project.modal)
    inputs, answers = given_frames(path, made.streamed, project.program.outputs)
    return replace(project, vectors=replace(expected_vectors(made, inputs), answers=answers))


def _frames(project: Project, count: int | None, seed: int) -> Vectors:
    """Return the first `count` of a design's own frames, with random frames added if there are fewer."""
    own = project.vectors
    if count is None or count == len(own):
        return own
    if count < len(own):
        return replace(
            own,
            inputs={name: frames[:count] for name, frames in own.inputs.items()},
            outputs={name: frames[:count] for name, frames in own.outputs.items()},
            undefined=own.undefined[:count],
            answers={name: frames[:count] for name, frames in own.answers.items()},
        )
    frames = [{name: frames[n] for name, frames in own.inputs.items()} for n in range(len(own))]
    made = Bound(project.program, own.initial, project.modal)
    more = frames_to_try(made, count - len(own), seed, frames)
    joined = {name: np.concatenate([frames, more[name]]) for name, frames in own.inputs.items()}
    return replace(expected_vectors(made, joined), answers=own.answers)


def _right(project: Project, tried: Vectors, found: Frames) -> dict[str, list[bool]]:
    """Return, for each output whose answers are known, whether each frame gave the right answer; a frame that failed
    counts as wrong.
    """
    made = {}
    for port in project.program.outputs:
        if port.name in tried.answers and port.format is not None:
            answers = tried.answers[port.name]
            values = found.outputs[port.name][: len(answers)]
            right = right_frames(values, answers, port.format.fraction_bits) & ~found.failed[: len(answers)]
            made[port.name] = right.tolist()
    return made

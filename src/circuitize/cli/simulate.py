"""`circuitize simulate`: puts frames through emitted Verilog and compares with the integer executor."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .hardware import Bound, accuracy, frames_to_try, vectors
from .output import print_json, print_table, progress, remark, say

if TYPE_CHECKING:
    from circuitize.backends.verilog.project import Project, Vectors
    from circuitize.sims.rtl import Comparison, Frames

TIMED = 8
"""Frames that are put through without gaps or stalls first, to measure cycles."""


def run(options: Namespace) -> int:
    """0 where every frame equals the executor, 1 where one differs."""
    from circuitize.backends.verilog.project import read_project
    from circuitize.sims.rtl import Expected, Simulation, compare

    with progress("reading the design"):
        project = read_project(options.design)
    with progress("running the program"):
        tried = _frames(project, options.frames, options.seed)
    first = {name: frames[:TIMED] for name, frames in tried.inputs.items()}
    with progress("building the simulation"):
        simulation = Simulation(project.design, options.simulator)
    with simulation:
        with progress("measuring cycles"):
            timed = simulation.run(first)
        with progress(f"simulating {len(tried)} frames"):
            found = simulation.run(tried.inputs, backpressure=options.seed)
    undefined = tried.undefined
    reason = f"frame {int(np.argmax(undefined))}" if undefined.any() else None
    compared = compare(found, Expected(tried.outputs, undefined, reason))
    short = {name: values[:TIMED] for name, values in tried.outputs.items()}
    fast = compare(timed, Expected(short, undefined[:TIMED], reason))
    if fast.mismatches and not compared.mismatches:
        compared.mismatches, compared.first_difference = fast.mismatches, f"at full speed: {fast.first_difference}"
    rights = _rights(project, tried, found)
    shares = {name: sum(right) / len(right) for name, right in rights.items()}
    if options.json:
        print_json(_report(project, options, compared, timed, shares))
    else:
        _show(project, options, compared, timed, rights)
    return 1 if compared.mismatches else 0


def _frames(project: Project, count: int | None, seed: int) -> Vectors:
    """The frames that the design came with; of them the first few, or with random ones after them, where asked for."""
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
    made = Bound(project.program, own.initial)
    more = frames_to_try(made, count - len(own), seed, frames)
    joined = {name: np.concatenate([frames, more[name]]) for name, frames in own.inputs.items()}
    return replace(vectors(made, joined), answers=own.answers)


def _rights(project: Project, tried: Vectors, found: Frames) -> dict[str, list[bool]]:
    """By output with answers, whether each frame that has one gave it; a failed frame gave none."""
    made = {}
    for port in project.program.outputs:
        if port.name in tried.answers and port.format is not None:
            answers = tried.answers[port.name]
            values = found.outputs[port.name][: len(answers)]
            right = accuracy(values, answers, port.format.fraction_bits) & ~found.failed[: len(answers)]
            made[port.name] = right.tolist()
    return made


def _report(
    project: Project, options: Namespace, compared: Comparison, timed: Frames, shares: dict[str, float]
) -> dict[str, Any]:
    from circuitize.circuits.encode import program_digest

    interval = None if np.isnan(timed.interval_cycles) else timed.interval_cycles
    return {
        "vectors": compared.vectors,
        "undefined": compared.undefined,
        "mismatches": compared.mismatches,
        "targets": ["verilog"],
        "first_difference": compared.first_difference,
        "scheduler": project.design.scheduler,
        "simulator": options.simulator,
        "seed": options.seed,
        "latency_cycles": timed.latency_cycles,
        "interval_cycles": interval,
        "accuracy": shares,
        "digest": program_digest(project.program),
    }


def _show(
    project: Project, options: Namespace, compared: Comparison, timed: Frames, rights: dict[str, list[bool]]
) -> None:
    state = f"DIFFERS on {compared.mismatches}" if compared.mismatches else "equals the integer executor"
    made = f"{project.design.scheduler} design in {options.simulator}"
    counts = f"{compared.vectors} frames, {compared.mismatches} mismatches, {compared.undefined} undefined"
    say(f"{options.design}: {made} {state}, {counts}")
    if compared.first_difference:
        say(f"  first difference: {compared.first_difference}")
    rows: list[tuple[str, object]] = [("latency, cycles", timed.latency_cycles)]
    if not np.isnan(timed.interval_cycles):
        rows.append(("cycles a frame", f"{timed.interval_cycles:,.10g}"))
    for name, right in rights.items():
        rows.append((f"accuracy of {name}", f"{sum(right) / len(right):.1%} ({sum(right)} of {len(right)})"))
    print_table(rows)
    if compared.undefined == compared.vectors:
        remark("the program has a value on none of these frames; give it examples")

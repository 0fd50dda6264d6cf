"""Calibration over a whole training run: it finds the steps with the most extreme values, and a margin for the ranges
that is wide enough for the run in integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.arrays.composite import expand_composites
from circuitize.circuits.calibrate import example_inputs, observe
from circuitize.circuits.errors import CircuitizeError, Undefined, restated
from circuitize.circuits.phases import Progress, silent
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.circuits.quantize import quantize
from circuitize.circuits.simplify import simplify
from circuitize.sims import integer, real

MOST_MARGIN = 64.0

Batch = Mapping[str, Any]
Batches = Iterable[Batch]


def calibrated(step: Program, initial: Batch, batches: Batches, *, progress: Progress = silent) -> Program:
    """Return a training step calibrated on a whole run, which starts from the given initial values and takes one step
    for each batch.

    Calibration first runs the training in float64; every step in which some wire takes a more extreme value than in all
    other steps becomes an example of the program, the last step first. Calibration then runs the training in integers,
    and doubles the margin of the formats until no step leaves its range: the precision of the returned program contains
    the margin that sufficed. Calibration takes as long as one run in float64 and the runs in integers together.

    Raise CircuitizeError if a value is missing, not finite or out of its format, or if no margin up to 64 suffices.
    """
    if not (isinstance(initial, Mapping) and isinstance(batches, Iterable)):
        raise CircuitizeError(
            f"expected initial values by name and batches, found {type(initial).__name__} and "
            f"{type(batches).__name__}; give start(step, model), and data.batches(...)"
        )
    run = list(batches)
    if not run:
        raise CircuitizeError("expected a batch for each step to calibrate on, found none; give at least one epoch")
    examples = _furthest(step, initial, run, progress)
    found = replace(step, examples=tuple(examples))
    while True:
        failure = _failure(quantize(found), initial, run, progress)
        if failure is None:
            return found
        margin = 2 * found.precision.margin
        if margin > MOST_MARGIN:
            raise CircuitizeError(
                f"expected a margin of at most {MOST_MARGIN:g} to hold for the whole run, found that none does: "
                f"{failure}; lower the learning rate, or widen the formats that the message names"
            )
        found = replace(found, precision=replace(found.precision, margin=margin))


def _furthest(step: Program, initial: Batch, run: list[Batch], progress: Progress) -> list[Batch]:
    """Return the steps of a float64 run that together reach, for every wire, the exponent of its greatest magnitude."""
    arrow = simplify(expand_composites(step.arrow))
    held = dict(initial)
    kept: list[tuple[Batch, NDArray[np.int64]]] = []
    reached = np.full(arrow.wire_count, np.iinfo(np.int64).min)
    for number, outputs in enumerate(real.train(step, initial, run)):
        if number % 100 == 0:
            progress(f"calibrating on step {number + 1:,} of {len(run):,}")
        example = {**held, **run[number]}
        try:
            given = example_inputs(step, example, f"step {number + 1}")
        except CircuitizeError as error:
            if number and any(f"input {name!r}" in str(error) for name in initial):
                raise restated(error, f"{error}, or lower the learning rate") from None
            raise
        magnitudes = observe(arrow, given)
        exponents = np.where(magnitudes > 0, np.frexp(magnitudes)[1].astype(np.int64), np.iinfo(np.int64).min)
        if number == len(run) - 1 or (exponents > reached).any():
            kept.append((example, exponents))
            reached = np.maximum(reached, exponents)
        held = {name: outputs[name] for name in initial}
    progress("")
    kept.reverse()
    chosen: list[Batch] = [kept[0][0]]
    covered = kept[0][1]
    for earlier, exponents in kept[1:]:
        if (exponents > covered).any():
            chosen.append(earlier)
            covered = np.maximum(covered, exponents)
    return chosen


def _failure(program: IntegerProgram, initial: Batch, run: list[Batch], progress: Progress) -> str | None:
    """Return a text that says why a run in integers has no value and at which step, or None if the run has a value."""
    number = 0
    try:
        for number, _ in enumerate(integer.train(program, initial, run), 1):
            if number % 100 == 0:
                progress(f"trying the margin on step {number:,} of {len(run):,}")
    except Undefined as error:
        return f"step {number + 1}: {error}"
    finally:
        progress("")
    return None

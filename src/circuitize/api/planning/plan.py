"""Planning: the Pareto front of the ways to build a program, or the limits that contradict each other."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NoReturn

from circuitize.api.exact import Exact
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.phases import Progress, silent
from circuitize.circuits.program import IntegerProgram, Program, as_integers

from .circuits import Plonkish, RankOne
from .conflicts import Conflict, conflicts
from .design import Problem, Remembered
from .explore import Explored, explore
from .formats import BITS, Examples, Formats
from .front import Planned
from .hardware import Hardware
from .point import Point
from .query import Query, query
from .sumchecks import Sumchecks

WITHIN = 60.0
"""The most seconds of a search, by default."""

MOST_BITS = 40


def plan(
    program: Program | Exact,
    objectives: Collection[str],
    limits: Mapping[str, float] | None = None,
    *,
    targets: Collection[str] = (),
    steps: int = 1,
    bits: Sequence[int] = BITS,
    held_out: Examples = (),
    dataset_size: int | None = None,
    within: float = WITHIN,
    progress: Progress = silent,
) -> Planned:
    """Return the ways to build a program, by format, partition and target, that are minimal in the objectives and
    within the limits.

    Objectives and limits are named as in `QUANTITIES`; without `targets`, the search covers the targets for which all
    named quantities are known. The argument `steps` says how often the program is run and proved: seconds and bytes are
    those of all these proofs together, and a tensor proof may cover several steps, on batches of a dataset of
    `dataset_size` examples, by default as many as the program has. The argument `bits` gives the numbers of fraction
    bits to try; a program of integers keeps its formats. Errors are measured on the examples `held_out`, given as real
    values by input name, which calibration does not see; by default, they are measured on the program's own examples.

    The search ends after `within` seconds and returns the designs found until then. Raise CircuitizeError for an
    invalid query, and if no design was found for another reason than the limits.
    """
    given = program.given if isinstance(program, Exact) else program
    if not isinstance(given, Program):
        raise CircuitizeError(f"expected a Program, found {type(given).__name__}; see training_step")
    if not (isinstance(within, int | float) and math.isfinite(within) and within >= 0):
        raise CircuitizeError(f"within: expected seconds, at least 0, found {within!r}; write 60, say")
    until = time.monotonic() + within
    _require_counts({"steps": steps} | ({} if dataset_size is None else {"dataset_size": dataset_size}))
    meaning = as_integers(given) or given
    asked = query(given, objectives, limits or {}, targets, real=not isinstance(meaning, IntegerProgram))
    examples = list(held_out) or list(given.examples)
    formats = Formats(meaning, _bits(bits), examples)
    circuits = {
        target: [Remembered(problem) for problem in _problems(target, asked, steps, dataset_size)]
        for target in asked.targets
    }
    found = explore(asked, formats, circuits, until, progress)
    why: tuple[Conflict, ...] = ()
    if not found.front and asked.limits and found.complete:
        # Designs that are minimal in what has limits tell which of these contradict each other.
        wider = explore(replace(asked, objectives=(*asked.limits,), limits={}), formats, circuits, until, progress)
        found, why = replace(wider, front=[]), conflicts(wider.front, asked.limits) if wider.front else ()
    told = {"formats": formats.refused, **found.left_out}
    left_out = {name: reasons for name, reasons in told.items() if reasons}
    if not found.front and not (why and found.complete):
        _refuse(found, left_out, within)
    points = tuple(Point(design, steps, dataset_size) for design in found.front)
    counts = len(examples), bool(held_out), found.sized, found.let_go, found.complete
    return Planned(asked, points, why, *counts, left_out, steps)


def _problems(target: str, asked: Query, steps: int, dataset_size: int | None) -> Sequence[Problem]:
    """Return the series of design problems of a target that follow once the formats are decided."""
    if target == "verilog":
        hardware = Hardware(asked.limits)
        return hardware.schedules, hardware.laid_out
    if target == "tensor":
        proofs = Sumchecks(steps, dataset_size, asked.limits)
        return proofs.divided, proofs.planned
    if target == "plonkish":
        layouts = Plonkish(steps, "bytes" in asked.named)
        return layouts.laid_out, layouts.emitted
    system = RankOne(target, steps)
    return system.sized, system.counted


def _bits(bits: Sequence[int]) -> Sequence[int]:
    """Raise CircuitizeError unless the given values are valid numbers of fraction bits."""
    wrong = [count for count in bits if type(count) is not int or not 0 <= count <= MOST_BITS]
    if wrong or not bits:
        found = repr(wrong[0]) if wrong else "none"
        raise CircuitizeError(f"expected fraction bits from 0 to {MOST_BITS}, found {found}; give range(4, 19), say")
    return bits


def _require_counts(given: Mapping[str, object]) -> None:
    for name, count in given.items():
        if type(count) is not int or count < 1:
            raise CircuitizeError(f"{name}: expected a whole number of at least 1, found {count!r}; correct it")


def _refuse(found: Explored, left_out: Mapping[str, Mapping[str, int]], within: float) -> NoReturn:
    """Raise the CircuitizeError which says that no design was found, for another reason than the limits."""
    if not found.complete:
        raise CircuitizeError(
            f"expected a design within the limits in {within:g} seconds, found none among {found.sized:,}; give more "
            "time, fewer bits, or one target"
        )
    reasons = [f"{name}: {reason}" for name, told in left_out.items() for reason in told]
    raise CircuitizeError(f"expected a design, found none; {reasons[0] if reasons else 'give other bits'}")

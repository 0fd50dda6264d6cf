"""The comparison of a program's simulated designs with the integer executor, if a simulator is installed."""

from __future__ import annotations

from dataclasses import dataclass

from circuitize.backends.verilog.bound import Bound, integrated
from circuitize.backends.verilog.sizes import unrolled
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.program import IntegerProgram

from .compare import Comparison, check_design
from .frames import bound_somehow, frames_to_try
from .simulators import REMEDIES, available

MOST_UNROLLED = 1_000
"""The number of products up to which `check` also runs the parallel design; larger designs take longer to simulate than
to prove.
"""

MOST_FOLDED = 1 << 22
"""The number of products beyond which a single frame takes too long to simulate."""

MOST_CYCLES = 200_000
"""The cycles that `check` spends on a folded design: for large programs it tries fewer frames."""


@dataclass(frozen=True)
class DesignRun:
    """A design by its name, with the result of its comparison, or the reason why it was not compared."""

    name: str
    found: Comparison | None
    reason: str = ""


def check_designs(program: IntegerProgram, count: int, seed: int) -> list[DesignRun]:
    """Run a program's designs on up to `count` frames each, with random gaps and stalls.

    A design of the parallel scheduler is run if the program is small, and a design of the folded scheduler in any case.
    When designs are checked, held inputs and the starting state are those of the first example. A program that a
    scheduler refuses counts as no difference: the reason of the refusal is reported instead.
    """
    simulators = available()
    if not simulators:
        return [DesignRun("verilog", None, f"no simulator here; {REMEDIES['icarus']}")]
    try:
        made = bound_somehow(program)
    except CircuitizeError as error:
        return [DesignRun("verilog", None, str(error))]
    size = unrolled(made.program.arrow)
    runs = []
    for scheduler, most in (("parallel", MOST_UNROLLED), ("folded", MOST_FOLDED)):
        name = f"verilog {scheduler} in {simulators[0].name}"
        if size > most:
            runs.append(DesignRun(name, None, f"{size:,} products are more than check simulates, {most:,}"))
        else:
            runs.append(_run(made, scheduler, name, simulators[0].name, count, seed))
    return runs


def _run(made: Bound, scheduler: str, name: str, simulator: str, count: int, seed: int) -> DesignRun:
    try:
        found = integrated(made, scheduler, {})
    except CircuitizeError as error:
        return DesignRun(name, None, str(error))
    interval = max(1, int(found.report.get("interval_cycles", 1)))
    frames = frames_to_try(made, min(count, max(1, MOST_CYCLES // interval)), seed)
    try:
        return DesignRun(name, check_design(found, made.program, frames, made.initial, simulator, seed))
    except CircuitizeError as error:
        return DesignRun(name, _failed(str(error), len(next(iter(frames.values())))))


def _failed(told: str, frames: int) -> Comparison:
    """Return the comparison for a design that hangs or breaks its protocol: every frame differs."""
    return Comparison(vectors=frames, mismatches=frames, first_difference=told)

"""Run a program on every target that this machine has, and compare each with the integer executor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.phases import Phases, Progress, silent, under_way
from circuitize.circuits.program import IntegerProgram, Program
from circuitize.sims import agree
from circuitize.sims.agree import Agreement, OnDevice
from circuitize.sims.rtl.designs import DesignRun
from circuitize.sims.vectors import Vector, inputs_to_try
from circuitize.sims.xla.device import devices

from .exact import Exact, exact
from .targets.registry import TARGETS


@dataclass(frozen=True)
class Checked:
    """The result of a check: which targets were compared, on which inputs, and the first difference. The result of a
    check is true if no target differs from the integer executor.

    The field `targets` of the result lists the targets that were run; `designs` lists the hardware designs, each of
    which was simulated on its own frames or left out.
    """

    digest: str
    agreement: Agreement
    targets: tuple[str, ...]
    designs: tuple[DesignRun, ...]

    def __bool__(self) -> bool:
        return not self.agreement.mismatches

    def __repr__(self) -> str:
        found = self.agreement
        state = "equal the integer executor" if self else f"NOT equal: {found.first_difference}"
        return f"Checked({', '.join(self.targets)}: {state}, on {found.vectors - found.undefined} inputs)"


def check(program: Program | Exact, *, vectors: int = 10, seed: int = 0, progress: Progress = silent) -> Checked:
    """Run a program in every target, on its examples, on values near them and on random values, and compare the results
    with the integer executor's.

    On inputs for which the integer executor finds the program undefined, no target may give a value. A target that has
    no circuit of the program is left out of the check. Raise CircuitizeError for a program without ports that a proof
    binds, or if the program is undefined on all of the `vectors` inputs.
    """
    made = exact(program, Phases(progress))
    compared = _compared(made.integer, progress)
    tried = _watched(inputs_to_try(made.integer, vectors, np.random.default_rng(seed)), vectors, progress)
    found = agree.agree(made.integer, tried, compared, made.given)
    if found.undefined == found.vectors:
        raise CircuitizeError(
            f"expected inputs on which the program is defined, found none among {vectors} ({found.first_undefined}); "
            "give the program examples"
        )
    with under_way(progress, "simulating hardware"):
        designs = [run for target in TARGETS.values() for run in target.check_designs(made.integer, vectors, seed)]
    for run in designs:
        if run.found is not None and run.found.mismatches:
            found.mismatches += run.found.mismatches
            found.first_difference = found.first_difference or f"{run.name}: {run.found.first_difference}"
    names = [target.name for target in compared] + [run.name for run in designs if run.found is not None]
    return Checked(made.digest, found, tuple(names), tuple(designs))


def check_files(folder: Path, progress: Progress = silent) -> tuple[str, str, Agreement]:
    """Check, from the files alone, whether the witness in a folder that `compile --witness` wrote satisfies the
    circuit.

    Return the name of the target, the name of the circuit that the witness must satisfy, and the result of the check.
    If no target recognises the folder, the folder is checked as one of the first target.
    """
    written = {name: files.marker for name, target in TARGETS.items() if (files := target.files) is not None}
    name = next((name for name in reversed(written) if (folder / written[name]).exists()), next(iter(written)))
    with under_way(progress, "checking the files"):
        held, failed = TARGETS[name].check_files(folder)
    return name, held, Agreement(vectors=1, mismatches=int(failed is not None), first_difference=failed)


def _compared(program: IntegerProgram, progress: Progress) -> list[agree.Target]:
    """Return all targets to check: first the circuits that every program has, then the other circuits, then the integer
    executor on each available device.
    """
    found: list[agree.Target] = []
    for target in sorted(TARGETS.values(), key=lambda target: target.optional):
        try:
            with under_way(progress, f"emitting for {target.name}"):
                made = target.check(program)
        except CircuitizeError:
            if not target.optional:
                raise
        else:
            found += [made] if made is not None else []
    return [*found, *(OnDevice(program, device) for device in devices())]


def _watched(vectors: Iterator[Vector], count: int, progress: Progress) -> Iterator[Vector]:
    for number, vector in enumerate(vectors, 1):
        with under_way(progress, f"comparing input {number} of {count}"):
            yield vector

"""The greatest lengths that the files of a run can have, by the verifier's own program, and the check that the files in
a folder are no longer.
"""

from __future__ import annotations

import os
from pathlib import Path

from circuitize.circuits.port import Visibility

from ..cost import most_bytes
from .chunk import Chunk
from .files import HEADER, RENEWALS, STEPS
from .setting import Run

BESIDE = 1024
"""The bytes of a step's statement beside its ports: the run's name, the step's number, and fields of later versions."""


SPARE = 64
"""The number of further files that a run's folder may have beside the proofs."""


def stated_bytes(run: Run) -> int:
    """Return the greatest length of the statement in a proof of the run: public values, and the roots before and
    after.
    """
    return max(_stated_bytes(chunk) for chunk in run.chunks)


def _stated_bytes(chunk: Chunk) -> int:
    program, found = chunk.program, BESIDE
    for port in (*program.inputs, *program.outputs):
        found += 6 * len(port.name) + 32
        if port.visibility is Visibility.PUBLIC and port.format is not None:
            digits = max(len(str(port.format.low)), len(str(port.format.high)))
            found += port.format.size * (digits + len(", "))
    return found + sum(6 * len(name) + 96 for _, name in chunk.plan.groups)


def step_bytes(run: Run) -> int:
    """Return the greatest length of the file of a proof of the run's steps."""
    return HEADER + stated_bytes(run) + max(most_bytes(chunk.plan) for chunk in run.chunks)


def evaluation_bytes(chunk: Chunk) -> tuple[int, int]:
    """Return the greatest length of the file of an evaluation's proof, and of the statement in it."""
    stated = _stated_bytes(chunk)
    return HEADER + stated + most_bytes(chunk.plan), stated


def formats_bytes(run: Run) -> int:
    """Return the greatest length of the file of the run's proof of formats."""
    return most_bytes(run.formats_plan)


def renewal_bytes(run: Run) -> int:
    """Return the greatest length of a proof that two roots commit to the same dataset."""
    return max(most_bytes(run.renewal_plan(step)) for step in (run.first, run.first + 1))


def too_much(run: Run, folder: Path) -> str | None:
    """Return a text that says, before any proof is read, why a folder cannot contain exactly the proofs of a run, or
    None if it can.
    """
    reason = _too_much(folder / STEPS, run.proofs, step_bytes(run))
    if reason is None and run.renewals:
        reason = _too_much(folder / RENEWALS, run.renewals, renewal_bytes(run))
    return reason


def _too_much(folder: Path, proofs: int, most: int) -> str | None:
    try:
        with os.scandir(folder) as entries:
            for number, entry in enumerate(entries, 1):
                size = entry.stat().st_size if entry.is_file() else 0
                if size > most:
                    return f"{entry.path}: expected a proof of at most {most:,} bytes, found {size:,}"
                if number > proofs + SPARE:
                    return f"expected {proofs} proofs in {folder}, found more than {number - 1} files"
    except OSError:
        return None
    return None

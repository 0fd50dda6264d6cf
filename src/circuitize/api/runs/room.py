"""What a run of steps will take, said before it begins: seconds, bytes on disk, and whether the disk has them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.memory import amount_of_bytes
from circuitize.circuits.phases import Progress

from .spelling import Spelling

WORTH_SAYING = 60.0
"""Seconds from which on it is said how long a run will take."""

FILE_BYTES = 4096
"""What a file system takes for a file beyond its bytes, at most, on most of them."""


def require_room(
    folder: Path, steps: int, per_proof: int, proof_bytes: float, seconds: float, say: Progress, spelling: Spelling
) -> None:
    """Raises CircuitizeError where the proofs of a run cannot fit on the disk; `say` is told where they take long.

    `proof_bytes` and `seconds` are those of one proof, as predicted. What an interrupted run left in the folder counts.
    """
    proofs = steps // per_proof
    each = proof_bytes + FILE_BYTES
    place = Path(os.path.abspath(folder))
    while not place.exists():
        place = place.parent
    try:
        there = sum(entry.stat().st_size + FILE_BYTES for entry in folder.iterdir()) if folder.is_dir() else 0
        free = shutil.disk_usage(place).free
    except OSError:
        return
    needed = proofs * each - there
    if needed > free:
        most = int((free + there) / each) * per_proof
        raise CircuitizeError(
            f"{spelling.option('steps')}: expected at most about {most:,} steps, whose proofs fit in the "
            f"{amount_of_bytes(free)} free at {place}, found {steps:,}, which take {amount_of_bytes(int(needed))} "
            f"and {duration(proofs * seconds)}; prove fewer and go on with {spelling.option('after')}, more of them in "
            f"a proof ({spelling.option('per_proof')}), or on a larger disk"
        )
    if proofs * seconds > WORTH_SAYING:
        say(
            f"{steps:,} steps take about {duration(proofs * seconds)} and {amount_of_bytes(int(proofs * each))} of the "
            f"{amount_of_bytes(free)} free; an interrupted run goes on with the same command"
        )


def duration(seconds: float) -> str:
    """Seconds in the largest unit that keeps them at least two."""
    for unit, length in (("years", 31_557_600), ("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:.0f} seconds"

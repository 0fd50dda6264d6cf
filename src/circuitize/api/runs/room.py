"""The predicted cost of a run, reported before it begins: seconds, bytes on disk, and whether the disk has them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from circuitize.backends.tensor.groups import DATA
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.memory import amount_of_bytes
from circuitize.circuits.phases import Progress
from circuitize.provers.tensor.cost import sizes
from circuitize.provers.tensor.runs.setting import Run

from .spelling import Spelling

WORTH_SAYING = 60.0
"""The seconds from which on the predicted time of a run is reported."""

FILE_BYTES = 4096
"""The most bytes that most file systems take for a file beyond its content."""


def predicted(run: Run) -> tuple[float, float]:
    """Return the predicted bytes of all files of a run, and the processor seconds that its proofs take."""
    formats = sizes(run.formats_plan)
    parts = [(run.counts[chunk.count], sizes(chunk.plan, {*run.kept, DATA})) for chunk in run.chunks]
    parts += [(run.renewals, sizes(run.renewal_plan(run.last), {DATA}))] if run.renewals else []
    bytes, seconds = formats["proof_bytes"] + FILE_BYTES, formats["prover_cpu_seconds"]
    for often, size in parts:
        bytes += often * (size["proof_bytes"] + FILE_BYTES)
        seconds += often * size["prover_cpu_seconds"]
    return bytes, seconds


def require_room(folder: Path, run: Run, bytes: float, seconds: float, say: Progress, spelling: Spelling) -> None:
    """Raise CircuitizeError if the proofs of a run do not fit on the disk; `say` is called with a remark if the proofs
    take long.

    The arguments `bytes` and `seconds` are the predicted totals for all proofs of the run. Proofs of an interrupted run
    that are already in the folder are not counted in the predicted totals.
    """
    steps = run.steps
    place = Path(os.path.abspath(folder))
    while not place.exists():
        place = place.parent
    try:
        there = sum(entry.stat().st_size + FILE_BYTES for entry in folder.iterdir()) if folder.is_dir() else 0
        free = shutil.disk_usage(place).free
    except OSError:
        return
    needed = bytes - there
    if needed > free:
        most = int((free + there) / bytes * steps)
        raise CircuitizeError(
            f"{spelling.option('steps')}: expected at most about {most:,} steps, whose proofs fit in the "
            f"{amount_of_bytes(free)} free at {place}, found {steps:,}, which take {amount_of_bytes(int(needed))} "
            f"and {duration(seconds)}; prove fewer and go on with {spelling.option('after')}, more of them in "
            f"a proof ({spelling.option('per_proof')}), or on a larger disk"
        )
    if seconds > WORTH_SAYING:
        say(
            f"{steps:,} steps take about {duration(seconds)} and {amount_of_bytes(int(bytes))} of the "
            f"{amount_of_bytes(free)} free; an interrupted run goes on with the same command"
        )


def duration(seconds: float) -> str:
    """Return a duration as text, in the largest unit in which the number is at least two."""
    for unit, length in (("years", 31_557_600), ("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:.0f} seconds"

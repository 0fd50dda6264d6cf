"""A query as words say it, and all that is to be written of its answer: what a command asks for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from circuitize.circuits.folder import require_file, require_folder
from circuitize.circuits.phases import Progress
from circuitize.circuits.program import Program

from .front import Planned
from .held_out import read_held_out
from .plan import plan
from .query import limits_of
from .written import FILES, PLAN_FILE


@dataclass(frozen=True)
class Request:
    """Objectives and limits, and where the chosen point's folder and the picture go, if anywhere."""

    objectives: tuple[str, ...]
    limits: Mapping[str, float]
    folder: Path | None
    picture: Path | None


def requested(objectives: Iterable[str], limits: Iterable[str], folder: Path | None, picture: Path | None) -> Request:
    """A request of words: names joined by commas, and limits NAME=NUMBER. Before there is work.

    Raises CircuitizeError for limits that are not written so, and where nothing can be written.
    """
    if folder is not None:
        require_folder(folder, PLAN_FILE, FILES)
    require_file(picture)
    names = tuple(name for joined in objectives for name in joined.split(","))
    return Request(names, limits_of(limits), folder, picture)


def answered(
    request: Request,
    program: Program,
    targets: Collection[str],
    point: int,
    progress: Progress,
    *,
    held_out: Path | None,
    **options: Any,
) -> tuple[Planned, list[str]]:
    """The answer, and what to do with the folder that was written, in lines. Raises CircuitizeError as `plan` does."""
    examples = read_held_out(held_out, program)
    found = plan(
        program, request.objectives, request.limits, targets=targets, held_out=examples, progress=progress, **options
    )
    if not found:
        return found, []
    if request.picture is not None:
        found.plot(request.picture)
    if request.folder is None:
        return found, []
    chosen = found.write(request.folder, point)
    return found, [f"{request.folder}: point {point}; next:", *chosen.commands_in(request.folder)]

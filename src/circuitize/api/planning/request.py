"""The words of a `circuitize plan` command as a query, and the files for its answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.folder import require_file, require_folder
from circuitize.circuits.phases import Progress
from circuitize.circuits.program import Program

from .front import Planned
from .held_out import read_held_out
from .plan import plan
from .query import limits_of
from .written import FILES, PLAN_FILE, require_examples


@dataclass(frozen=True)
class Request:
    """A query with its fraction bits to try, the folder for the chosen point and the file for the picture; the last two
    are None if they are not wanted.
    """

    objectives: tuple[str, ...]
    limits: Mapping[str, float]
    bits: range
    folder: Path | None
    picture: Path | None


def requested(
    objectives: Iterable[str], limits: Iterable[str], bits: str, folder: Path | None, picture: Path | None
) -> Request:
    """Return the request that the words of a command make: names joined by commas, limits NAME=NUMBER, and bits
    LOW:HIGH. The words of the command are checked before any work begins.

    Raise CircuitizeError for limits of another form, and if the files of the answer cannot be written.
    """
    if folder is not None:
        require_folder(folder, PLAN_FILE, FILES)
    require_file(picture)
    if picture is not None and picture.suffix != ".svg":
        raise CircuitizeError(f"{picture}: expected a file that ends in .svg, found {picture.suffix or 'no ending'!r}")
    names = tuple(name for joined in objectives for name in joined.split(","))
    return Request(names, limits_of(limits), _bits(bits), folder, picture)


def _bits(text: str) -> range:
    low, _, high = text.partition(":")
    if not (low.isdecimal() and high.isdecimal() and int(low) <= int(high)):
        raise CircuitizeError(f"--bits: expected LOW:HIGH, found {text!r}; write 4:18, say")
    return range(int(low), int(high) + 1)


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
    """Return the answer to a request, and lines of text that say what to do with the written folder. Raise
    CircuitizeError for the same reasons as `plan`.
    """
    if request.folder is not None:
        require_examples(program)
    examples = read_held_out(held_out, program)
    asked = {"targets": targets, "bits": request.bits, "held_out": examples, "progress": progress, **options}
    found = plan(program, request.objectives, request.limits, **asked)
    if not found:
        return found, []
    if request.picture is not None:
        found.plot(request.picture)
    if request.folder is None:
        return found, []
    chosen = found.write(request.folder, point)
    return found, [f"{request.folder}: point {point}; next:", *chosen.commands_in(request.folder)]

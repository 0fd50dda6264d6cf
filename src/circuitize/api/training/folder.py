"""The folder of a training: a description of the training, the inputs of `prove-run`, and the point from which the
training resumes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from circuitize.backends.tensor.dataset import batch_ports, whole
from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.circuits.files import remove_parts, write_whole
from circuitize.circuits.operation import Values
from circuitize.circuits.reading import Json, parse_json, read_at_most
from circuitize.circuits.saved import save

from ..values import write_npz, write_outputs
from . import checkpoint
from .course import Course
from .executing import Running

MANIFEST = "training.json"
PROGRAM, DATASET, INITIAL = "program.arrow", "data.npz", "initial.npz"
"""The inputs of `prove-run`: the integer program, its examples as reals, and the start as integers of its formats."""
SCALARS = "scalars.npz"
"""The scalars of each step, as integers of their formats."""

VERSION = 2
MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class Setting:
    """The settings that identify the training in a folder, which a resumed training must share: hashes, executors, and
    the number of steps between checkpoints.

    The field `journal` says whether a journal is kept of every step from the first on; a resumed training need not
    share it.
    """

    course: str
    seed: str
    executor: str
    every: int
    test: str | None
    journal: bool
    record: bool

    def write(self, folder: Path, steps: int, roots: Mapping[str, str], final: Mapping[str, str] | None = None) -> None:
        """Write the description of the training, with the number of its steps and, once all steps are done, the final
        roots.
        """
        said = {"circuitize training": VERSION, **asdict(self), "steps": steps, "roots": dict(roots)}
        said |= {} if final is None else {"final": dict(final)}
        write_whole(folder / MANIFEST, [(json.dumps(said, indent=2) + "\n").encode()])


def read_manifest(folder: Path) -> Json:
    """Return the description of a training, which its folder contains. Raise CircuitizeError if the folder has no
    description, and FormatError if the file is something else.
    """
    path = folder / MANIFEST
    try:
        found = parse_json(read_at_most(path, MOST_BYTES, "a training", "choose another folder"), MOST_BYTES)
    except OSError as error:
        raise CircuitizeError(f"{path}: expected a training, found {error.strerror or error}; check the path") from None
    except ValueError:
        found = None
    if (
        not isinstance(found, dict)
        or found.get("circuitize training") != VERSION
        or not _are_roots(found.get("roots"))
        or not _are_roots(found.get("final", {}))
    ):
        raise FormatError(
            f"{path}: expected a training of version {VERSION}, found another file; choose another folder"
        )
    return found


def _are_roots(found: object) -> bool:
    return isinstance(found, dict) and all(isinstance(root, str) for root in found.values())


def begin(folder: Path, course: Course) -> None:
    """Write those inputs of `prove-run` that do not change during a training: everything but the scalars."""
    save(course.step.integer, folder / PROGRAM)
    tensors = [whole(port, course.size) for port in batch_ports(course.step.integer)]
    write_outputs(folder / DATASET, tensors, course.data, raw=False)
    write_npz(folder / INITIAL, course.initial)


def resume(
    folder: Path, setting: Setting, running: list[Running], last: int
) -> tuple[list[dict[str, Values]], int | None]:
    """Return the held values of each executor after the last checkpoint that all executors have, and the number of that
    step, which is None for a new training.

    Raise CircuitizeError if the folder holds something else, or a training with more steps.
    """
    if not (folder / MANIFEST).exists():
        _require_new(folder)
        remove_parts(folder)
        return [one.initial() for one in running], None
    said = read_manifest(folder)
    for name, value in asdict(setting).items():
        if name in NAMES and said.get(name) != value:
            raise CircuitizeError(
                f"{folder}: expected the training of this program, data, seed and start, found another ({NAMES[name]} "
                "differs); give what it began with, or choose another folder"
            )
    for place in (folder, *(folder / one.folder for one in running)):
        remove_parts(place)
    common = set.intersection(*(set(checkpoint.steps_in(folder / one.folder)) for one in running))
    if max(common, default=0) > last:
        raise CircuitizeError(
            f"{folder}: expected a training of at most {last:,} steps, found {max(common):,} done; ask for as many"
        )
    done = max(common, default=0)
    if not done:
        return [one.initial() for one in running], 0
    course = running[0].course
    found = [checkpoint.read(folder / one.folder, done, one.name, course.held) for one in running]
    scalars = course.scalars_digest(done)
    for one in found:
        if one.course != course.digest or one.scalars != scalars:
            what = "scalars" if one.course == course.digest else "another training"
            raise CircuitizeError(
                f"{folder}: expected the scalars that the training had up to step {done:,}, found {what}; give the "
                "same schedule, or choose another folder"
            )
    return [dict(one.held) for one in found], done


NAMES = {
    "course": "its program, data, seed or start",
    "seed": "its seed",
    "executor": "its executor",
    "every": "how often it writes a checkpoint",
    "test": "its evaluation or test set",
    "record": "whether it records every wire",
}


def _require_new(folder: Path) -> None:
    if folder.exists() and any(not path.name.startswith(".") and path.suffix != ".lock" for path in folder.iterdir()):
        raise CircuitizeError(
            f"{folder}: expected a new folder, or that of this training, found something else; choose another"
        )

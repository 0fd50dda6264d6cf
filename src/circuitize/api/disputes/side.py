"""A side of a dispute: a training's folder, read and checked for consistency."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import numpy as np

from circuitize.circuits.archives import read_npz
from circuitize.circuits.encode import program_digest
from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.circuits.phases import silent
from circuitize.circuits.port import Role
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.saved import load

from ..exact import Exact, Integers
from ..runs.data import dataset_of, initial_values
from ..runs.spelling import PYTHON
from ..training import checkpoint, journal
from ..training.chunks import Layout
from ..training.course import Course
from ..training.folder import DATASET, INITIAL, MANIFEST, PROGRAM, SCALARS, read_manifest
from ..training.journal import Entry

CHECKPOINTS = "checkpoints-integer"
DAMAGED = "it is damaged: put the file back"


@dataclass(frozen=True)
class Side:
    """A side of a dispute: a training with a name for messages, its data and initial values, and its journal, which is
    empty if the training keeps none.
    """

    name: str
    folder: Path
    course: Course
    layout: Layout
    scalars: Mapping[str, Integers]
    entries: list[Entry]

    @property
    def length(self) -> int:
        """Return the number of steps about which the side makes claims."""
        return len(self.entries) or max(self.checkpoints, default=0)

    @cached_property
    def checkpoints(self) -> list[int]:
        """Return the numbers of the steps for which the side has checkpoints, in ascending order."""
        return checkpoint.steps_in(self.folder / CHECKPOINTS)

    def checkpoint(self, step: int) -> Mapping[str, Integers]:
        """Return the values in the side's checkpoint of a step. Raise FormatError if the checkpoint is damaged."""
        found: dict[str, Integers] = dict(
            checkpoint.read(self.folder / CHECKPOINTS, step, "integer", self.course.held).held
        )
        return found

    def left(self, step: int) -> bytes:
        """Return the hash of the values held after a step, from the side's journal or, without one, from its
        checkpoint; after step 0, the hash of the initial values.
        """
        if step and self.entries:
            return self.entries[step - 1].left
        return self.layout.left(self.checkpoint(step) if step else self.course.initial)


def read_side(name: str, folder: Path | str) -> Side:
    """Return the side of a dispute that a folder written by `train` represents.

    Raise CircuitizeError if the folder has no training in integers, and FormatError if the folder is damaged.
    """
    path = Path(folder)
    said = read_manifest(path)
    if said.get("executor") not in ("integer", "both"):
        raise CircuitizeError(
            f"{path}: expected a training in integers, found one in float64, which machines may sum in their own "
            "order; train with the integer executor, or with both"
        )
    seed = _seed(path, said.get("seed"))
    program = load(path / PROGRAM, integer=True)
    step = Exact(program, program, program_digest(program))
    data = dataset_of(program, path / DATASET, silent, PYTHON)
    initial = initial_values(program, path / INITIAL, silent, True)
    scalars = _scalars(path, program)
    course = Course(step, data, seed, _by_step(program, scalars), initial)
    if said.get("course") != course.digest:
        raise FormatError(
            f"{path}: expected the program, data, seed and start that {MANIFEST} has the hash of, found others; put "
            "the files back"
        )
    entries = journal.read(path, course.digest) if said.get("journal") is not False else []
    one = Side(name, path, course, Layout(program), scalars, entries)
    steps = said.get("steps")
    if type(steps) is not int:
        raise FormatError(f"{path / MANIFEST}: expected how many steps there are, found {steps!r}; {DAMAGED}")
    least = max([*one.checkpoints[-1:], steps if "final" in said else 0])
    most = min((len(values) for values in scalars.values()), default=len(entries))
    if said.get("journal") is not False and not least <= len(entries) <= most:
        raise FormatError(
            f"{path / journal.FILE}: expected an entry for each of {least:,} steps, found {len(entries):,}; {DAMAGED}"
        )
    return one


def _seed(path: Path, said: object) -> bytes:
    try:
        return bytes.fromhex(said if isinstance(said, str) else "-")
    except ValueError:
        raise FormatError(f"{path / MANIFEST}: expected a seed in hexadecimal, found none; {DAMAGED}") from None


def _scalars(path: Path, program: IntegerProgram) -> dict[str, Integers]:
    """Return the training's scalars, by name, with one value for each step."""
    names = {port.name for port in program.inputs if port.role is Role.SCALAR}
    found = read_npz(path / SCALARS, lambda name, shape: name in names and len(shape) == 1)
    sizes = {values.shape for values in found.values()}
    if found.keys() != names or len(sizes) > 1 or any(v.ndim != 1 or v.dtype != np.int64 for v in found.values()):
        raise FormatError(
            f"{path / SCALARS}: expected a number of each step for {sorted(names)}, found others; {DAMAGED}"
        )
    return {name: np.asarray(values, np.int64) for name, values in found.items()}


def _by_step(program: IntegerProgram, scalars: Mapping[str, Integers]) -> Callable[[int], Mapping[str, Fraction]]:
    """Return a function from the number of a step, 1, 2, ..., to the scalars of that step, as exact numbers."""
    units = {port.name: Fraction(2) ** -port.format.fraction_bits for port in program.inputs}
    return lambda step: {name: int(values[step - 1]) * units[name] for name, values in scalars.items()}

"""Testimony: a side of a dispute runs a step of its training again with its own executor, and writes the value of every
wire.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from circuitize.circuits.archives import read_npz
from circuitize.circuits.errors import CircuitizeError, FormatError
from circuitize.circuits.phases import Progress, silent
from circuitize.circuits.reading import Json

from ..exact import Integers
from ..values import write_npz
from .executing import agreed, executed
from .side import Side, read_side

FOLDER = "testimony"


@dataclass(frozen=True)
class Testimony:
    """The result of a testimony: whether this machine reproduces the journal up to the requested step, and, if it does,
    the file with the values of the step's wires.

    The field `step` of a testimony is the first step that this machine does not reproduce; if it reproduces all steps,
    the requested step.
    """

    step: int
    repeats: bool
    path: Path | None

    def __bool__(self) -> bool:
        return self.repeats

    def as_json(self) -> Json:
        """Return the three fields of a testimony, as `circuitize testify --json` writes them."""
        return {"step": self.step, "repeats": self.repeats, "path": None if self.path is None else str(self.path)}


def testify(folder: Path | str, step: int, *, progress: Progress = silent) -> Testimony:
    """Run a step of a training again, from the last checkpoint before the step, and write the value of every wire of
    the step for a referee.

    A side gives testimony on its own machine, with its own executor. No testimony is written if the executor's result
    differs from the journal, at the requested step or at an earlier one: the journal then contains a fault that the
    machine does not reproduce. Raise CircuitizeError if the folder has no training in integers, or no step of the given
    number.
    """
    side = read_side("it", folder)
    if not side.entries:
        raise CircuitizeError(
            f"{folder}: expected a training that keeps a journal, found one without; train again on a device that does"
        )
    if not 1 <= step <= side.length:
        raise CircuitizeError(f"{folder}: expected a step from 1 to {side.length:,}, found {step:,}; choose one")
    after, held = agreed([side], step - 1)
    for made in executed(side, held, after, step, progress):
        entry = side.entries[made.step - 1]
        entered = side.layout.entered(made.inputs)
        if (entered, side.layout.left(made.held)) != (entry.entered, entry.left):
            return Testimony(made.step, False, None)
    parts = side.layout.parts
    values = {str(k): made.wires[part.wire] for k, part in enumerate(parts) if part.kind != "kept"}
    values |= {str(k): made.held[part.name] for k, part in enumerate(parts) if part.kind == "kept"}
    path = path_of(side, step)
    write_npz(path, values)
    return Testimony(step, True, path)


def path_of(side: Side, step: int) -> Path:
    """Return the path of the file where a side of a dispute keeps the values of a step's wires."""
    return side.folder / FOLDER / f"{step:08}.npz"


def read(side: Side, step: int) -> Mapping[int, Integers] | None:
    """Return the values of each part of a step, by the part's number, from a side's testimony, or None if the side has
    not testified.
    """
    path = path_of(side, step)
    if not path.exists():
        return None
    shapes = {str(k): part.shape for k, part in enumerate(side.layout.parts)}
    found = read_npz(path, lambda name, shape: shapes.get(name) == shape)
    if found.keys() != shapes.keys() or any(
        values.dtype != "int64" or values.shape != shapes[name] for name, values in found.items()
    ):
        raise FormatError(f"{path}: expected the wires of step {step:,}, found others; remove it, and testify again")
    return {int(name): values for name, values in found.items()}

"""The checkpoints of a training: the values that are held after a step, written as safetensors files that appear
complete or not at all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from circuitize.circuits.errors import FormatError
from circuitize.circuits.operation import Values
from circuitize.circuits.port import Port
from circuitize.circuits.types import Fixed
from circuitize.frontends.checkpoint import load_safetensors, save_safetensors

SUFFIX = ".safetensors"


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The held values of one executor after a step: int64 values in their formats, or float64 values.

    The field `course` is a hash of everything else that determines the held values; `scalars` is a hash of the scalars
    up to this step.
    """

    executor: str
    step: int
    course: str
    scalars: str
    held: Mapping[str, Values]

    def write(self, folder: Path) -> Path:
        """Write the checkpoint into the folder of its executor. Raise CircuitizeError if the file cannot be written to
        the disk.
        """
        path = path_of(folder, self.step)
        said = {"executor": self.executor, "step": str(self.step), "course": self.course, "scalars": self.scalars}
        said["values"] = _hash(self.held)
        save_safetensors(path, self.held, metadata=said)
        return path


def _hash(held: Mapping[str, Values]) -> str:
    """Return a hash of the held values, which detects a number that changed on the disk but is still within its
    format.
    """
    found = hashlib.sha256()
    for name in sorted(held):
        values = np.ascontiguousarray(held[name])
        found.update(json.dumps([name, values.dtype.name, values.shape]).encode())
        found.update(values.astype(values.dtype.newbyteorder("<"), copy=False).tobytes())
    return found.hexdigest()


def path_of(folder: Path, step: int) -> Path:
    """Return the path of the checkpoint after a step."""
    return folder / f"{step:08}{SUFFIX}"


def steps_in(folder: Path) -> list[int]:
    """Return the numbers of the steps whose checkpoints are in a folder, in ascending order."""
    found = ((path, path.name.removesuffix(SUFFIX)) for path in folder.glob(f"*{SUFFIX}"))
    steps = ((path, int(name)) for path, name in found if name.isascii() and name.isdecimal())
    return sorted(step for path, step in steps if path == path_of(folder, step) and path.is_file())


def read(folder: Path, step: int, executor: str, ports: tuple[Port[Fixed], ...]) -> Checkpoint:
    """Return the checkpoint after a step, read from its file. Raise FormatError if the checkpoint has other tensors
    than the program holds, or values outside their formats.
    """
    path = path_of(folder, step)
    tensors = load_safetensors(path)
    said = next(iter(tensors.files.values())).metadata
    remedy = "it is damaged: remove it, and the training goes on from the one before"
    dtype = np.int64 if executor == "integer" else np.float64
    if said.get("executor") != executor or said.get("step") != str(step):
        raise FormatError(f"{path}: expected the checkpoint of step {step} in {executor}, found another; {remedy}")
    held = {}
    for port in ports:
        values = tensors.get(port.name)
        if values is None or values.dtype != dtype or values.shape != port.format.shape:
            found = "none" if values is None else f"{values.dtype} of shape {list(values.shape)}"
            raise FormatError(
                f"{path}: expected {port.name!r} as {np.dtype(dtype)} of shape {list(port.format.shape)}, found "
                f"{found}; {remedy}"
            )
        if (
            executor == "integer"
            and values.size
            and not port.format.low <= values.min() <= values.max() <= port.format.high
        ):
            raise FormatError(f"{path}: expected {port.name!r} in its format, found a value outside; {remedy}")
        held[port.name] = values
    if said.get("values") != _hash(held):
        raise FormatError(f"{path}: expected the values that were written, found others; {remedy}")
    return Checkpoint(executor, step, said.get("course", ""), said.get("scalars", ""), held)

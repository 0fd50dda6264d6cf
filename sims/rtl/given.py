"""The frames in a user's file, .npz or .csv, as integers of the inputs' formats, with answers if the file has any."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.archives import read_npz
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.operation import Values
from circuitize.circuits.port import Port
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import to_integers

Integers = NDArray[np.int64]


def given_frames(
    path: Path, entering: Sequence[Port[Fixed]], leaving: Sequence[Port[Fixed]]
) -> tuple[dict[str, Integers], dict[str, Values]]:
    """Read frames for the given inputs, each value rounded once to its format, and answers of outputs if the file has
    any.

    An .npz file of frames has an array [frames, ...] by port name. A .csv file of frames has one frame for each line
    below one line of names: each name is `NAME[3]` for element 3 of a tensor in row-major order, or `NAME` for the only
    element or an output's index. Raise CircuitizeError for an unreadable file, a name that is no port's, a missing
    input, a frame of another shape, and a value outside its format.
    """
    named = {port.name: port for port in [*leaving, *entering]}
    arrays = _table(path, named) if path.suffix == ".csv" else read_npz(path)
    for name in arrays:
        if name not in named:
            raise CircuitizeError(f"{path}: expected names among {sorted(named)}, found {name!r}; remove or rename it")
    for port in entering:
        if port.name not in arrays:
            raise CircuitizeError(f"{path}: expected frames of input {port.name!r}, found {sorted(arrays)}; add them")
    counts = {name: len(array) if array.ndim else 0 for name, array in arrays.items()}
    if len(set(counts.values())) > 1 or not all(counts.values()):
        raise CircuitizeError(
            f"{path}: expected as many frames of each name, at least 1, found {counts}; even them out"
        )
    for port in entering:
        shape, found = port.format.shape, arrays[port.name].shape
        if found[1:] != shape:
            raise CircuitizeError(
                f"{path}: expected frames of input {port.name!r}, an array of shape {['frames', *shape]}, "
                f"found {list(found)}; reshape it"
            )
    inputs = {
        port.name: np.stack([to_integers(port, one, f"{path}, frame {n}") for n, one in enumerate(arrays[port.name])])
        for port in entering
    }
    entered = {port.name for port in entering}
    return inputs, {name: array for name, array in arrays.items() if name not in entered}


def _number(path: Path, line: int, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise CircuitizeError(
            f"{path}, line {line}: expected numbers below the names, found {text!r}; correct it"
        ) from None


def _table(path: Path, ports: Mapping[str, Port[Fixed]]) -> dict[str, Values]:
    """Return the arrays of frames in a .csv file, by port name."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            lines = [line for line in csv.reader(file) if line]
    except (OSError, ValueError, csv.Error) as error:
        told = error.strerror if isinstance(error, OSError) else error
        raise CircuitizeError(f"{path}: expected a .csv file, found {told}; check the path") from None
    if len(lines) < 2:
        raise CircuitizeError(f"{path}: expected a line of names and a frame a line below, found {len(lines)} lines")
    columns = [_column(path, text.strip()) for text in lines[0]]
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(columns):
            raise CircuitizeError(
                f"{path}, line {number}: expected {len(columns)} numbers, found {len(line)}; correct it"
            )
    numbers = np.array([[_number(path, number, text) for text in line] for number, line in enumerate(lines[1:], 2)])
    places: dict[str, dict[int, int]] = {}
    for at, (name, element) in enumerate(columns):
        if element in places.setdefault(name, {}):
            raise CircuitizeError(f"{path}: found {lines[0][at]!r} twice; give each element once")
        places[name][element] = at
    made: dict[str, Values] = {}
    for name, found in places.items():
        order = [found[element] for element in sorted(found)]
        if sorted(found) != list(range(len(found))):
            raise CircuitizeError(f"{path}: expected elements 0 to {len(found) - 1} of {name!r}, found {sorted(found)}")
        made[name] = numbers[:, order].reshape(len(numbers), *_shape(ports.get(name), len(found)))
    return made


def _shape(port: Port[Fixed] | None, elements: int) -> tuple[int, ...]:
    """Return the shape of a frame in a file: the port's, or the port's without its last axis (for an index), or a row
    if neither fits.
    """
    shape = () if port is None else port.format.shape
    for tried in (shape, shape[:-1]):
        if int(np.prod(tried, dtype=np.int64)) == elements:
            return tried
    return (elements,)


def _column(path: Path, text: str) -> tuple[str, int]:
    """Return the port and the element to which a name in the first line of a .csv file belongs."""
    match = re.fullmatch(r"(.+?)(?:\[(\d{1,9})\])?", text)
    if match is None:
        raise CircuitizeError(f"{path}: expected NAME or NAME[0] in the first line, found {text!r}; name every column")
    return match[1], int(match[2] or 0)

"""What a run is fed with: the dataset that batches are taken out of, and the values that it begins with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from circuitize.circuits.archives import Wanted, read_npz
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.phases import Progress
from circuitize.circuits.program import Port, Program, numbers
from circuitize.frontends.dataset import Dataset
from circuitize.provers.tensor.dataset import batch_ports, whole

from ..exact import Integers, integers_of
from ..values import given_values, require_values, rounded
from .spelling import Spelling

Data = Dataset | Mapping[str, Any] | Path | str
"""All examples: arrays by the names of data inputs, whose first axis is the example; or an .npz file of them."""

Values = Mapping[str, Any] | Path | str | Sequence[Path | str]
"""Real values by the names of inputs, or .npz files of them."""


def dataset_of(
    program: Program, given: Data | None, say: Progress, spelling: Spelling, part: str = "train"
) -> dict[str, Integers]:
    """The tensors of a dataset by the names of data inputs; where none is given, all examples of the program.

    Of a `Dataset` the part to "train" on, or to "test" with.

    Real values are rounded once, which `say` is told.
    """
    ports = batch_ports(program)
    arrays: Mapping[str, Any]
    if isinstance(given, Dataset):
        arrays = {name: getattr(given, f"{part}_{name}") for name in ("inputs", "targets")}
        where = "dataset"
    elif isinstance(given, Path | str):
        arrays, where = read_npz(Path(given), rows_of(ports)), str(given)
    elif isinstance(given, Mapping):
        arrays, where = given, "dataset"
    elif given is not None:
        raise CircuitizeError(
            f"dataset: expected arrays by name, or an .npz file, found {type(given).__name__}; give one of them"
        )
    elif program.examples:
        where = "the program's examples"
        arrays = {p.name: np.concatenate([np.asarray(batch[p.name]) for batch in program.examples]) for p in ports}
    else:
        raise CircuitizeError(f"expected a dataset, found none and a program without examples; give {spelling.dataset}")
    missing = [port.name for port in ports if port.name not in arrays]
    if missing:
        raise CircuitizeError(f"{where}: expected an array {missing[0]!r}, found {sorted(arrays)}; add it")
    counts = {port.name: numbers(port, arrays[port.name], where).shape[:1] for port in ports}
    if len(set(counts.values())) != 1 or () in counts.values() or (0,) in counts.values():
        raise CircuitizeError(
            f"{where}: expected as many examples in every array, found {counts}; give each its own row"
        )
    size = counts[ports[0].name][0]
    return rounded([whole(port, size) for port in ports], arrays, where, say)


def rows_of(ports: Sequence[Port]) -> Wanted:
    """Which arrays of a file may be datasets of these ports: any number of rows of their shape."""
    shapes = {port.name: port.format.shape[1:] for port in ports if port.format is not None}
    return lambda name, shape: len(shape) > 0 and shapes.get(name) == shape[1:]


def held(program: Program) -> list[Port]:
    """The inputs that a run begins with values of, and keeps."""
    return [port for port in program.inputs if port.held]


def initial_values(program: Program, given: Values | None, say: Progress, raw: bool) -> dict[str, Integers]:
    """Everything held: as given, or out of .npz files, which `say` is told of; or as the first example has it."""
    ports = held(program)
    if given is None or isinstance(given, Mapping):
        return integers_of(program, given, ports)
    if not isinstance(given, Path | str | Sequence):
        raise CircuitizeError(
            f"inputs: expected values by name, or .npz files, found {type(given).__name__}; give one of them"
        )
    files = [given] if isinstance(given, Path | str) else given
    where, found = given_values(program, [Path(file) for file in files], say, raw)
    return rounded(ports, require_values(ports, found, where), where, say)

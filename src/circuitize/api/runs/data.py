"""The data of a run: the dataset from which batches are taken, and the values with which the run begins."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from circuitize.backends.tensor.dataset import batch_ports, whole
from circuitize.circuits.archives import Wanted, read_npz
from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.phases import Progress
from circuitize.circuits.port import Port
from circuitize.circuits.program import IntegerProgram
from circuitize.circuits.types import Fixed
from circuitize.circuits.values import Given, numbers
from circuitize.frontends.dataset import Dataset
from circuitize.frontends.datasets import Split
from circuitize.frontends.layers import Model
from circuitize.frontends.training import start
from circuitize.provers.tensor.runs.start import Start

from ..exact import Integers, integers_of
from ..values import given_values, require_values, rounded
from .spelling import Spelling

Data = Dataset | Split | Mapping[str, Given] | Path | str
"""The type of a dataset's examples: arrays by the names of data inputs, whose first axis is the example; or an .npz
file of such arrays.
"""

Values = Mapping[str, Given] | Path | str | Sequence[Path | str]
"""The type of given inputs: real values by the names of inputs, or .npz files of such values."""


def dataset_of(
    program: IntegerProgram, given: Data | None, say: Progress, spelling: Spelling, part: str = "train"
) -> dict[str, Integers]:
    """Return the tensors of a dataset by the names of the program's data inputs; the default dataset consists of all
    examples of the program.

    The argument `part` says which part of a `Dataset` or `Split` is taken: "train" or "test".

    Real values are rounded once, and `say` is called if that changes a value.
    """
    ports, named = batch_ports(program), "dataset" if part == "train" else spelling.option(part)
    arrays: Mapping[str, Given]
    if isinstance(given, Dataset | Split):
        arrays = {name: getattr(given, f"{part}_{name}") for name in ("inputs", "targets")}
        where = named
    elif isinstance(given, Path | str):
        arrays, where = read_npz(Path(given), rows_of(ports)), str(given)
    elif isinstance(given, Mapping):
        arrays, where = given, named
    elif given is not None:
        raise CircuitizeError(
            f"{named}: expected arrays by name, or an .npz file, found {type(given).__name__}; give one of them"
        )
    elif program.examples:
        where = "the program's examples"
        arrays = {p.name: np.concatenate([np.asarray(batch[p.name]) for batch in program.examples]) for p in ports}
    else:
        wanted = spelling.dataset if part == "train" else named
        raise CircuitizeError(f"expected a dataset, found none and a program without examples; give {wanted}")
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


def rows_of(ports: Sequence[Port[Fixed]]) -> Wanted:
    """Return a test whether an array in a file, by its name and shape, can be the dataset of a port: any number of rows
    of the port's row shape.
    """
    shapes = {port.name: port.format.shape[1:] for port in ports if port.format is not None}
    return lambda name, shape: len(shape) > 0 and shapes.get(name) == shape[1:]


def held(program: IntegerProgram) -> list[Port[Fixed]]:
    """Return the inputs that a run holds from step to step, and for which it therefore needs initial values."""
    return [port for port in program.inputs if port.held]


def public_start(
    program: IntegerProgram, seed: bytes | str | None, model: Model | None, spelling: Spelling
) -> Start | None:
    """Return the values with which a run begins if they are drawn by a model from a public seed. Return None if no seed
    is given.
    """
    name, other = spelling.option("initial_seed"), spelling.option("model")
    if seed is None and model is None:
        return None
    if seed is None or model is None:
        raise CircuitizeError(f"{name}: expected it beside {other}, found one alone; give both")
    drawn = start(program, model, seed_bytes(seed, spelling, "initial_seed"))
    ports = held(program)
    odd = sorted({port.name for port in ports} ^ set(drawn))
    if odd:
        raise CircuitizeError(
            f"{other}: expected the model that the step trains, found {odd[0]!r} in one of them alone"
        )
    return Start(seed_bytes(seed, spelling, "initial_seed"), integers_of(program, drawn, ports))


def seed_bytes(seed: bytes | str | None, spelling: Spelling, name: str = "seed") -> bytes:
    """Return a seed as bytes; the seed is given as bytes or in hexadecimal. Raise CircuitizeError for a seed in another
    form than bytes or hexadecimal.
    """
    if isinstance(seed, bytes):
        return seed
    digits = seed.removeprefix("0x") if isinstance(seed, str) else ""
    if not re.fullmatch(r"([0-9a-fA-F]{2}){1,64}", digits):
        found = "none" if seed is None else repr(seed)
        raise CircuitizeError(
            f"{spelling.option(name)}: expected 1 to 64 bytes in hexadecimal, found {found}; take 32 from a beacon"
        )
    return bytes.fromhex(digits)


def initial_values(program: IntegerProgram, given: Values | None, say: Progress, raw: bool) -> dict[str, Integers]:
    """Return the initial values of all held inputs: the given ones, those of .npz files, whose rounding `say` reports,
    or those of the first example.
    """
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

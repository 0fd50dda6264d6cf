"""Values that enter and leave a program as .npz files: real numbers, or integers of an integer dtype."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from circuitize.circuits.errors import CircuitizeError
from circuitize.circuits.files import write_whole
from circuitize.circuits.program import Port, Program, to_integers, to_reals

from .archives import Wanted, read_npz
from .output import remark

Integers = NDArray[np.int64]


def program_inputs(program: Program, path: Path | None, say: Callable[[str], None] = remark) -> dict[str, Integers]:
    """The integers that enter a program, by input name: out of an .npz file, or the program's first example.

    Real values are rounded once to their input's format, which `say` is told. Raises CircuitizeError for a
    file that is no .npz, for a missing or an unknown name, and for values that do not fit.
    """
    if path is not None:
        where, given = str(path), read_npz(path, wanted(program.inputs))
        names = [port.name for port in program.inputs]
        unknown = sorted(set(given) - set(names))
        if unknown:
            raise CircuitizeError(f"{where}: expected inputs among {names}, found {unknown[0]!r}; remove or rename it")
    elif program.examples:
        where, given = "the first example", dict(program.examples[0])
    else:
        raise CircuitizeError("expected inputs, found none and a program without examples; give --inputs FILE.npz")
    missing = [port.name for port in program.inputs if port.name not in given]
    if missing:
        raise CircuitizeError(f"{where}: expected a value for input {missing[0]!r}, found {sorted(given)}; add it")
    return rounded(program.inputs, given, where, say)


def wanted(ports: Sequence[Port]) -> Wanted:
    """Which arrays of a file may be values of these ports."""
    shapes = {port.name: port.format.shape for port in ports if port.format is not None}
    return lambda name, shape: shapes.get(name) == shape


def rounded(
    ports: Sequence[Port], given: Mapping[str, Any], where: str, say: Callable[[str], None] = remark
) -> dict[str, Integers]:
    """The values of these inputs as integers, by name; `say` is told which real values rounding changed."""
    integers = {port.name: to_integers(port, given[port.name], where) for port in ports}
    real = [port for port in ports if np.asarray(given[port.name]).dtype.kind == "f"]
    changed = [
        port.name
        for port in real
        if port.format is not None and (to_reals(port.format, integers[port.name]) != given[port.name]).any()
    ]
    if changed:
        say(f"{where}: real values of {', '.join(changed)} were rounded, once, to their formats")
    return integers


def write_npz(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays by name, whole or not at all; equal arrays give equal bytes."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, array in arrays.items():
            entry = io.BytesIO()
            np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), entry.getvalue())
    write_whole(path, [content.getbuffer()])
